"""Cursors for the few statements that begin or end every call."""

from collections.abc import Sequence
from typing import Any

from django.db import connection


def prepared_cursor() -> Any:
    """A cursor on Django's connection; on PostgreSQL one whose statements are planned once for a connection."""
    if connection.vendor == "postgresql":
        from apps.orgs import postgresql  # psycopg is not needed on SQLite

        return postgresql.prepared_cursor(connection)
    return connection.cursor()


def fetch(sql: str, parameters: Sequence[Any]) -> Sequence[Sequence[Any]]:
    """All rows of a statement."""
    with prepared_cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: Sequence[Sequence[Any]] = cursor.fetchall()
    return rows
