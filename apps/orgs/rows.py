"""Rows: a query that can be read a page at a time, by keyset and never by offset."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, DateTimeField, Func, QuerySet, Value

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
        query = self.query.order_by(*self.order)
        if after is not None:
            query = query.filter(self._after(after))
        rows = list(query[: limit + 1])
        has_more = len(rows) > limit
        del rows[limit:]
        if self.finish and rows:
            self.finish(rows)
        return rows, has_more

    def position(self, row: Row) -> list[str]:
        """Where `row` stands, as text that `page` takes back."""
        return [value.isoformat() if isinstance(value := row[c], datetime) else value for c in self.columns]

    def _after(self, position: list[str]) -> Func:
        """Rows compared as wholes: every index of an order starts right there, however many rows share its columns."""
        values = [
            Value(datetime.fromisoformat(value), DateTimeField()) if column.endswith("_at") else Value(value)
            for column, value in zip(self.columns, position, strict=True)
        ]
        beyond = " < " if self.order[0].startswith("-") else " > "
        compared = (Func(*row, function="") for row in (self.columns, values))
        # Not Django's own comparison of tuples, which is none on SQLite.
        return Func(*compared, template="%(expressions)s", arg_joiner=beyond, output_field=BooleanField())
