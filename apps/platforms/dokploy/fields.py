"""One field of an answer at a time: what is not of the type it should be is as good as not there."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from apps.platforms.snapshot.bounds import (
    BIGGEST_INTEGER,
    USERINFO,
    Bound,
    Prose,
    Text,
    Time,
    Url,
)
from apps.platforms.snapshot.fields import fields_of
from apps.web.characters import is_plain

Row = Mapping[str, Any]
Record = TypeVar("Record")
TIME = Time()


def text(row: Row, name: str) -> str | None:
    """Not blank, without spaces around it."""
    value = row.get(name)
    return value.strip() or None if isinstance(value, str) else None


def key(row: Row, name: str) -> str | None:
    """An id; None where it is none that can be kept or asked for."""
    value = row.get(name)
    return value if isinstance(value, str) and not Text(128).problem(value) else None


def integer(row: Row, name: str) -> int | None:
    """Also one that is written as text, as numbers of pull requests are."""
    value = row.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= BIGGEST_INTEGER
    return value if fits else None


def time(row: Row, name: str) -> datetime | None:
    value = row.get(name)
    try:
        moment = TIME.read(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return None if TIME.problem(moment) else moment


def row(row: Row, name: str) -> Row:
    """Empty where there is none."""
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def rows(row: Row, name: str) -> list[Row]:
    return rows_in(row.get(name))


def rows_in(value: Any) -> list[Row]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def cut(record: type, field: str, value: str | None) -> str | None:
    """Text as this field of a record may hold it, cut to its length; None where nothing is left that it may hold.

    An identifier that holds what nobody sees is left as it is: fitting a snapshot leaves it out, and counts it.
    """
    bound: Bound = fields_of(record)[field].bound
    if value is None or not isinstance(bound, Text):
        return value if value is not None and not bound.problem(value) else None
    if type(bound) is Text and not is_plain(value):
        return value
    value = USERINFO.sub("", bound.clean(value) if isinstance(bound, Prose) else value)
    value = value.strip()[: bound.maximum].strip()
    return None if not value or bound.problem(value) else value


def url(value: str | None) -> str | None:
    return value if value and not Url(500).problem(value) else None


def each(rows: Iterable[Row], read: Callable[[Row], Record | None]) -> tuple[Record, ...]:
    """What could be read of the rows."""
    return tuple(record for entry in rows if (record := read(entry)) is not None)
