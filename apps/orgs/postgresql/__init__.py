"""What makes reading from PostgreSQL cheaper than Django's default."""

from datetime import UTC, datetime
from typing import Any

from psycopg import Cursor
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


# One plan for all values: left to itself the server goes on to plan some statements anew for each call, which takes
# longer than to answer them. Such a plan knows no limit, so it would start other processes for a page of twenty rows.
PLANNING = "SET plan_cache_mode = force_generic_plan; SET max_parallel_workers_per_gather = 0"


class PreparedCursor(Cursor[Any]):
    """The database plans each statement once for a connection. Django's own cursors write every value into the text."""

    def execute(self, query: Any, params: Any = None, **kwargs: Any) -> "PreparedCursor":
        return super().execute(query, params, prepare=True, **kwargs)


def register_loaders(sender: Any, connection: Any, **kwargs: Any) -> None:
    """Receives Django's connection_created."""
    if connection.vendor != "postgresql":
        return
    connection.connection.adapters.register_loader("timestamptz", FastTimestamptzLoader)
    # Django switches preparing off for the sake of connection poolers; this setting is how it is told of one.
    if not connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"):
        connection.connection.prepare_threshold = 5  # only PreparedCursor prepares; the number is psycopg's own
        connection.connection.execute(PLANNING)
