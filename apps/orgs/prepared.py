"""Lists that are compiled once: the SQL that the ORM writes for one is kept, with the places of its values.

`prepared` stands over a function that makes Rows of its arguments and of nothing else. Arguments have a shape (what is
given, and of which type; words of an enumeration; booleans) and values (text, numbers, times). For each shape the
function is called twice, with two sets of values that stand for all others. Where the same SQL comes out both times,
and each parameter is either the same too or one of those values, this SQL serves every call of that shape. Whatever
else depends on a value shows in the comparison: a query that the function asks, a list that is empty, text that a
column cleans. Then nothing is kept, and the ORM does what it always does.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from functools import cache, partial, wraps
from typing import Any, NamedTuple, NoReturn

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

from apps.orgs.cursors import fetch
from apps.orgs.json_rows import json_sql
from apps.orgs.rows import ALL, Row, Rows, Shown, Table, type_of
from apps.orgs.versions import SeenVersions, Versions

Adapt = Callable[[Any], Any]
SEEN = "versions_seen"  # the last column of a statement that tells them
MAX_SHAPES = 200  # of one function: there are some dozens, unless somebody tries them all


class NotPreparable(Exception):
    """What is asked depends on the values themselves."""


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


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL and its parameters. At each of `slots` belongs a value, by its number, as the database's adapter wants it.

    `names` are those of a row's columns; where `tells_versions`, another one follows: SeenVersions. `converters` are
    what the ORM does with some of them. `kinds` are what Django calls the types of all.
    """

    sql: str
    parameters: tuple[Any, ...]
    slots: tuple[tuple[int, int, Adapt | None], ...]
    names: tuple[str, ...]
    converters: tuple[tuple[int, Adapt], ...]
    kinds: tuple[str, ...]
    tells_versions: bool

    def showing(self, shown: Shown, order: Sequence[str]) -> "Statement | None":
        """The same rows with what is shown as JSON. None: only Python can write that."""
        if connection.vendor != "postgresql" or self.converters:
            return None
        found = json_sql(self.sql, self.names, self.kinds, shown, order, is_followed=self.tells_versions)
        return found and replace(self, sql=found.sql, names=found.names)

    def rows(self, values: Sequence[Any], limit: int) -> Table:
        parameters = [*self.parameters, limit]
        for at, number, adapt in self.slots:
            parameters[at] = adapt(values[number]) if adapt else values[number]
        found = fetch(self.sql, parameters)
        return Table(self.names, [self._converted(row) for row in found] if self.converters else found)

    def _converted(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        converted = list(row)
        for at, convert in self.converters:
            converted[at] = convert(converted[at])
        return tuple(converted)


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
                self._statements[is_later] = _statement(self._compiled(0, is_later), self._compiled(1, is_later))
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

    def _compiled(self, which: int, is_later: bool) -> "Compiled":
        types = self._types + [type_of(column) for column in self.template.columns] * is_later
        stand_ins = _stand_ins(types, which)
        after = stand_ins[len(self._types) :] if is_later else None
        rows = self._rows(which)
        query = rows.select(after)
        if rows.of is not None:
            query = query.annotate(**{SEEN: SeenVersions(rows.of)})
        return _compile(query, stand_ins, self.template.names)


def _besides_query(rows: Rows) -> tuple[Any, ...]:
    return rows.order, rows.finish, rows.extra, rows.names


class PreparedRows(Rows):
    """What a function would make of its arguments, read by the statements of their shape."""

    def __init__(self, shape: Shape, values: list[Any], build: Callable[[], Rows]) -> None:
        template = shape.template
        super().__init__(template.query, template.order, template.finish, template.extra, template.names)
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
    if argument is None or kind is bool or isinstance(argument, Enum):
        return argument
    if kind in STAND_INS and argument:
        values.append(argument)
        return kind
    if kind is tuple:
        return tuple([_shape_of(member, values) for member in argument])
    if kind is dict:
        return tuple([(key, _shape_of(member, values)) for key, member in argument.items()])
    if is_dataclass(argument):
        return (kind, *[_shape_of(getattr(argument, name), values) for name in _names(kind)])
    return (kind, argument)


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
    return tuple(field.name for field in fields(kind))


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


# Rows → statements

# How a value can stand in a statement.
GUISES: tuple[Adapt | None, ...] = (
    None,
    lambda value: connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value,
    lambda value: f"%{connection.ops.prep_for_like_query(str(value))}%" if isinstance(value, str) else value,
)


class Compiled(NamedTuple):
    """What the ORM makes of one set of values: `slots` as in Statement."""

    sql: str
    parameters: tuple[Any, ...]
    slots: tuple[tuple[int, int, Adapt | None], ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    converters: dict[int, Any]


def _compile(rows: QuerySet[Any, Row], values: Sequence[Any], names: Mapping[str, str]) -> Compiled:
    compiler = rows.query.get_compiler(connection=connection)
    try:
        sql, parameters = compiler.as_sql()
    except EmptyResultSet:
        raise NotPreparable from None
    return Compiled(
        sql,
        parameters,
        tuple(slot for at, parameter in enumerate(parameters) if (slot := _slot(at, parameter, values))),
        tuple(names.get(name, name) for name in rows.query.selected or ()),
        tuple(column[0].output_field.get_internal_type() for column in compiler.select[: compiler.col_count]),
        compiler.get_converters([column[0] for column in compiler.select[: compiler.col_count]]),
    )


def _slot(at: int, parameter: Any, values: Sequence[Any]) -> tuple[int, int, Adapt | None] | None:
    for number, value in enumerate(values):
        for guise in GUISES:
            if _same(parameter, guise(value) if guise else value):
                return at, number, guise
        if type(value) is int and isinstance(parameter, int) and parameter == value:
            return at, number, type(parameter)  # PostgreSQL's adapter gives numbers the type of their column
    return None


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return str(one) == str(other)
    return type(one) is type(other) and bool(one == other)


def _statement(one: Compiled, other: Compiled) -> Statement:
    """Raises NotPreparable where the two differ in more than the values."""
    valued = {at for at, _, _ in one.slots}
    is_same = (one.sql, one.slots, one.names) == (other.sql, other.slots, other.names)
    pairs = zip(one.parameters, other.parameters, strict=is_same)
    if not is_same or not all(at in valued or _same(*pair) for at, pair in enumerate(pairs)):
        raise NotPreparable
    converters = tuple((at, partial(_convert, *found)) for at, found in one.converters.items())
    tells = one.names[-1:] == (SEEN,)
    names = one.names[:-1] if tells else one.names
    return Statement(f"{one.sql} LIMIT %s", tuple(one.parameters), one.slots, names, converters, one.kinds, tells)


def _convert(converters: Sequence[Callable[..., Any]], expression: Any, value: Any) -> Any:
    for convert in converters:
        value = convert(value, expression, connection)
    return value
