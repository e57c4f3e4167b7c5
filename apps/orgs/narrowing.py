"""Places: an application, a project, an environment or a whole organization, and a list's rows that are in one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import QuerySet

from apps.orgs.conditions import ASKED, Condition, How, Way, among, is_seen
from apps.orgs.models import App, Environment, Preview, Project
from apps.orgs.overview import visible_apps, without_hidden
from apps.orgs.prepared import prepared
from apps.orgs.rows import Missing, Row, Rows


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


def rows_by(
    way: Way,
    rows: QuerySet[Any],
    place: Place,
    conditions: Sequence[Condition],
    listed: Callable[[QuerySet[Any]], Rows],
) -> Rows:
    """What is `listed` of those `rows` that are in the place and fulfil all conditions; or what one of these finds.

    Rows of hidden applications are never among them.
    """
    if way.how in ASKED:
        return conditions[ASKED.index(way.how)].found
    made = listed(_rows_in(way, rows, place, conditions))
    made.asks = 0 if place.is_nowhere or _is_ordered(place, conditions) else len(conditions)
    return made


def _rows_in(way: Way, rows: QuerySet[Any], place: Place, conditions: Sequence[Condition]) -> QuerySet[Any]:
    if place.is_nowhere:
        return rows.none()
    walked = place.column if way.how is How.IN_ORDER else None
    rows = rows.filter(*(condition.within(walked) for condition in conditions))
    if not place.is_visible:
        is_app = rows.model is App
        rows = rows.filter(hidden_at__isnull=True) if is_app else without_hidden(rows, place.organization_id)
    # Applications are in a project; what belongs to them is within it.
    column = place.column.removeprefix("within_") if rows.model is App else place.column
    if way.how is How.IN_ORDER:
        return rows.filter(**{column: place.id})
    return rows.filter(is_seen(column, place.id), among(way.few))  # the few are found by their keys


def _is_ordered(place: Place, conditions: Sequence[Condition]) -> bool:
    """Whether an index has just these rows in the order of the list."""
    return not conditions or (len(conditions) == 1 and place.column in conditions[0].ordered_in)
