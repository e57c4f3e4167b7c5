"""Statements whose SQL is written already, such as those that every call begins and ends with."""

from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections


def fetch(sql: str, parameters: Sequence[Any], *, is_planned_once: bool = True) -> list[tuple[Any, ...]]:
    """All rows of a statement; on PostgreSQL it is planned once for a connection, or for these very parameters."""
    database: Any = connections[DEFAULT_DB_ALIAS]  # `connection` would look for it at each attribute
    if database.vendor == "postgresql":
        found: list[tuple[Any, ...]] = database.fetch(sql, parameters, is_planned_once)
        return found
    with database.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()
