"""The lists of what an organization has by name, beside applications: projects, templates, names of secrets."""

from typing import Any

import orjson
from django.db.models import CharField, F, Func, Q, QuerySet

from apps.orgs.counts import apps_of_project
from apps.orgs.models import OrgSecretName, Project, Template
from apps.orgs.models.fields import WORD_SEPARATOR
from apps.orgs.prepared import prepared
from apps.orgs.rows import Row, Rows, TimeText
from apps.orgs.text import fold

# Of one project. With names of every length so many still fit on a page.
MAX_ENVIRONMENTS_SHOWN = 64


def projects(organization_id: str, query: str) -> Rows:
    """Projects by name, each with its number of apps and its environments: the default first, then by name."""
    return _projects(organization_id, fold(query), is_nothing=WORD_SEPARATOR in query)


@prepared
def _projects(organization_id: str, part: str, *, is_nothing: bool) -> Rows:
    projects: QuerySet[Any] = Project.objects.filter(organization_id=organization_id)
    columns = _containing(projects, part, is_nothing=is_nothing).values(
        *PROJECT_COLUMNS, created=TimeText("created_at"), app_count=apps_of_project(organization_id),
        shown=Environments(F("id"), F("organization_id")),
    )  # fmt: skip
    names = {"created": "created_at", "shown": "environments"}
    # The index of trigrams finds few of a rare part, and more than an organization has of a frequent one.
    return Rows(
        columns, ("sort_key", "id"), _read_environments, names=names, of=organization_id, is_planned_once=not part
    )


def templates(organization_id: str, query: str, tag: str | None) -> Rows:
    """The installation's templates and this organization's own, by name."""
    is_nothing = WORD_SEPARATOR in query or (tag is not None and "," in tag)  # no tag has a comma: it stands between
    between = None if tag is None else f",{fold(tag)},"
    return _templates(organization_id, fold(query), between, is_nothing=is_nothing)


@prepared
def _templates(organization_id: str, part: str, tag: str | None, *, is_nothing: bool) -> Rows:
    templates: QuerySet[Any] = Template.objects.filter(
        Q(organization_id=organization_id) | Q(organization_id__isnull=True)
    )
    if tag is not None:
        templates = templates.filter(tags__contains=tag)
    templates = _containing(templates, part, is_nothing=is_nothing)
    return Rows(templates.values(*TEMPLATE_COLUMNS), ("sort_key", "id"), finish=_split_tags, of=organization_id)


@prepared
def secret_names(organization_id: str, project_id: str | None) -> Rows:
    """Names of secrets by name; with a project only that project's own."""
    names = OrgSecretName.objects.filter(organization_id=organization_id)
    if project_id is not None:
        names = names.filter(project_id=project_id)
    columns = names.values(*SECRET_COLUMNS, updated=TimeText("updated_at"))
    return Rows(columns, ("sort_key", "scope", "id"), names={"updated": "updated_at"}, of=organization_id)


def _containing(rows: QuerySet[Any], part: str, *, is_nothing: bool) -> QuerySet[Any]:
    """Those whose search key has `part`, which is folded. `is_nothing`: no text has it."""
    if is_nothing:
        return rows.none()
    return rows.filter(search_key__contains=part) if part else rows


class Environments(Func):
    """A project's environments as JSON: [id, name, is_default] of each. Of its id, and its organization's."""

    output_field = CharField()
    rows = f"""(
SELECT id, name, is_default FROM orgs_environment WHERE (project_id, organization_id) = (%(expressions)s)
ORDER BY is_default DESC, sort_key, id LIMIT {MAX_ENVIRONMENTS_SHOWN}) e"""  # noqa: S608

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = f"(SELECT json_group_array(json_array(e.id, e.name, e.is_default)) FROM {self.rows})"  # noqa: S608
        return super().as_sql(compiler, connection, template=template, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        array = "coalesce(json_agg(json_build_array(e.id, e.name, e.is_default)), '[]')::text"
        return super().as_sql(compiler, connection, template=f"(SELECT {array} FROM {self.rows})", **context)  # noqa: S608


def _read_environments(projects: list[Row]) -> None:
    for project in projects:
        project["environments"] = [
            {"id": id, "name": name, "is_default": bool(is_default)}
            for id, name, is_default in orjson.loads(project["environments"])
        ]


def _split_tags(templates: list[Row]) -> None:
    for template in templates:
        template["tags"] = template["tags"].strip(",").split(",") if template["tags"].strip(",") else []


PROJECT_COLUMNS = ("id", "external_id", "name", "description", "sort_key")
SECRET_COLUMNS = (
    "id", "name", "scope", "project_id", "environment_id", "provider", "sort_key",
)  # fmt: skip
TEMPLATE_COLUMNS = (
    "id", "name", "description", "version", "tags", "logo_url", "github_url", "website_url", "docs_url", "sort_key",
)  # fmt: skip
