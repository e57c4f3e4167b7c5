"""Statements whose SQL is written already, such as those that every call begins and ends with."""

from collections.abc import Sequence
from typing import Any

from django.db import connection


def fetch(sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All rows of a statement; on PostgreSQL it is planned once for a connection."""
    database: Any = connection
    if connection.vendor == "postgresql":
        found: list[tuple[Any, ...]] = database.fetch(sql, parameters)
        return found
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()
