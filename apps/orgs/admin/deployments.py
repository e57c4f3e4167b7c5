"""What runs and what was deployed: domains, previews and deployments."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from apps.orgs.admin.dates import DatedChangeList
from apps.orgs.admin.facts import EdgeFactInline
from apps.orgs.admin.finding import OrganizationFilter
from apps.orgs.admin.readonly import OwnedAdmin, links
from apps.orgs.admin.trouble import CertificateFilter, RecentFilter
from apps.orgs.models import Deployment, Domain, Preview

NEWEST_FIRST = ("-created_at", "-id")


@admin.register(Domain)
class DomainAdmin(OwnedAdmin):
    ids = {"dom": "id", "app": "app_id", "prv": "preview_id"}
    parts = ("host",)
    order_within = ("host", "path", "id")
    list_display = ("host", "path", "app", "organization", "https", "is_enabled")
    list_select_related = ("app", "organization")
    list_filter = (OrganizationFilter, CertificateFilter)
    fields = (
        "host", "path", "https", "port", "certificate_type", "is_enabled", "app", "preview", "organization", "platform",
        "external_id", "id", "created_at",
    )  # fmt: skip
    inlines = (EdgeFactInline,)


@admin.register(Preview)
class PreviewAdmin(OwnedAdmin):
    ids = {"prv": "id", "app": "app_id"}
    order_within = NEWEST_FIRST
    parts = ()
    search_help_text = "The id of a preview or of an application, or an external id."
    list_display = ("branch", "pull_request_number", "app", "organization", "status", "created_at")
    list_select_related = ("app", "organization")
    list_filter = (OrganizationFilter, "status")
    fieldsets = (
        (None, {"fields": ("branch", "status", "upstream_status", "url", "created_at", "expires_at")}),
        ("Pull request", {"fields": ("pull_request_number", "pull_request_title", "pull_request_url")}),
        ("Relations", {"fields": ("organization", "app", "related", "platform", "external_id", "id")}),
    )

    @admin.display(description="Related")
    def related(self, preview: Preview) -> SafeString:
        return links([("Domains", "domain", {"q": preview.id}), ("Deployments", "deployment", {"q": preview.id})])


@admin.register(Deployment)
class DeploymentAdmin(OwnedAdmin):
    ids = {"dep": "id", "app": "app_id", "prv": "preview_id"}
    order_within = order = NEWEST_FIRST
    parts = ("search_key",)
    search_help_text = (
        "A part of a title (case-insensitive), the id of a deployment, an application or a preview, or an external id."
    )
    list_display = ("short_title", "status", "app", "organization", "created_at")
    list_select_related = ("app", "organization")
    list_filter = (OrganizationFilter, "status", RecentFilter)
    date_hierarchy = "created_at"
    fieldsets = (
        (None, {"fields": ("title", "status", "upstream_status", "error_message", "trigger", "dashboard_url")}),
        ("Version", {"fields": ("branch", "commit_sha", "commit_message")}),
        ("Timestamps", {"fields": ("created_at", "started_at", "finished_at")}),
        (
            "Relations",
            {"fields": ("organization", "app", "is_preview", "preview", "platform", "external_id", "id")},
        ),
    )

    @admin.display(description="Title")
    def short_title(self, deployment: Deployment) -> str:
        return Truncator(deployment.title).chars(80)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return DatedChangeList
