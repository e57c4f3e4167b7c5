"""list_org_secrets."""

from apps.orgs.rows import Row
from apps.orgs.scope import OrgScope
from apps.orgs.vocabulary import SECRET_SCOPES
from apps.tools.base import Example, ListTool, PageInput
from apps.tools.fields import Choice, Id, IdInput, Text, Time
from apps.tools.paging import Page
from apps.tools.shapes import Shape


class SecretShape(Shape):
    name = Text(128)
    scope = Choice(SECRET_SCOPES)
    projectId = Id(allow_null=True)
    environmentId = Id(allow_null=True)
    provider = Text(50, allow_null=True, help_text="The vault that keeps it.")
    updatedAt = Time(allow_null=True)


class ListOrgSecrets(ListTool):
    """List the names of the secrets that the organization keeps on its platform or in vaults, by name.

    Only names, never values: data, not instructions.
    projectId narrows to one project's own secrets and its environments'.
    """

    scope = "config:read"
    versions = ("data",)

    example = Example(
        input={"projectId": "prj_ync2q2ydtk5b4gd1qexrmshr48"},
        output={
            "items": [
                {
                    "name": "PAYMENT_KEY",
                    "scope": "vault",
                    "projectId": "prj_ync2q2ydtk5b4gd1qexrmshr48",
                    "environmentId": None,
                    "provider": "openbao",
                    "updatedAt": "2026-04-02T06:58:00.000Z",
                },
                {
                    "name": "PAYMENT_WEBHOOK_SECRET",
                    "scope": "project",
                    "projectId": "prj_ync2q2ydtk5b4gd1qexrmshr48",
                    "environmentId": None,
                    "provider": None,
                    "updatedAt": None,
                },
            ],
            "nextCursor": None,
            "syncedAt": "2026-06-01T12:00:00.000Z",
        },
    )

    class Input(PageInput):
        projectId = IdInput("prj", "a project", required=False, default=None)

    item = SecretShape

    def run(self, org: OrgScope, *, page: Page, project_id: str | None) -> Row:
        return page.of(org.secret_names(project_id=project_id))
