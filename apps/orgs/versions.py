"""The counters that tell whether what an answer was made of has changed since, and which of them a reading saw.

Writing rows that tools read raises `data_version` by itself (models/versioned.py), but inside `raising_oneself`, and
but for facts. The installation's own catalogue has a version of its own, which every organization shares.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import CharField, Func, Value

from apps.orgs.cursors import fetch
from apps.orgs.models.versioned import raise_every_version, raise_keeping_counts, raise_version, raising_oneself

__all__ = [
    "Reading",
    "SeenVersions",
    "Versions",
    "raise_checks_version",
    "raise_data_version",
    "raise_every_version",
    "raise_keeping_counts",
    "raising_oneself",
    "versions_now",
]

# What follows belongs in a statement's list of columns, and in its FROM where `o` is the organization.
VERSION_COLUMNS = "v.data_version, v.checks_version, k.version"
VERSION_JOINS = """
LEFT JOIN orgs_dataversion v ON v.organization_id = o.id
LEFT JOIN orgs_catalogueversion k ON k.id = 1"""
AS_TEXT = "coalesce(v.data_version, 1) || ' ' || coalesce(v.checks_version, 1) || ' ' || coalesce(k.version, 1)"
NOW = f"SELECT {VERSION_COLUMNS} FROM orgs_organization o {VERSION_JOINS} WHERE o.id = %s"  # noqa: S608


@dataclass(frozen=True, slots=True)
class Versions:
    """Of an organization's rows, of the times and latencies of its checks, and of the installation's catalogue."""

    data: int
    checks: int
    catalogue: int

    @classmethod
    def of(cls, data: int | None, checks: int | None, catalogue: int | None) -> "Versions":
        """From the columns of a statement: what nobody has raised yet has no row, and counts as 1."""
        return cls(data or 1, checks or 1, catalogue or 1)

    @classmethod
    def from_text(cls, text: str) -> "Versions":
        """From a column SeenVersions."""
        return cls(*map(int, text.split(" ")))


class SeenVersions(Func):
    """An organization's versions as text, as the statement sees them that this is a column of.

    A statement sees all that it reads as it was at one moment, rows and versions alike. Null: no such organization.
    """

    output_field = CharField()
    template = f"(SELECT {AS_TEXT} FROM orgs_organization o {VERSION_JOINS} WHERE o.id = %(expressions)s)"  # noqa: S608

    def __init__(self, organization_id: str) -> None:
        super().__init__(Value(organization_id))


class Reading:
    """What one call reads. Whoever knows which versions its last statement saw tells it here.

    Rows that a replica tells may be older than what the bearer check saw; statements that another's commit fell between
    are of different versions. An answer is worth keeping only where the last statement saw what the first one saw.
    """

    __slots__ = ("_seen", "until")

    def __init__(self) -> None:
        self._seen: set[Versions] = set()
        self.until: datetime | None = None

    def ends(self, at: datetime) -> None:
        """From that moment on the clock alone may make something that was read another thing. The first one counts."""
        self.until = at if self.until is None else min(self.until, at)

    def saw(self, versions: Versions) -> None:
        """Of a statement that no other one of this call follows, but such that tell it too."""
        self._seen.add(versions)

    def is_of(self, versions: Versions, organization_id: str) -> bool:
        """Whether all that was read is of these versions. Where nobody told, that is asked now: one statement."""
        seen: set[Versions | None] = {*self._seen} or {versions_now(organization_id)}
        return seen == {versions}


def versions_now(organization_id: str) -> Versions | None:
    """None where there is no such organization (any more). One query."""
    rows = fetch(NOW, [organization_id])
    return Versions.of(*rows[0]) if rows else None


def raise_data_version(organization_id: str | None) -> None:
    """For a change of anything that tools read; None: of what every organization sees.

    Call it in the same transaction, last before it ends.
    """
    raise_version([organization_id])


def raise_checks_version(organization_id: str) -> None:
    """For times and latencies of checks alone; what a check changes besides raises `data_version`."""
    raise_version([organization_id], "checks_version")
