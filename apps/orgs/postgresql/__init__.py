"""What makes reading from PostgreSQL cheaper than Django's default."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from psycopg.abc import Buffer, PQGen
from psycopg.adapt import Loader, PyFormat, Transformer
from psycopg.errors import FeatureNotSupported, InvalidSqlStatementName, error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult
from psycopg.types.datetime import TimestamptzLoader

MAX_STATEMENTS = 500  # that are written in PostgreSQL's own way, in each process
PLACE = re.compile(r"%(?:%|s|\((?P<name>\w+)\)s)")


class FastTimestamptzLoader(TimestamptzLoader):
    """Reads `2026-01-31 12:00:00.5+00` with the C parser; a tenth of the cost of a regular expression per value.

    Django sets each session to UTC, so the offset is always +00. What the parser does not know (infinity, years
    before 1) is left to psycopg.
    """

    timezone = UTC  # Django compares this with the session's before every cursor

    def __init__(self, oid: int, context: Any = None) -> None:
        Loader.__init__(self, oid, context)  # psycopg's own looks up the session's settings for each statement

    def load(self, data: Buffer) -> datetime:
        try:
            return datetime.fromisoformat(str(data, "ascii"))
        except ValueError:
            return TimestamptzLoader(self.oid, self.connection).load(data)


# One plan for all values: left to itself the server goes on to plan some statements anew for each call, which takes
# longer than to answer them. Such a plan knows no limit, so it would start other processes for a page of twenty rows.
PLANNING = "SET plan_cache_mode = force_generic_plan; SET max_parallel_workers_per_gather = 0"


# A table has changed since, or somebody had the server forget. After any other error it still has the statement.
OUTDATED = (FeatureNotSupported, InvalidSqlStatementName)


class PreparedStatement:
    """One statement of a connection: the database plans it once, and psycopg looks once for what adapts its values.

    Past cursors, which write every value into the text (Django's) or take twice as long for so few rows (psycopg's).
    `sql` has its parameters as Django has them.
    """

    def __init__(self, connection: Any, sql: str) -> None:
        raw, self.names = numbered(sql)
        self.connection, self.sql = connection, raw.encode()
        self.adapters = Transformer(connection)
        self.prepared: dict[tuple[int, ...], bytes] = {}  # its names at the server, by the types of its values

    def rows(self, parameters: Sequence[Any] | Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All of them; nothing is held of them afterwards."""
        values = parameters if isinstance(parameters, Sequence) else [parameters[name] for name in self.names]
        found = self.connection.wait(self._ask(self.adapters.dump_sequence(values, [PyFormat.AUTO] * len(values))))
        self.adapters.set_pgresult(found)
        rows: list[tuple[Any, ...]] = self.adapters.load_rows(0, found.ntuples, tuple)
        self.adapters.set_pgresult(None, set_loaders=False)
        return rows

    def _ask(self, sent: Sequence[Buffer | None]) -> PQGen[PGresult]:
        server, types, formats = self.connection.pgconn, self.adapters.types or (), self.adapters.formats
        if self.connection.prepare_threshold is None:
            server.send_query_params(self.sql, sent, types, formats)
            return (yield from self._answer())
        if types not in self.prepared:
            name = f"porthole_{next(self.connection.numbers)}".encode()
            server.send_prepare(name, self.sql, types)
            yield from self._answer()
            self.prepared[types] = name
        server.send_query_prepared(self.prepared[types], sent, formats)
        return (yield from self._answer())

    def _answer(self) -> PQGen[PGresult]:
        """Raises psycopg.Error. What is OUTDATED is prepared anew by the next question."""
        *_, result = yield from execute(self.connection.pgconn)
        if result.status in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            return result
        error = error_from_result(result, self.connection.info.encoding)
        if isinstance(error, OUTDATED):
            self.prepared.clear()
        raise error


@lru_cache(maxsize=MAX_STATEMENTS)
def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """The same as PostgreSQL has it, with $1 instead of %s or %(name)s; and the names, each once."""
    numbers: dict[str, int] = {}

    def number_of(place: re.Match[str]) -> str:
        if place[0] == "%%":
            return "%"
        return f"${numbers.setdefault(place['name'] or str(len(numbers)), len(numbers) + 1)}"

    raw = PLACE.sub(number_of, sql)
    return raw, tuple(numbers)


def register_loaders(sender: Any, connection: Any, **kwargs: Any) -> None:
    """Receives Django's connection_created."""
    if connection.vendor != "postgresql":
        return
    connection.connection.adapters.register_loader("timestamptz", FastTimestamptzLoader)
    # Django switches preparing off for the sake of connection poolers; this setting is how it is told of one.
    if not connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"):
        connection.connection.prepare_threshold = 5  # not None: see PreparedStatement; Django's cursors never prepare
        connection.connection.execute(PLANNING)
