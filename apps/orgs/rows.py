"""Rows: a query that can be read a page at a time, by keyset and never by offset."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

Row = dict[str, Any]


class Missing(LookupError):
    """An id that names nothing in this organization, whether or not it names something elsewhere.

    `kind` is what it should have named: project, environment, application or preview.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Rows:
    """Rows as dicts in a total order.

    `order` names columns of the row, all ascending or all with a leading minus, and ends with an id. `finish` adds
    to a page of rows what one more query brings. `extra` is what the answer carries beside the rows.
    """

    def __init__(
        self,
        query: QuerySet[Any, Row],
        order: tuple[str, ...],
        finish: Callable[[list[Row]], None] | None = None,
        extra: Row | None = None,
    ) -> None:
        self.query = query
        self.order = order
        self.finish = finish
        self.extra = extra or {}
        self.columns = tuple(column.removeprefix("-") for column in order)

    def page(self, after: list[str] | None, limit: int) -> tuple[list[Row], bool]:
        """At most `limit` rows that come after the position `after`, and whether there are more."""
        rows = self.read(None if after is None else self._values(after), limit + 1)
        has_more = len(rows) > limit
        del rows[limit:]
        if self.finish and rows:
            self.finish(rows)
        return rows, has_more

    def read(self, after: list[Any] | None, limit: int) -> list[Row]:
        """At most `limit` rows that come after these values of the columns of the order."""
        return list(self.select(after)[:limit])

    def select(self, after: list[Any] | None) -> QuerySet[Any, Row]:
        rows = self.query.order_by(*self.order)
        return rows if after is None else rows.filter(self._after(after))

    def position(self, row: Row) -> list[str]:
        """Where `row` stands, as text that `page` takes back."""
        return [value.isoformat() if isinstance(value := row[c], datetime) else value for c in self.columns]

    def _values(self, position: list[str]) -> list[Any]:
        return [
            datetime.fromisoformat(value) if type_of(column) is datetime else value
            for column, value in zip(self.columns, position, strict=True)
        ]

    def _after(self, values: list[Any]) -> Q:
        beyond = "lt" if self.order[0].startswith("-") else "gt"
        # The first column once more by itself: that is the condition an index can start from.
        after, same = Q(**{f"{self.columns[0]}__{beyond}e": values[0]}), Q()
        later = Q()
        for column, value in zip(self.columns, values, strict=True):
            later |= same & Q(**{f"{column}__{beyond}": value})
            same &= Q(**{column: value})
        return after & later


def type_of(column: str) -> type:
    """Of a column that rows are ordered by."""
    return datetime if column.endswith("_at") else str
