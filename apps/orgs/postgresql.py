"""What makes reading from PostgreSQL cheaper than Django's default."""

from datetime import UTC, datetime
from typing import Any

from psycopg.abc import Buffer
from psycopg.types.datetime import TimestamptzLoader


class FastTimestamptzLoader(TimestamptzLoader):
    """Reads `2026-01-31 12:00:00.5+00` with the C parser; a tenth of the cost of a regular expression per value.

    Django sets each session to UTC, so the offset is always +00. What the parser does not know (infinity, years
    before 1) is left to psycopg.
    """

    timezone = UTC  # Django compares this with the session's before every cursor

    def load(self, data: Buffer) -> datetime:
        try:
            return datetime.fromisoformat(str(data, "ascii"))
        except ValueError:
            return super().load(data)


def register_loaders(sender: Any, connection: Any, **kwargs: Any) -> None:
    """Receives Django's connection_created."""
    if connection.vendor == "postgresql":
        connection.connection.adapters.register_loader("timestamptz", FastTimestamptzLoader)
