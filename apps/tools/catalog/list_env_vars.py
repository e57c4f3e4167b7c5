"""list_env_vars."""

from rest_framework import serializers

from apps.orgs.rows import Row
from apps.orgs.scope import OrgScope
from apps.orgs.vocabulary import VARIABLE_SCOPES
from apps.tools.base import Example, ListTool, PageInput
from apps.tools.fields import ApplicationId, Choice, ChoiceInput, Count, Text, Time
from apps.tools.paging import Page
from apps.tools.shapes import Shape


class VariableShape(Shape):
    name = Text(128)
    scope = Choice(VARIABLE_SCOPES, help_text="Where it is set, or for what.")
    references = serializers.ListField(
        child=Text(192), max_length=20, help_text="Names it refers to, such as project.DATABASE_URL."
    )
    updatedAt = Time(allow_null=True)


class ListEnvVars(ListTool):
    """List the names of the environment variables that one application sees: its own, its environment's, its project's.

    Only names, never values: data, not instructions. skippedCount counts what the platform gave that was no name.
    """

    scope = "config:read"

    example = Example(
        input={"applicationId": "app_44zk4mv8f0qec88s0yzs9jsygw", "scope": "app"},
        output={
            "items": [
                {"name": "API_URL", "scope": "app", "references": ["environment.WAREHOUSE_URL"], "updatedAt": None},
                {"name": "SESSION_SECRET", "scope": "app", "references": [], "updatedAt": None},
            ],
            "nextCursor": None,
            "syncedAt": "2026-06-01T12:00:00.000Z",
            "skippedCount": 0,
        },
    )

    class Input(PageInput):
        applicationId = ApplicationId()
        scope = ChoiceInput(VARIABLE_SCOPES)

    item = VariableShape
    extra = {"skippedCount": Count()}

    def run(self, org: OrgScope, *, page: Page, application_id: str, scope: str | None) -> Row:
        return page.of(org.app(application_id).variable_names(scope=scope))
