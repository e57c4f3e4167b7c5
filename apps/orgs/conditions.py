"""Conditions of a list, each with an index that finds its rows, and the way in which a page is read under some of them.

There are two ways, and both walk an index whatever the number of rows:
- In order. An index has the place's rows, or those that fulfil a condition, in the order of the list.
- From few. Where a condition's own index finds few rows in the whole organization, these are all that is looked at.

Which one it is depends on rows. So whoever makes a list is told the way, and each of its statements is prepared.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from django.db.models import BooleanField, Case, F, Func, Q, QuerySet, Value, When

from apps.orgs.rows import Rows

FEW = 500  # rows that are read one by one and sorted; where a condition finds more, a walk meets them soon


@dataclass(frozen=True, slots=True)
class Condition:
    """What rows must fulfil, and an index that finds those which do.

    `found` are the `id`s of the organization's rows that do, as that index has them. `ordered_in` are columns of places
    in which an index has them in the list's own order. `seen` says the same as `rows`, but is for rows that were found
    already: planned for any value, PostgreSQL takes one of many for rare, and would sort all rows that have it.
    """

    rows: Any
    found: Rows
    ordered_in: frozenset[str] = field(default_factory=frozenset)
    seen: Any = None

    def within(self, column: str | None) -> Any:
        """What rows must fulfil that are walked by the column of a place, or found by their keys."""
        return self.rows if self.seen is None or column in self.ordered_in else self.seen


def equal(
    everywhere: QuerySet[Any], column: str, value: str | int, order: tuple[str, ...], *ordered_in: str
) -> Condition:
    """A column with this value. An index has the organization's rows, `everywhere`, by it in the list's order."""
    # Not `=`: of a boolean Django would write the column alone, and SQLite finds that in no index.
    rows = Q(**{f"{column}__in": [value]})
    found = Rows(everywhere.filter(rows).values("id"), order)
    seen = None if isinstance(value, bool) else is_seen(column, value)
    return Condition(rows, found, frozenset(ordered_in or {"organization_id"}), seen)


class How(Enum):
    """Of a list: by a walk in its order, from few rows, or not at all but for the rows that a condition finds."""

    IN_ORDER = auto()
    FROM_FEW = auto()
    FIRST = auto()
    SECOND = auto()
    THIRD = auto()
    FOURTH = auto()


ASKED = (How.FIRST, How.SECOND, How.THIRD, How.FOURTH)


@dataclass(frozen=True, slots=True)
class Way:
    """`few`: ids with commas between."""

    how: How
    few: str = ""


IN_ORDER = Way(How.IN_ORDER)


def fewest(build: Callable[..., Rows], asks: int, *args: Any, **filters: Any) -> Way | None:
    """For rows that `build` makes, which takes a `way` besides, and that ask so many conditions: a query for each.

    From the few that the rarest of the conditions finds in the whole organization. None where each finds many.
    """
    ids: list[str] | None = None
    for how in ASKED[:asks]:
        found = build(*args, way=Way(how), **filters).read(None, FEW + 1)
        if len(found) <= FEW and (ids is None or len(found) < len(ids)):
            ids = [row["id"] for row in found]
    return None if ids is None else Way(How.FROM_FEW, ",".join(ids))


def narrowed(build: Callable[..., Rows], *args: Any, **filters: Any) -> Rows:
    """What `build` makes in the shortest way: from few, or in order."""
    rows = build(*args, way=IN_ORDER, **filters)
    few = fewest(build, rows.asks, *args, **filters)
    return build(*args, way=few, **filters) if few else rows


class OneOf(Func):
    """Whether an id is one of those in a text with commas between: a list of any length is one value."""

    output_field = BooleanField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        joiner, template = (
            " IN (SELECT value FROM json_each('[\"' || replace(",
            "%(expressions)s, ',', '\",\"') || '\"]'))",
        )
        return super().as_sql(compiler, connection, template=template, arg_joiner=joiner, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        joiner, template = " = ANY(string_to_array(", "%(expressions)s, ','))"
        return super().as_sql(compiler, connection, template=template, arg_joiner=joiner, **context)


def among(few: str) -> OneOf:
    return OneOf(F("pk"), Value(few))


def is_seen(column: str, value: str | int) -> Case:
    """A column with this value, said so that no database looks for it in an index: only rows that are read tell.

    PostgreSQL takes half of all rows to have it, and so goes on in the order of the list.
    """
    return Case(When(**{column: value}, then=True), default=False, output_field=BooleanField())
