"""Lists that are compiled once: the SQL that the ORM writes for one is kept, with the places of its values.

`prepared` stands over a function that makes Rows of its arguments and of nothing else. Arguments have a shape (what is
given, and of which type; words of an enumeration; booleans) and values (text, numbers, times). For each shape the
function is called twice, with two sets of values that stand for all others. Where the same SQL comes out both times,
and each parameter is either the same too or one of those values, this SQL serves every call of that shape. Whatever
else depends on a value shows in the comparison: a query that the function asks, a list that is empty, text that a
column cleans. Then nothing is kept, and the ORM does what it always does.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache, partial, wraps
from typing import Any, NoReturn

from django.db import connection

from apps.orgs.rows import ALL, Row, Rows, Shown, type_of
from apps.orgs.statements import SEEN, Compiled, NotPreparable, Statement, compiled, statement_of
from apps.orgs.versions import SeenVersions, Versions

MAX_SHAPES = 200  # of one function: there are some dozens, unless somebody tries them all


class StandInText(str):
    """Text that nobody may compare with a word; with nothing, the ORM does, and rightly: what is empty has a shape."""

    __hash__ = str.__hash__

    def _compare(self, other: object) -> bool:
        if not isinstance(other, str):
            return False
        if other and not isinstance(other, StandInText):
            raise NotPreparable
        return str(self) == str(other)

    def _refuse(self, *_: object) -> NoReturn:
        raise NotPreparable

    __eq__ = _compare
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = startswith = endswith = _refuse


# What stands for a value, by its number among them and in either set. Text holds what any cleaning, folding, escaping
# or splitting would change. The other's numbers are far away, and their order is the other way round.
STAND_INS: dict[type, Callable[[int, int], Any]] = {
    str: lambda number, which: StandInText(f"{number}\x1f,%_\\ \u202e\u200bÄßİ'\"{{}}\n" + "+" * which),
    int: lambda number, which: 1_900_000_011 - number if which else 11 + number,
    datetime: lambda number, which: datetime(
        2970 - number if which else 1970 + number, 1, 31, 12, 34, 56, 123_457, UTC
    ),
}


class Shape:
    """Calls of one function that differ in values alone."""

    def __init__(self, build: Callable[..., Rows], arguments: Any, values: list[Any]) -> None:
        """Raises NotPreparable where the function reads rows, or makes something else of other values."""
        self._build, self._arguments = build, arguments
        self._types = [type(value) for value in values]
        self.template, other = self._rows(0), self._rows(1)
        if _besides_query(self.template) != _besides_query(other):
            raise NotPreparable
        self._statements: dict[bool, Statement | None] = {}
        self._showing: dict[tuple[bool, Shown], Statement | None] = {}

    def statement(self, *, is_later: bool) -> Statement | None:
        """For a first page, or one that comes after a position. None: only the ORM can tell."""
        if is_later not in self._statements:
            try:
                both = self._compiled(0, is_later), self._compiled(1, is_later)
                self._statements[is_later] = statement_of(*both, is_planned_once=self.template.is_planned_once)
            except NotPreparable:
                self._statements[is_later] = None
        return self._statements[is_later]

    def showing(self, shown: Shown, *, is_later: bool) -> Statement | None:
        """The same, which writes what is shown as JSON, where that is possible."""
        key = (is_later, shown)
        if key not in self._showing:
            statement = self.statement(is_later=is_later)
            as_json = statement and statement.showing(shown, self.template.columns)
            self._showing[key] = as_json or statement
        return self._showing[key]

    def _rows(self, which: int) -> Rows:
        args, kwargs = _filled(self._arguments, iter(_stand_ins(self._types, which)))
        with _nothing_asked():
            return self._build(*args, **kwargs)

    def _compiled(self, which: int, is_later: bool) -> Compiled:
        types = self._types + [type_of(column) for column in self.template.columns] * is_later
        stand_ins = _stand_ins(types, which)
        after = stand_ins[len(self._types) :] if is_later else None
        rows = self._rows(which)
        query = rows.select(after)
        if rows.of is not None:
            query = query.annotate(**{SEEN: SeenVersions(rows.of)})
        return compiled(query, stand_ins, self.template.names)


def _besides_query(rows: Rows) -> tuple[Any, ...]:
    return rows.order, rows.finish, rows.extra, rows.names


class PreparedRows(Rows):
    """What a function would make of its arguments, read by the statements of their shape."""

    def __init__(self, shape: Shape, values: list[Any], build: Callable[[], Rows]) -> None:
        template = shape.template
        super().__init__(template.query, template.order, template.finish, template.extra, template.names)
        self.asks = template.asks
        self.shape, self.values, self.build = shape, values, build

    def read(self, after: list[Any] | None = None, limit: int = ALL) -> Sequence[Row]:
        statement = self._statement(is_later=after is not None)
        if statement is None:
            return self.build().read(after, limit)
        found = statement.rows([*self.values, *(after or ())], limit)
        if self.reading is not None and statement.tells_versions and found.tuples:
            seen = found.tuples[0][-1]
            if seen is not None:
                self.reading.saw(Versions.from_text(seen))
        return found

    def _statement(self, *, is_later: bool) -> Statement | None:
        if self.shown is None or self.finish is not None:
            return self.shape.statement(is_later=is_later)
        return self.shape.showing(self.shown, is_later=is_later)


def prepared(build: Callable[..., Rows]) -> Callable[..., Rows]:
    shapes: dict[Hashable, Shape | None] = {}

    @wraps(build)
    def rows(*args: Any, **kwargs: Any) -> Rows:
        values: list[Any] = []
        key = _shape_of((args, kwargs), values)
        if key not in shapes:
            if len(shapes) >= MAX_SHAPES:
                shapes.clear()
            try:
                shapes[key] = Shape(build, (args, kwargs), values)
            except NotPreparable:
                shapes[key] = None
        shape = shapes[key]
        return PreparedRows(shape, values, partial(build, *args, **kwargs)) if shape else build(*args, **kwargs)

    return rows


# Arguments ↔ their shape and values


def _shape_of(argument: Any, values: list[Any]) -> Any:
    """What is left without the values, which are added to `values`. What is empty, or zero, is a shape of its own."""
    kind: Any = type(argument)
    if argument is None or kind is bool:
        return argument
    if kind in STAND_INS:
        if not argument:
            return (kind, argument)
        values.append(argument)
        return kind
    if kind is tuple:
        return tuple([_shape_of(member, values) for member in argument])
    if kind is dict:
        pairs = argument.items()  # mostly of filters that are not given
        return tuple([(key, None if member is None else _shape_of(member, values)) for key, member in pairs])
    if names := _names(kind):
        return (kind, *[_shape_of(getattr(argument, name), values) for name in names])
    return argument if isinstance(argument, Enum) else (kind, argument)


def _filled(argument: Any, values: Iterator[Any]) -> Any:
    """The same with other values."""
    kind: Any = type(argument)
    if argument is None or kind is bool or isinstance(argument, Enum):
        return argument
    if kind in STAND_INS and argument:
        return next(values)
    if kind is tuple:
        return tuple(_filled(member, values) for member in argument)
    if kind is dict:
        return {key: _filled(member, values) for key, member in argument.items()}
    if is_dataclass(argument):
        return kind(**{name: _filled(getattr(argument, name), values) for name in _names(kind)})
    return argument


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """Of a dataclass's fields."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _stand_ins(types: Sequence[type], which: int) -> list[Any]:
    return [STAND_INS[kind](number, which) for number, kind in enumerate(types)]


@contextmanager
def _nothing_asked() -> Iterator[None]:
    """Raises NotPreparable instead of asking the database anything, and does not count that as a query."""
    is_logged, connection.force_debug_cursor = connection.force_debug_cursor, False
    try:
        with connection.execute_wrapper(_refuse):
            yield
    finally:
        connection.force_debug_cursor = is_logged


def _refuse(*_: Any) -> NoReturn:
    raise NotPreparable
