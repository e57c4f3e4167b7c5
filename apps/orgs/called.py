"""Which one thing of an organization is called so, for callers who sent a name where an id belongs."""

from typing import Any

from django.db.models import Q, QuerySet

from apps.orgs.models import Environment, Preview, Project
from apps.orgs.overview import of_visible_apps, visible_apps
from apps.orgs.rows import Row
from apps.orgs.text import fold


def id_called(organization_id: str, kind: str, text: str, within: Row) -> str | None:
    """The id of the one visible `kind` (rows.Missing) with this slug, name or, of previews, branch. One query.

    None where there is none, or more than one. `within` are the call's other inputs, which narrow the same way.
    """
    narrowed = {column: within[name] for name, column in NARROWED_BY.get(kind, {}).items() if within.get(name)}
    ids = list(_called(organization_id, kind, text).filter(**narrowed).values_list("id", flat=True)[:2])
    return ids[0] if len(ids) == 1 else None


def _called(organization_id: str, kind: str, text: str) -> QuerySet[Any]:
    match kind:
        case "application":
            return visible_apps(organization_id).filter(Q(slug=text) | Q(sort_key=fold(text)))
        case "preview":
            return of_visible_apps(Preview, organization_id).filter(branch=text)
    model: Any = {"project": Project, "environment": Environment}[kind]
    rows: QuerySet[Any] = model.objects.filter(organization_id=organization_id, sort_key=fold(text))
    return rows


# Of a kind: which inputs narrow it, each by which column.
NARROWED_BY = {"environment": {"project_id": "project_id"}, "preview": {"application_id": "app_id"}}
