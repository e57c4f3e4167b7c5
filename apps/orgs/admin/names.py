"""Names of environment variables and secrets; values are never stored."""

from django.contrib import admin

from apps.orgs.admin.readonly import OwnedAdmin
from apps.orgs.models import EnvVarName, OrgSecretName


@admin.register(EnvVarName)
class EnvVarNameAdmin(OwnedAdmin):
    ids = {"var": "id", "app": "app_id", "env": "environment_id", "prj": "project_id"}
    order_within = ("sort_key", "scope", "id")
    search_help_text = "A part of a name, or the id of an application, an environment or a project."
    list_display = ("name", "scope", "organization", "set_on", "updated_at")
    list_select_related = ("organization", "app", "environment", "project")
    fields = (
        "name", "scope", "reference_names", "app", "environment", "project", "organization", "platform", "updated_at",
        "id",
    )  # fmt: skip

    @admin.display(description="Set on")
    def set_on(self, variable: EnvVarName) -> str:
        return str(variable.app or variable.environment or variable.project)

    @admin.display(description="References")
    def reference_names(self, variable: EnvVarName) -> str:
        return ", ".join(variable.references)


@admin.register(OrgSecretName)
class OrgSecretNameAdmin(OwnedAdmin):
    ids = {"sec": "id", "env": "environment_id", "prj": "project_id"}
    order_within = ("sort_key", "scope", "id")
    search_help_text = "A part of a name, or the id of a project or an environment."
    list_display = ("name", "scope", "organization", "provider", "updated_at")
    list_select_related = ("organization",)
    fields = (
        "name", "scope", "provider", "project", "environment", "organization", "platform", "updated_at", "id",
    )  # fmt: skip
