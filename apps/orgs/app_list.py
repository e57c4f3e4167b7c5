"""The list of applications: by name, each with its health, and searched for a part of what they are called."""

from enum import Enum
from functools import partial
from typing import Any

from django.db import connection
from django.db.models import BooleanField, F, Func, QuerySet, Value

from apps.orgs.clock import HEALTH_ENDS, Clock, has_health, with_health
from apps.orgs.conditions import IN_ORDER, Condition, How, Way, equal, fewest
from apps.orgs.models import App, HealthTimetable
from apps.orgs.models.fields import WORD_SEPARATOR
from apps.orgs.narrowing import ORGANIZATION, Place, rows_by
from apps.orgs.overview import has_many_apps, visible_apps
from apps.orgs.prepared import prepared
from apps.orgs.rows import KeyedRows, MergedRows, Row, Rows, TimeText
from apps.orgs.text import fold

ORDER = ("sort_key", "id")
UNHEALTHY = ("degraded", "down")
TRIGRAM = 3  # characters: no index finds fewer


class Length(Enum):
    """Bytes of a search key, as two indexes divide them (models.projects.WalkedIndex). SQLite's has all."""

    ANY = ""
    SHORT = "<= 1000"
    LONG = "> 1000"


def apps(place: Place, clock: Clock, *, status: str | None, branch: str | None, health: str | None, query: str) -> Rows:
    """Applications that fulfil all of these. `health` may be `unhealthy`: degraded or down."""
    part, is_nothing = fold(query), WORD_SEPARATOR in query  # no text has it
    is_large = bool(part) and has_many_apps(place.organization_id)
    filters = {"status": status, "branch": branch} | _levels(health) | {
        "part": part, "is_nothing": is_nothing,
        "is_found": is_large and len(part) >= TRIGRAM and connection.vendor == "postgresql",
    }  # fmt: skip
    rows = _apps(place, clock, way=IN_ORDER, **filters)
    if few := fewest(_apps, rows.asks, place, clock, **filters):
        return _apps(place, clock, way=few, **filters)
    is_search_alone = is_large and not is_nothing and (status, branch, health) == (None, None, None)
    if is_search_alone and place.column == ORGANIZATION:
        return KeyedRows(_names_with(place.organization_id, part), partial(_apps_of, place, clock))
    return rows


def _levels(health: str | None) -> Row:
    """Which are meant, and all others."""
    if health is None:
        return {"levels": None, "others": None}
    levels = UNHEALTHY if health == "unhealthy" else (health,)
    return {"levels": levels, "others": tuple(it for it in HealthTimetable.Level.values if it not in levels)}


@prepared
def _apps(
    place: Place,
    clock: Clock,
    *,
    way: Way,
    status: str | None = None,
    branch: str | None = None,
    levels: tuple[str, ...] | None = None,
    others: tuple[str, ...] | None = None,
    part: str = "",
    is_nothing: bool = False,
    is_found: bool = False,
) -> Rows:
    """`is_found`: an index has what `part` is in; else it is met on a walk."""
    everywhere = App.objects.filter(organization_id=place.organization_id)
    conditions = [
        equal(everywhere, column, value, ORDER)
        for column, value in (("status", status), ("branch", branch))
        if value is not None
    ]
    if levels is not None and others is not None:
        conditions.append(has_health(clock, levels, others))
    apps = with_health(App.objects.none() if is_nothing else App.objects.all(), clock)
    if is_found:
        conditions.append(_search(everywhere, part))
    elif part:
        apps = apps.filter(_has(part))

    def listed(some: QuerySet[Any]) -> Rows:
        columns = some.values(*APP_COLUMNS, **APP_TIMES)
        return Rows(columns, ORDER, names=APP_NAMES, of=place.organization_id)

    return rows_by(way, apps, place, conditions, listed)


def _apps_of(place: Place, clock: Clock, ids: str) -> Rows:
    return _apps(place, clock, way=Way(How.FROM_FEW, ids))


def _search(everywhere: QuerySet[Any], part: str) -> Condition:
    """That `part`, which is folded, is in what is searched. Where it is in many, a walk in order meets these."""
    # LIKE, for the index of trigrams. Which index finds fewer depends on the words: it is planned for these.
    found = everywhere.filter(search_key__contains=part).values("id")
    return Condition(_has(part), Rows(found, order=(), is_planned_once=False))


class Has(Func):
    """Whether a text has another in it. Not LIKE, for which PostgreSQL might leave the order and look for trigrams."""

    template = "%(function)s(%(expressions)s) > 0"
    output_field = BooleanField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return super().as_sql(compiler, connection, function="INSTR", **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return super().as_sql(compiler, connection, function="STRPOS", **context)


def _has(part: str) -> Has:
    return Has(F("search_key"), Value(part))


def _names_with(organization_id: str, part: str) -> Rows:
    """The ids of visible applications in whose search keys `part` is, by name, by an index that has no more."""
    lengths = [Length.SHORT, Length.LONG] if connection.vendor == "postgresql" else [Length.ANY]
    return MergedRows([_names_so_long(organization_id, part, length) for length in lengths], ORDER)


@prepared
def _names_so_long(organization_id: str, part: str, length: Length) -> Rows:
    apps: QuerySet[Any] = visible_apps(organization_id).filter(_has(part))
    some = apps if length is Length.ANY else apps.filter(Sized(F("search_key"), size=length.value))
    return Rows(some.values(*ORDER), ORDER)


class Sized(Func):
    """Whether a text is that long. All of it is written out, as in the conditions of indexes: parameters fit none."""

    template = "OCTET_LENGTH(%(expressions)s) %(size)s"
    output_field = BooleanField()


APP_COLUMNS = (
    "id", "external_id", "name", "slug", "description", "project_id", "project__name", "environment_id",
    "environment__name", "kind", "status", "upstream_status", "source_type", "repository", "branch", "image",
    "connection_id", "primary_url", "dashboard_url", "sort_key", "health", "health_reason",
    *HEALTH_ENDS, "platforms_seen",
)  # fmt: skip
APP_TIMES = {"last_deployed": TimeText("last_deployed_at"), "created": TimeText("created_at")}
# Joined columns get the contract's words, so that no tool names a join. An annotation must not be called like a column.
APP_NAMES = {
    "project__name": "project_name", "environment__name": "environment_name", "last_deployed": "last_deployed_at",
    "created": "created_at",
}  # fmt: skip
