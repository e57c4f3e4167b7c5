"""Statements as the ORM writes them, with the places of the values that stand in them (see `prepared`)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

from apps.orgs.cursors import fetch
from apps.orgs.json_rows import json_sql
from apps.orgs.rows import Row, Shown, Table

Adapt = Callable[[Any], Any]
LIMIT = "limit"
PLACE = re.compile("%[%s]")
SEEN = "versions_seen"  # the last column of a statement that tells them


class NotPreparable(Exception):
    """What is asked depends on the values themselves."""


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL and its parameters by name. Each of `slots` has a value, by its number, as the database's adapter wants it.

    On PostgreSQL the SQL says their names, and each is sent once; elsewhere they stand in order. `names` are those
    of a row's columns; where `tells_versions`, another one follows: SeenVersions. `converters` are what the ORM does
    with some of them. `kinds` are what Django calls the types of all.
    """

    sql: str
    parameters: Mapping[str, Any]
    slots: tuple[tuple[str, int, Adapt | None], ...]
    names: tuple[str, ...]
    converters: tuple[tuple[int, Adapt], ...]
    kinds: tuple[str, ...]
    tells_versions: bool
    is_planned_once: bool

    def showing(self, shown: Shown, order: Sequence[str]) -> "Statement | None":
        """The same rows with what is shown as JSON. None: only Python can write that."""
        if connection.vendor != "postgresql" or self.converters:
            return None
        found = json_sql(self.sql, self.names, self.kinds, shown, order, is_followed=self.tells_versions)
        return found and replace(self, sql=found.sql, names=found.names)

    def rows(self, values: Sequence[Any], limit: int) -> Table:
        parameters = {**self.parameters, LIMIT: limit}
        for name, number, adapt in self.slots:
            parameters[name] = adapt(values[number]) if adapt else values[number]
        found = fetch(self.sql, parameters, is_planned_once=self.is_planned_once)
        return Table(self.names, [self._converted(row) for row in found] if self.converters else found)

    def _converted(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        converted = list(row)
        for at, convert in self.converters:
            converted[at] = convert(converted[at])
        return tuple(converted)


# How a value can stand in a statement.
GUISES: tuple[Adapt | None, ...] = (
    None,
    lambda value: connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value,
    lambda value: f"%{connection.ops.prep_for_like_query(str(value))}%" if isinstance(value, str) else value,
)


class Compiled(NamedTuple):
    """What the ORM makes of one set of values. `slots` tell which parameter is which value: its place, its number."""

    sql: str
    parameters: tuple[Any, ...]
    slots: tuple[tuple[int, int, Adapt | None], ...]
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    converters: dict[int, Any]


def compiled(rows: QuerySet[Any, Row], values: Sequence[Any], names: Mapping[str, str]) -> Compiled:
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


def statement_of(one: Compiled, other: Compiled, *, is_planned_once: bool) -> Statement:
    """Raises NotPreparable where the two differ in more than the values."""
    valued = {at for at, _, _ in one.slots}
    is_same = (one.sql, one.slots, one.names) == (other.sql, other.slots, other.names)
    pairs = zip(one.parameters, other.parameters, strict=is_same)
    if not is_same or not all(at in valued or _same(*pair) for at, pair in enumerate(pairs)):
        raise NotPreparable
    converters = tuple((at, partial(_convert, *found)) for at, found in one.converters.items())
    tells = one.names[-1:] == (SEEN,)
    names = one.names[:-1] if tells else one.names
    sql, called = f"{one.sql} LIMIT %s", [f"p{at}" for at in range(len(one.parameters))]
    if connection.vendor == "postgresql":
        called = _called(one)
        sql = _naming(sql, [*called, LIMIT])
    parameters = {name: _plain(value) for name, value in zip(called, one.parameters, strict=True)}
    slots = {called[at]: (called[at], number, adapt) for at, number, adapt in one.slots}
    return Statement(sql, parameters, tuple(slots.values()), names, converters, one.kinds, tells, is_planned_once)


def _called(statement: Compiled) -> list[str]:
    """A name for each parameter: the same for those that are made of one value alike."""
    slots = {at: (number, adapt) for at, number, adapt in statement.slots}
    first: dict[Any, str] = {}
    return [first.setdefault(slots.get(at, at), f"p{at}") for at in range(len(statement.parameters))]


def _naming(sql: str, names: Sequence[str]) -> str:
    """The SQL with a name at each place of a parameter."""
    following = iter(names)
    return PLACE.sub(lambda place: f"%({next(following)})s" if place[0] == "%s" else place[0], sql)


def _plain(value: Any) -> Any:
    """Text of an enumeration: an adapter looks longer for one."""
    return str(value) if isinstance(value, Enum) and isinstance(value, str) else value


def _convert(converters: Sequence[Callable[..., Any]], expression: Any, value: Any) -> Any:
    for convert in converters:
        value = convert(value, expression, connection)
    return value
