"""The times of an organization's platforms, on which health by the clock depends: remembered, and told along by rows.

Each sync changes them, and raises no version where nothing else has changed. So a list that needs them is read by those
that were seen last, and its own statement tells which ones are there now: where these are others, it is read once more.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import CharField, Func, QuerySet, Value

from apps.orgs.models import Organization
from apps.orgs.prepared import prepared
from apps.orgs.rows import Rows
from apps.orgs.versions import Reading

MAX_REMEMBERED = 1000  # organizations, each a line of text


class PlatformTimes(NamedTuple):
    """Of one platform: its id, its kind, its last good sync; of a manifest `asOf` and `staleAfter` (seconds)."""

    id: int
    kind: str
    last_sync_at: datetime | None
    as_of: datetime | None
    stale_after: int | None


class SeenPlatforms(Func):
    """A column: an organization's platforms as the statement sees them, as text that `times_of` reads."""

    output_field = CharField()

    def __init__(self, organization_id: str) -> None:
        super().__init__(Value(organization_id))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return super().as_sql(compiler, connection, template=ON_SQLITE, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return super().as_sql(compiler, connection, template=ON_POSTGRESQL, **context)


ON_SQLITE = """(SELECT coalesce(group_concat(
p.id || '|' || p.kind || '|' || coalesce(p.last_sync_at, '') || '|' || coalesce(p.as_of, '') || '|' ||
coalesce(p.stale_after, ''), ';'), '')
FROM (SELECT * FROM orgs_platform WHERE organization_id = %(expressions)s ORDER BY id) p)"""
# The session's zone is UTC.
ON_POSTGRESQL = """(SELECT coalesce(string_agg(concat_ws('|', p.id, p.kind,
coalesce(to_char(p.last_sync_at, 'YYYY-MM-DD HH24:MI:SS.US'), ''),
coalesce(to_char(p.as_of, 'YYYY-MM-DD HH24:MI:SS.US'), ''), coalesce(p.stale_after::text, '')), ';' ORDER BY p.id), '')
FROM orgs_platform p WHERE p.organization_id = %(expressions)s)"""


@lru_cache(maxsize=MAX_REMEMBERED)
def times_of(seen: str) -> tuple[PlatformTimes, ...]:
    return tuple(_times(*platform.split("|")) for platform in seen.split(";")) if seen else ()


def _times(id: str, kind: str, last_sync_at: str, as_of: str, stale_after: str) -> PlatformTimes:
    return PlatformTimes(
        int(id), kind, utc_from(last_sync_at), utc_from(as_of), int(stale_after) if stale_after else None
    )


def utc_from(text: str) -> datetime | None:
    """A time as a database writes it, without a zone."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


_remembered: dict[str, str] = {}


def remembered_platforms(organization_id: str) -> str:
    """Those that were seen last, which may be others by now. A query where none were."""
    seen = _remembered.get(organization_id)
    return remember(organization_id, seen_platforms(organization_id, None)) if seen is None else seen


def remember(organization_id: str, seen: str) -> str:
    if len(_remembered) >= MAX_REMEMBERED:
        _remembered.clear()
    _remembered[organization_id] = seen
    return seen


def seen_platforms(organization_id: str, reading: Reading | None) -> str:
    """Those that are there now. One query, which tells `reading` the versions too."""
    found = _platforms(organization_id).tell(reading).read(limit=1)
    return str(found[0]["seen"]) if found else ""


@prepared
def _platforms(organization_id: str) -> Rows:
    organizations: QuerySet[Any] = Organization.objects.filter(id=organization_id)
    return Rows(organizations.values("id", seen=SeenPlatforms(organization_id)), order=("id",), of=organization_id)
