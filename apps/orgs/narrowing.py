"""How a list is narrowed: to a place (an application, a project …) and by conditions, each of them by an index.

A page is read in one of two ways, and both walk an index whatever the number of rows:
- In order. An index has the place's rows, or those that fulfil a condition, in the order of the list.
- From few. Where a condition's own index finds few rows in the whole organization, these are all that is looked at.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.db import connection
from django.db.models import BooleanField, CharField, F, Func, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import Exact

from apps.orgs.models import App, Environment, Preview, Project
from apps.orgs.overview import has_many_apps, visible_apps, without_hidden
from apps.orgs.prepared import prepared
from apps.orgs.rows import MergedRows, Missing, Row, Rows
from apps.orgs.text import fold


class Column(StrEnum):
    """Those that say where a row is."""

    ORGANIZATION = "organization_id"
    PROJECT = "within_project_id"
    ENVIRONMENT = "within_environment_id"
    APPLICATION = "app_id"
    PREVIEW = "preview_id"


ORGANIZATION, PROJECT, ENVIRONMENT, APPLICATION, PREVIEW = Column
OF_APP, OF_PROJECT = ("id", "project_id", "environment_id", "names_skipped"), ("id",)
OF_ENVIRONMENT, OF_PREVIEW = ("id", "project_id"), ("id", "within_project_id", "within_environment_id")
SIZES = ("<= 1000", "> 1000")  # bytes (WalkedIndex)
TRIGRAM = 3  # characters: no index finds fewer
FEW = 500  # rows that are read one by one and sorted; where a condition finds more, a walk meets them soon


@dataclass(frozen=True, slots=True)
class Place:
    """Where a list's rows are: those whose `column` is `id`. Nothing is in a place `is_nowhere`.

    `app` is the application that was named, if one was.
    """

    organization_id: str
    column: Column
    id: str
    app: Row | None = None
    is_nowhere: bool = False

    @property
    def is_visible(self) -> bool:
        """Whether all that is here belongs to one application, which is not hidden."""
        return self.column in (APPLICATION, PREVIEW)


@dataclass(frozen=True, slots=True)
class Condition:
    """What rows must fulfil, and an index that finds those which do.

    `found` are the keys of the organization's rows that do, as that index has them. `ordered_in` are columns of places
    in which an index has them in the list's own order.
    """

    rows: Q
    found: QuerySet[Any, Any]
    ordered_in: frozenset[str] = field(default_factory=frozenset)


def equal(
    everywhere: QuerySet[Any], column: str, value: str | int, order: tuple[str, ...], *ordered_in: str
) -> Condition:
    """A column with this value. An index has the organization's rows, `everywhere`, by it in the list's order."""
    # Not `=`: of a boolean Django would write the column alone, and SQLite finds that in no index.
    rows = Q(**{f"{column}__in": [value]})
    found = everywhere.filter(rows).order_by(*order).values_list("id", flat=True)
    return Condition(rows, found, frozenset(ordered_in or {ORGANIZATION}))


def search(everywhere: QuerySet[Any], query: str) -> Condition:
    """That `query` is a part of what is searched, without regard to case. From three characters on an index finds it.

    Where it is in many, a walk in the order of the list meets these.
    """
    # Both sides are folded, so LIKE on SQLite (which ignores ASCII case) and on PostgreSQL (which does not) agree.
    folded = fold(query)
    rows = Q(search_key__contains=folded)
    return Condition(rows, everywhere.filter(rows).order_by().values_list("id", flat=True))


def containing(rows: QuerySet[Any], part: str, *, is_nothing: bool = False) -> QuerySet[Any]:
    """Those whose search key has `part`, which is folded. `is_nothing`: no text has it."""
    if is_nothing:
        return rows.none()
    return rows.filter(search_key__contains=part) if part else rows


def is_walked(place: Place, query: str) -> bool:
    """Whether a search, which is all that narrows, has to walk through the names of an organization of many.

    On PostgreSQL it has not where an index of trigrams finds few.
    """
    if place.column != ORGANIZATION or not has_many_apps(place.organization_id):
        return False
    if connection.vendor == "sqlite":
        return True
    everywhere = App.objects.filter(organization_id=place.organization_id)
    return len(fold(query)) < TRIGRAM or _fewest((search(everywhere, query),)) is None


def names_with(organization_id: str, query: str) -> Rows:
    """The ids of visible applications in whose search keys `query` is, by name (models.projects.WalkedIndex)."""
    apps: QuerySet[Any] = visible_apps(organization_id).filter(search_key__contains=fold(query))
    order = ("sort_key", "id")
    is_split = connection.vendor == "postgresql"
    parts = [apps.filter(Sized(F("search_key"), size=size)) for size in SIZES] if is_split else [apps]
    return MergedRows([Rows(part.values(*order), order) for part in parts], order)


class Sized(Func):
    """Whether a text is that long. All of it is written out, as in the conditions of indexes: parameters fit none."""

    template = "OCTET_LENGTH(%(expressions)s) %(size)s"
    output_field = BooleanField()


def place_of(
    organization_id: str,
    *,
    application_id: str | None = None,
    project_id: str | None = None,
    environment_id: str | None = None,
    preview_id: str | None = None,
) -> Place:
    """The narrowest of these, which must agree: an application that is not in the environment is nowhere.

    A query for each id that is given. Raises Missing for the first that names nothing; a preview that is not of the
    application names nothing either.
    """
    column, id = Column.ORGANIZATION, organization_id
    parents: Row = {}
    app = None
    if application_id is not None:
        app = _existing(_apps(organization_id, application_id), "application")
    if project_id is not None:
        existing_project(organization_id, project_id)
        column, id = PROJECT, project_id
    if environment_id is not None:
        stage = _existing(_environments(organization_id, environment_id), "environment")
        parents = {"project_id": stage["project_id"]}
        column, id = ENVIRONMENT, environment_id
    if app is not None:
        parents = {"project_id": app["project_id"], "environment_id": app["environment_id"]}
        column, id = APPLICATION, app["id"]
    if preview_id is not None:
        parents = _parents_of_preview(organization_id, preview_id, application_id)
        column, id = PREVIEW, preview_id
    named = {"project_id": project_id, "environment_id": environment_id}
    disagrees = any(named[name] not in (None, parent) for name, parent in parents.items())
    return Place(organization_id, column, id, app, disagrees)


def existing_project(organization_id: str, project_id: str) -> str:
    """The id, if it is a project's. Raises Missing("project")."""
    _existing(_projects(organization_id, project_id), "project")
    return project_id


