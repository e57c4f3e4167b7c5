"""Rows: a query that can be read a page at a time, by keyset and never by offset."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any, overload

from django.db.models import BooleanField, CharField, DateTimeField, Func, QuerySet, Value

from apps.orgs.versions import Reading

Row = dict[str, Any]
# What an answer shows of a row, in this order: JSON names, each with a column, or with what an object in it shows.
Shown = tuple[tuple[str, "str | Shown"], ...]
AS_JSON = "as_json"  # the column of rows that a database has written as JSON
TRIES = 3
ALL = 2**31 - 1  # rows: more than there ever are where all are read


class Missing(LookupError):
    """An id that names nothing in this organization, whether or not it names something elsewhere.

    `kind` is what it should have named: project, environment, application or preview.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Table(Sequence[Row]):
    """Rows of the same columns: each becomes a dict where it is looked at by itself.

    Tuples may be longer than their names: what is beyond is no column of the rows.
    """

    def __init__(self, names: tuple[str, ...], tuples: Sequence[tuple[Any, ...]]) -> None:
        self.names, self.tuples = names, tuples

    def __len__(self) -> int:
        return len(self.tuples)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> "Table": ...
    def __getitem__(self, at: int | slice) -> "Row | Table":
        found = self.tuples[at]
        return Table(self.names, found) if isinstance(at, slice) else dict(zip(self.names, found, strict=False))


def columns_of(rows: Sequence[Row], names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Some columns of each row."""
    if isinstance(rows, Table):
        pick = itemgetter(*map(rows.names.index, names))
        return map(pick, rows.tuples)
    return (tuple(row[name] for name in names) for row in rows)


class TimeText(Func):
    """A time as answers have it, 2026-01-31T12:00:00.000Z: a database writes it much faster than Python does.

    For columns that are only shown. What is ordered by, or worked with, keeps its microseconds.
    """

    output_field = CharField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = (
            "substr(%(expressions)s, 1, 10) || 'T' || substr(%(expressions)s, 12, 8) || '.' ||"
            " substr(substr(%(expressions)s, 21) || '000', 1, 3) || 'Z'"
        )
        return super().as_sql(compiler, connection, template=template, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = 'to_char(%(expressions)s, \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\')'  # the session's zone is UTC
        return super().as_sql(compiler, connection, template=template, **context)


class MicrosecondText(Func):
    """A time with its microseconds and without its zone, which is UTC: as text it has the same order."""

    output_field = CharField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return super().as_sql(compiler, connection, template="%(expressions)s", **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "to_char(%(expressions)s, 'YYYY-MM-DD HH24:MI:SS.US')"
        return super().as_sql(compiler, connection, template=template, **context)


class Rows:
    """Rows as dicts in a total order.

    `order` names columns of the row, all ascending or all with a leading minus, and ends with an id. `finish` adds
    to a page of rows what one more query brings, `watch` only looks at it. `instead` tells of what was read which rows
    have to be read in its place, where something that it depends on has become another thing. `extra` is what the
    answer carries beside the rows. `names` are what columns of the query are called in rows, where that is not the
    same. `of` is the organization whose versions may be told along: see `tell`. Where somebody says what is `shown` of
    rows, a page may have that as JSON, and without its columns. With `is_planned_once` one plan serves all values. Who
    makes rows under conditions tells how many of these `asks` (conditions.narrowed).
    """

    def __init__(
        self,
        query: QuerySet[Any, Row],
        order: tuple[str, ...],
        finish: Callable[[list[Row]], None] | None = None,
        extra: Row | None = None,
        names: Mapping[str, str] | None = None,
        of: str | None = None,
        *,
        is_planned_once: bool = True,
    ) -> None:
        self.query = query
        self.order = order
        self.finish = finish
        self.watch: Callable[[Sequence[Row]], None] | None = None
        self.instead: Callable[[Sequence[Row]], Rows | None] | None = None
        self.extra = extra or {}
        self.names = names or {}
        self.of = of
        self.is_planned_once = is_planned_once
        self.asks = 0
        self.reading: Reading | None = None
        self.shown: Shown | None = None
        self.columns = tuple(column.removeprefix("-") for column in order)

    def tell(self, reading: Reading | None) -> "Rows":
        """Lets `reading` know what the rows' statement saw, where it can: only where nothing is read after them."""
        self.reading = reading
        return self

    def page(self, after: list[str] | None, limit: int) -> tuple[Sequence[Row], bool]:
        """At most `limit` rows that come after the position `after`, and whether there are more."""
        rows = self.read(None if after is None else self._values(after), limit + 1)
        if self.instead and (others := self.instead(rows)) is not None:
            others.shown = self.shown
            return others.page(after, limit)
        page = rows[:limit]
        if self.watch:
            self.watch(page)
        if self.finish:
            page = list(page)
            if page:
                self.finish(page)
        return page, len(rows) > limit

    def read(self, after: list[Any] | None = None, limit: int = ALL) -> Sequence[Row]:
        """At most `limit` rows that come after these values of the columns of the order."""
        rows, names = self.select(after)[:limit], self.names
        return [{names.get(name, name): value for name, value in row.items()} for row in rows] if names else list(rows)

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

    def _after(self, values: list[Any]) -> Func:
        """Rows compared as wholes: every index of an order starts right there, however many rows share its columns."""
        typed = [
            Value(value, DateTimeField()) if type_of(column) is datetime else Value(value)
            for column, value in zip(self.columns, values, strict=True)
        ]
        beyond = " < " if self.order[0].startswith("-") else " > "
        compared = (Func(*row, function="") for row in (self.columns, typed))
        # Not Django's own comparison of tuples, which is none on SQLite.
        return Func(*compared, template="%(expressions)s", arg_joiner=beyond, output_field=BooleanField())


class MergedRows(Rows):
    """Rows of several `parts`, of which none has another's: where an index has each of them in order, but none all."""

    def __init__(
        self, parts: Sequence[Rows], order: tuple[str, ...], finish: Callable[[list[Row]], None] | None = None
    ) -> None:
        super().__init__(QuerySet(), order, finish)  # each part has its own query
        self.parts = parts

    def read(self, after: list[Any] | None = None, limit: int = ALL) -> Sequence[Row]:
        found = (part.read(after, limit) for part in self.parts)
        return list(islice(merge(*found, key=itemgetter(*self.columns)), limit))


class KeyedRows(Rows):
    """Rows of those ids that `keys` has, in the same order: it is read first, where an index has all that it needs.

    `having` makes rows of ids with commas between.
    """

    def __init__(self, keys: Rows, having: Callable[[str], Rows]) -> None:
        super().__init__(QuerySet(), keys.order)  # both have their own query
        self.keys, self.having = keys, having

    def read(self, after: list[Any] | None = None, limit: int = ALL) -> Sequence[Row]:
        for _ in range(TRIES):
            ids = [row["id"] for row in self.keys.read(after, limit)]
            rows = self._having(ids) if ids else []
            if len(rows) == len(ids):  # else some went meanwhile, and a page that is too short would seem the last
                break
        return rows

    def _having(self, ids: list[str]) -> Sequence[Row]:
        rows = self.having(",".join(ids))
        rows.shown = self.shown
        return rows.tell(self.reading).read()


def type_of(column: str) -> type:
    """Of a column that rows are ordered by."""
    return datetime if column.endswith("_at") else str
