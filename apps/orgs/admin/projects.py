"""Projects, environments and applications."""

from django.contrib import admin
from django.utils.safestring import SafeString

from apps.orgs.admin.facts import EdgeStatisticsInline, RuntimeInline
from apps.orgs.admin.finding import OrganizationFilter
from apps.orgs.admin.readonly import OwnedAdmin, ReadOnlyAdminMixin, links
from apps.orgs.admin.trouble import HealthFilter
from apps.orgs.models import App, Environment, Project


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
