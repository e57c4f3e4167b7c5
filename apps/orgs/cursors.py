"""Statements whose SQL is written already, such as those that every call begins and ends with."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections


def fetch(
    sql: str, parameters: Sequence[Any] | Mapping[str, Any], *, is_planned_once: bool = True
) -> list[tuple[Any, ...]]:
    """All rows of a statement; on PostgreSQL it is planned once for a connection, or for these very parameters.

    Only PostgreSQL's can name their parameters: elsewhere these stand in their order.
    """
    database: Any = connections[DEFAULT_DB_ALIAS]  # `connection` would look for it at each attribute
    if database.vendor == "postgresql":
        found: list[tuple[Any, ...]] = database.fetch(sql, parameters, is_planned_once)
        return found
    values = parameters.values() if isinstance(parameters, Mapping) else parameters
    adapt = database.ops.adapt_datetimefield_value  # SQLite keeps times as text
    with database.cursor() as cursor:
        cursor.execute(sql, [adapt(value) if isinstance(value, datetime) else value for value in values])
        return cursor.fetchall()
