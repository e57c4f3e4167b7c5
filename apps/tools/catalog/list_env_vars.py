"""list_env_vars."""

from rest_framework import serializers

from apps.orgs.rows import Row
from apps.orgs.scope import OrgScope
from apps.orgs.vocabulary import VARIABLE_SCOPES
from apps.tools.base import ListTool, PageInput
from apps.tools.fields import ApplicationId, ChoiceInput, Count, Text, Time, Word
from apps.tools.paging import Page
from apps.tools.shapes import Shape


class VariableShape(Shape):
    name = Text(128)
    scope = Word(VARIABLE_SCOPES, help_text="Where it is set, or for what.")
    references = serializers.ListField(
        child=Text(192), max_length=20, help_text="Names it refers to, such as project.DATABASE_URL."
    )
    updatedAt = Time(source="updated_at", allow_null=True)


class ListEnvVars(ListTool):
    """List the names of the environment variables that one application sees: its own, its environment's, its project's.

    Only names: no value is stored anywhere. skippedCount counts what the platform gave that was no name.
    """

    scope = "config:read"

    class Input(PageInput):
        applicationId = ApplicationId()
        scope = ChoiceInput(VARIABLE_SCOPES)

    item = VariableShape
    extra = {"skippedCount": Count()}

    def run(self, org: OrgScope, *, page: Page, application_id: str, scope: str | None) -> Row:
        return page.of(org.app(application_id).variable_names(scope=scope))
