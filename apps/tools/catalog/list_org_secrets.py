"""list_org_secrets."""

from apps.orgs.rows import Row
from apps.orgs.scope import OrgScope
from apps.orgs.vocabulary import SECRET_SCOPES
from apps.tools.base import ListTool, PageInput
from apps.tools.fields import Id, IdInput, Text, Time, Word
from apps.tools.paging import Page
from apps.tools.shapes import Shape


class SecretShape(Shape):
    name = Text(128)
    scope = Word(SECRET_SCOPES)
    projectId = Id(source="project_id", allow_null=True)
    environmentId = Id(source="environment_id", allow_null=True)
    provider = Text(50, allow_null=True, help_text="The vault that keeps it.")
    updatedAt = Time(source="updated_at", allow_null=True)


class ListOrgSecrets(ListTool):
    """List the names of the secrets that the organization keeps on its platform or in vaults, by name.

    Only names: no value is stored anywhere. projectId narrows to one project's own secrets and its environments'.
    """

    scope = "config:read"

    class Input(PageInput):
        projectId = IdInput("prj", "a project", source="project_id", required=False, default=None)

    item = SecretShape

    def run(self, org: OrgScope, *, page: Page, project_id: str | None) -> Row:
        return page.of(org.secret_names(project_id=project_id))
