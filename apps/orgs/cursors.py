"""Cursors for the few statements that begin or end every call."""

from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections


def prepared_cursor() -> Any:
    """A cursor on Django's connection; on PostgreSQL one whose statements are planned once for a connection."""
    if connection.vendor == "postgresql":
        from apps.orgs import postgresql  # psycopg is not needed on SQLite

        return postgresql.prepared_cursor(connection)
    return connection.cursor()


def fetch(sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All rows of a statement; on PostgreSQL it is planned once for a connection."""
    database: Any = connections[DEFAULT_DB_ALIAS]  # `connection` would look for it at each attribute
    if database.vendor == "postgresql":
        found: list[tuple[Any, ...]] = database.fetch(sql, parameters)
        return found
    with database.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()
