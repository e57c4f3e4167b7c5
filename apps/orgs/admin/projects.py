"""Projects, environments and applications."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from apps.orgs.admin.facts import EdgeStatisticsInline, RuntimeInline
from apps.orgs.admin.finding import OrganizationFilter
from apps.orgs.admin.readonly import OwnedAdmin, ReadOnlyAdminMixin, links
from apps.orgs.admin.trouble import HealthFilter
from apps.orgs.app_health import health_of
from apps.orgs.models import App, Deployment, Environment, Project

LAST_DEPLOYMENTS = 5


class EnvironmentInline(ReadOnlyAdminMixin, admin.TabularInline):
    model = Environment
    fields = readonly_fields = ("name", "is_default", "external_id")
    show_change_link = True
    ordering = ("sort_key", "id")


@admin.register(Project)
class ProjectAdmin(OwnedAdmin):
    ids = {"prj": "id"}
    list_display = ("name", "organization", "external_id", "created_at")
    list_select_related = ("organization",)
    fields = ("name", "description", "organization", "related", "platform", "external_id", "id", "created_at")
    inlines = (EnvironmentInline,)

    @admin.display(description="Related")
    def related(self, project: Project) -> SafeString:
        return links(
            (words, model, {"q": project.id})
            for words, model in (
                ("Applications", "app"),
                ("Variable names", "envvarname"),
                ("Secret names", "orgsecretname"),
            )
        )


@admin.register(Environment)
class EnvironmentAdmin(OwnedAdmin):
    ids = {"env": "id", "prj": "project_id"}
    list_display = ("name", "project", "organization", "is_default")
    list_select_related = ("project", "organization")
    fields = ("name", "is_default", "project", "organization", "related", "platform", "external_id", "id")

    @admin.display(description="Related")
    def related(self, environment: Environment) -> SafeString:
        narrowed = {"q": environment.id}
        return links([("Applications", "app", narrowed), ("Variable names", "envvarname", narrowed)])


@admin.register(App)
class AppAdmin(OwnedAdmin):
    ids = {"app": "id", "prj": "project_id", "env": "environment_id", "con": "connection_id"}
    list_display = ("name", "status", "project", "organization", "last_deployed_at", "hidden_at")
    list_select_related = ("project", "organization")
    list_filter = (OrganizationFilter, HealthFilter, "status", ("hidden_at", admin.EmptyFieldListFilter))
    fieldsets = (
        (None, {"fields": ("name", "slug", "description", "kind", "status", "upstream_status", "hidden_at")}),
        ("Addresses", {"fields": ("primary_url", "dashboard_url")}),
        ("Relations", {"fields": ("organization", "project", "environment", "related")}),
        ("Source", {"fields": ("source_type", "repository", "branch", "image", "connection")}),
        ("Record", {"fields": ("platform", "external_id", "id", "created_at", "names_skipped")}),
        ("Timestamps", {"fields": ("last_deployed_at", "detail_read_at")}),
    )
    inlines = (EdgeStatisticsInline, RuntimeInline)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = _state_of(unquote(object_id)) if self.has_view_permission(request) else {}
        if not request.user.has_perm("orgs.view_deployment"):
            context.pop("deployments", None)
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    @admin.display(description="Related")
    def related(self, app: App) -> SafeString:
        return links(
            (words, model, {"q": app.id})
            for words, model in (
                ("Domains", "domain"),
                ("Previews", "preview"),
                ("Deployments", "deployment"),
                ("Variable names", "envvarname"),
            )
        )


def _state_of(app_id: str) -> dict[str, Any]:
    """The verdict, as get_app_health judges it, and the last deployments; nothing of what is not there."""
    if not App.objects.filter(pk=app_id).exists():
        return {}
    deployments = Deployment.objects.filter(app_id=app_id).order_by("-created_at", "-id")
    return {"health": health_of({"id": app_id}), "deployments": list(deployments[:LAST_DEPLOYMENTS])}
