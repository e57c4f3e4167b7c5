"""Reads single fields of what Coolify answers, and fits them into what a snapshot may hold. Nothing here raises."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from apps.platforms.snapshot.bounds import USERINFO, Prose, Text, Time
from apps.platforms.snapshot.fields import fields_of
from apps.web.characters import is_plain

Row = Mapping[str, Any]

# What may become part of a path of ours. Coolify's own are 24 lower-case letters and digits, of old releases UUIDs.
IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
OFFSET = re.compile(r"(?:[Zz]|[+-]\d\d:\d\d)$")


def text(row: Row, name: str) -> str | None:
    value = row.get(name)
    return value if isinstance(value, str) and value.strip() else None


def number(row: Row, name: str) -> int | None:
    """A whole number, also one in a string."""
    value = row.get(name)
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def flag(row: Row, name: str) -> bool | None:
    """True or false, also where it came as the database's 1 or 0. None: not told."""
    value = row.get(name)
    return bool(value) if isinstance(value, bool | int) and value in (0, 1) else None


def identifier(row: Row, name: str = "uuid") -> str | None:
    value = row.get(name)
    return value if isinstance(value, str) and IDENTIFIER.fullmatch(value) else None


def moment(row: Row, name: str) -> datetime | None:
    """Of both forms: 2026-08-01T10:00:00.000000Z, and 2026-08-01 10:00:00, which is UTC too."""
    value = row.get(name)
    if not isinstance(value, str):
        return None
    try:
        read = Time().read(value if OFFSET.search(value) else f"{value}Z")
    except ValueError:
        return None
    return None if Time().problem(read) else read


def rows_of(value: Any) -> list[Any] | None:
    """The entries of a list, also of one whose gaps made it an object with numbers for keys. None: neither."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and all(re.fullmatch(r"[0-9]{1,9}", key) for key in value):
        return [value[key] for key in sorted(value, key=int)]
    return None


def cut(record: type, field: str, value: str | None) -> str | None:
    """`value` as this field of a snapshot's record can hold it: shortened, without what nobody sees and without the
    user names of addresses. None where nothing of it can be kept. An identifier that holds what nobody sees is left
    as it is: fitting a snapshot leaves it out, and counts it.
    """
    bound = fields_of(record)[field].bound
    if value is None:
        return None
    if isinstance(bound, Prose):
        value = bound.clean(value)
    elif type(bound) is Text and not is_plain(value):
        return value
    while USERINFO.search(value):
        value = USERINFO.sub("", value)
    if isinstance(bound, Text) and type(bound) in (Text, Prose):  # of what has a form, a part means something else
        value = value.strip()[: bound.maximum].rstrip()
    return None if bound.problem(value) else value