def _parents_of_preview(organization_id: str, preview_id: str, application_id: str | None) -> Row:
    preview = _existing(_previews(organization_id, preview_id, application_id), "preview")
    return {"project_id": preview["within_project_id"], "environment_id": preview["within_environment_id"]}


def _existing(rows: Rows, kind: str) -> Row:
    found = rows.read(None, 1)
    if not found:
        raise Missing(kind)
    return found[0]


@prepared
def _apps(organization_id: str, id: str) -> Rows:
    apps = visible_apps(organization_id).filter(id=id)
    return Rows(apps.values(*OF_APP), order=("id",))


@prepared
def _projects(organization_id: str, id: str) -> Rows:
    return Rows(Project.objects.filter(organization_id=organization_id, id=id).values(*OF_PROJECT), order=("id",))


@prepared
def _environments(organization_id: str, id: str) -> Rows:
    stages = Environment.objects.filter(organization_id=organization_id, id=id)
    return Rows(stages.values(*OF_ENVIRONMENT), order=("id",))


@prepared
def _previews(organization_id: str, id: str, application_id: str | None) -> Rows:
    previews = Preview.objects.filter(organization_id=organization_id, app__hidden_at__isnull=True, id=id)
    if application_id is not None:
        previews = previews.filter(app_id=application_id)
    return Rows(previews.values(*OF_PREVIEW), order=("id",))


def rows_in(rows: QuerySet[Any], place: Place, *conditions: Condition) -> QuerySet[Any]:
    """Those of `rows` that are in the place and fulfil all conditions. A query for each condition, or none.

    Rows of hidden applications are never among them.
    """
    if place.is_nowhere:
        return rows.none()
    few = None if _is_ordered(place, conditions) else _fewest(conditions)
    rows = rows.filter(*(condition.rows for condition in conditions))
    if not place.is_visible:
        is_app = rows.model is App
        rows = rows.filter(hidden_at__isnull=True) if is_app else without_hidden(rows, place.organization_id)
    # Applications are in a project; what belongs to them is within it.
    column = place.column.removeprefix("within_") if rows.model is App else place.column
    if few is None:
        return rows.filter(**{column: place.id})
    return rows.filter(is_seen(column, place.id), pk__in=few)  # the few are found by their keys


def is_seen(column: str, value: str) -> Exact:
    """A column with this value, said so that no database looks for it in an index: only rows that are read tell."""
    return Exact(Coalesce(F(column), Value(""), output_field=CharField()), value)


def _is_ordered(place: Place, conditions: tuple[Condition, ...]) -> bool:
    """Whether an index has just these rows in the order of the list."""
    return not conditions or (len(conditions) == 1 and place.column in conditions[0].ordered_in)


def _fewest(conditions: tuple[Condition, ...]) -> list[str] | None:
    """The keys that the rarest of the conditions finds in the whole organization; None where each finds many."""
    found = [list(condition.found[: FEW + 1]) for condition in conditions]
    return min((keys for keys in found if len(keys) <= FEW), key=len, default=None)
