"""The page that asks whether a platform is to be disconnected, and does it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from apps.orgs.models import App, Platform
from apps.platforms.connecting import disconnect
from apps.platforms.snapshot.purge import KEPT


def is_disconnected(platform: Platform) -> bool:
    return platform.kind != Platform.Kind.MANIFEST and not hasattr(platform, "connection")


def disconnect_view(admin: Any, request: HttpRequest, platform: Platform) -> HttpResponse:
    """`admin` is the platforms' ModelAdmin; the platform has a connection."""
    if request.method == "POST":
        name = platform.connection.organization_name
        messages.success(request, disconnect(platform))
        admin.log_change(request, platform, f"Disconnected from {name}.")
        return HttpResponseRedirect(reverse("admin:orgs_platform_changelist"))
    context = admin.admin_site.each_context(request) | {
        "platform": platform,
        "applications": App.objects.filter(platform=platform, hidden_at__isnull=True).count(),
        "days": KEPT.days,
        "opts": admin.opts,
        "title": "Disconnect a platform",
    }
    return TemplateResponse(request, "admin/orgs/platform/disconnect.html", context)
