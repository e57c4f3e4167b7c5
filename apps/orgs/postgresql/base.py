"""Django's PostgreSQL backend, for a server that may stop to answer without closing its connections.

`OPTIONS["answer_timeout"]` are the seconds for one answer; without it, as in commands, nothing is cut. The server's own
timeouts do not help where the server itself stands still, nor does TCP over a Unix socket or where the kernel goes on.
"""

import select
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import count
from types import SimpleNamespace
from typing import Any

import psycopg
from django.db.backends.postgresql import base, schema
from psycopg.errors import ConnectionTimeout

from apps.orgs.postgresql import PreparedStatement

IDLE = psycopg.pq.TransactionStatus.IDLE
HEALTH_CHECK = 1.0  # seconds: the statement before a request's first, which a server that is well answers at once
TRUST = 1.0  # seconds since the last answer in which there is no such statement
BLINK = 0.05  # and those in which not even the socket is looked at: no server ends and starts again as fast
MAX_PREPARED = 100  # statements of one connection: the server keeps memory for each
RETRY_EVERY = 2.0  # seconds between attempts to reach a server that did not answer; no less than connect_timeout


class BoundedConnection(psycopg.Connection[Any]):
    """Waits `answer_timeout` seconds for an answer, then closes itself and raises psycopg.OperationalError."""

    answer_timeout: float | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.prepared: dict[str, PreparedStatement] = {}  # by their SQL
        self.numbers = count()  # of statements that the server was told to prepare

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return super().wait(gen, interval, timeout or self.answer_timeout)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == psycopg.pq.TransactionStatus.ACTIVE:
                self.close()  # an answer that comes later would be taken for the next statement's
                if self.answer_timeout != HEALTH_CHECK:
                    _silence.begin()  # the server's own timeout is shorter: it says nothing at all
            raise


class Silence:
    """Whether the server has stopped to answer. Then one thread asks it every RETRY_EVERY; others need not wait too."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_silent = False
        self._retry_at = 0.0

    def check(self) -> None:
        """Raises psycopg.OperationalError where another thread has just waited in vain, or is about to."""
        with self._lock:
            if not self._is_silent:
                return
            if time.monotonic() < self._retry_at:
                raise psycopg.OperationalError("the server did not answer a moment ago")
            self._retry_at = time.monotonic() + RETRY_EVERY

    def begin(self) -> None:
        with self._lock:
            self._is_silent = True
            self._retry_at = time.monotonic() + RETRY_EVERY

    def end(self) -> None:
        self._is_silent = False


_silence = Silence()


class SchemaEditor(schema.DatabaseSchemaEditor):
    """Without a second index for LIKE on each column of text: nothing long is searched by its beginning."""

    def _create_like_index_sql(self, model: Any, field: Any) -> None:
        return None


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = SchemaEditor
    Database = SimpleNamespace(**vars(psycopg) | {"connect": BoundedConnection.connect})  # type: ignore[assignment]
    answer_timeout: float | None = None
    answered_at = 0.0

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        self.answer_timeout = params.pop("answer_timeout", None)
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if self.answer_timeout is None:
            return super().get_new_connection(conn_params)
        _silence.check()
        try:
            connection = super().get_new_connection(conn_params)
        except ConnectionTimeout:
            _silence.begin()
            raise
        _silence.end()
        connection.answer_timeout = self.answer_timeout
        return connection

    def is_usable(self) -> bool:
        if self.connection is None or self.answer_timeout is None:
            return super().is_usable()
        connection, connection.answer_timeout = self.connection, HEALTH_CHECK
        try:
            return super().is_usable()
        finally:
            connection.answer_timeout = self.answer_timeout

    def close_if_health_check_failed(self) -> None:
        """Of a connection that was just used only the socket is looked at: it tells of a server that has ended.

        Nothing is asked within a transaction, nor at its end, when Django calls this too: a statement would begin one.
        """
        ago = time.monotonic() - self.answered_at
        is_trusted = not self.autocommit or ago < BLINK
        if self.connection is not None and (is_trusted or (ago < TRUST and not _has_news(self.connection))):
            return
        super().close_if_health_check_failed()

    def fetch(
        self, sql: str, parameters: Sequence[Any] | Mapping[str, Any], is_planned_once: bool
    ) -> list[tuple[Any, ...]]:
        """All rows of a statement that is planned once for a connection. One that is not has its values in the text."""
        if not is_planned_once or self.queries_logged or self.execute_wrappers:  # these hear of Django's cursors only
            with self.cursor() as cursor:
                cursor.execute(sql, parameters)
                rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows
        self.close_if_health_check_failed()
        if self.connection is None:
            self.ensure_connection()
        self.validate_no_broken_transaction()
        with self.wrap_database_errors:
            if not self.connection.autocommit and self.connection.pgconn.transaction_status == IDLE:
                self.connection.execute("")  # begins the transaction, as psycopg's cursors do
            rows = self._prepared(sql).rows(parameters)
        self.answered_at = time.monotonic()
        return rows

    def _prepared(self, sql: str) -> PreparedStatement:
        prepared: dict[str, PreparedStatement] = self.connection.prepared
        if (statement := prepared.get(sql)) is None:
            if len(prepared) >= MAX_PREPARED:
                prepared.clear()
                self.connection.execute("DEALLOCATE ALL")
            statement = prepared[sql] = PreparedStatement(self.connection, sql)
        return statement


def _has_news(connection: Any) -> bool:
    """Whether the server has said something that nobody asked for: mostly that it ends."""
    poll = select.poll()
    try:
        poll.register(connection.fileno(), select.POLLIN)
    except psycopg.OperationalError:  # closed
        return True
    return bool(poll.poll(0))
