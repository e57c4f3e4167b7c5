"""Platforms: how syncing goes, in words, and what operators can do about it."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from apps.orgs.admin.finding import OrganizationFilter
from apps.orgs.admin.readonly import ListAdmin, ReadOnlyAdminMixin
from apps.orgs.admin.trouble import SyncFilter
from apps.orgs.models import Platform
from apps.platforms.admin import actions
from apps.platforms.admin.connecting import connect_view
from apps.platforms.admin.disconnecting import disconnect_view, is_disconnected
from apps.platforms.admin.progress import progress_of

MAY_OPERATE, MAY_CONNECT, MAY_DISCONNECT = "orgs.change_platform", "orgs.add_platform", "orgs.delete_platform"
PAGE_AGAIN = 2  # seconds, while a sync is awaited or under way


@admin.register(Platform)
class PlatformAdmin(ReadOnlyAdminMixin, ListAdmin):
    list_display = ("__str__", "organization", "last_sync_status", "problem", "last_sync_at", "version")
    list_select_related = ("organization", "connection")
    list_filter = (OrganizationFilter, SyncFilter)
    ordering = ("id",)
    fields = ("organization", "kind", "name", "version", "last_sync_status", "last_sync_at", "sync_period")
    change_form_template = "admin/orgs/platform/change_form.html"
    change_list_template = "admin/orgs/platform/change_list.html"

    @admin.display(description="Problem")
    def problem(self, platform: Platform) -> str | None:
        connection = getattr(platform, "connection", None)
        return connection.last_error if connection else "Disconnected." if is_disconnected(platform) else None

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("connect/", view(self.connect), name="orgs_platform_connect"),
            path("<int:pk>/disconnect/", view(self.disconnect), name="orgs_platform_disconnect"),
            path("<int:pk>/do/<slug:action>/", view(self.act), name="orgs_platform_act"),
        ]
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        context = {"may_connect": request.user.has_perm(MAY_CONNECT)}
        return super().changelist_view(request, context | (extra_context or {}))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        progress = progress_of(object_id) if self.has_view_permission(request) else None
        context = {
            "progress": progress,
            "may_operate": request.user.has_perm(MAY_OPERATE),
            "may_connect": request.user.has_perm(MAY_CONNECT),
            "may_disconnect": request.user.has_perm(MAY_DISCONNECT),
        }
        response = super().change_view(request, object_id, form_url, context | (extra_context or {}))
        if progress and progress.is_awaited:
            response["Refresh"] = str(PAGE_AGAIN)
        return response

    def connect(self, request: HttpRequest) -> HttpResponse:
        if not request.user.has_perm(MAY_CONNECT):
            raise PermissionDenied
        return connect_view(self, request)

    def disconnect(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not request.user.has_perm(MAY_DISCONNECT):
            raise PermissionDenied
        return disconnect_view(self, request, get_object_or_404(Platform, pk=pk, connection__isnull=False))

    @method_decorator(require_POST)
    def act(self, request: HttpRequest, pk: int, action: str) -> HttpResponse:
        if not request.user.has_perm(MAY_OPERATE):
            raise PermissionDenied
        platform = get_object_or_404(Platform, pk=pk, connection__isnull=False)
        done = _ACTIONS[action](platform) if action in _ACTIONS else None
        if done:
            self.log_change(request, platform, done)
            self.message_user(request, done, messages.SUCCESS)
        else:
            self.message_user(request, "Nothing was done: it is another way by now.", messages.WARNING)
        return HttpResponseRedirect(reverse("admin:orgs_platform_change", args=[pk]))


_ACTIONS: dict[str, Callable[[Platform], str | None]] = {
    "sync": actions.sync_now,
    "pause": actions.pause,
    "resume": actions.resume,
    "confirm": actions.confirm_deletions,
}
