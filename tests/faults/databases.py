"""A database that programs share with a test, which reads it in SQL: a file of SQLite, or PostgreSQL's own server."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tests.config.server import LOCAL, run
from tests.faults.postgresql import PostgreSQL, postgresql

MIGRATE = """
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
"""
Row = dict[str, Any]


class Database(ABC):
    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.env = LOCAL | {"DATA_DIR": str(folder), "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}

    @abstractmethod
    def query(self, sql: str) -> list[Row]:
        """Written too, where it is no SELECT. Moments are text."""

    @abstractmethod
    def tables(self) -> dict[str, list[str]]:
        """Their columns, by name."""

    @abstractmethod
    def is_being_written(self) -> bool:
        """Whether a sync's transaction has begun and has not ended."""

    def run(self, script: str, **env: str) -> str:
        status, said = run("-c", script, env=self.env | env)
        assert status == 0, said
        return said


class SqliteFile(Database):
    def __init__(self, folder: Path) -> None:
        self.path = folder / "porthole.sqlite3"
        super().__init__(f"sqlite:///{self.path}", folder)

    def query(self, sql: str) -> list[Row]:
        with closing(sqlite3.connect(self.path, timeout=20, isolation_level=None)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql)]

    def tables(self) -> dict[str, list[str]]:
        names = [row["name"] for row in self.query("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [row["name"] for row in self.query(f"PRAGMA table_info({name})")] for name in names}

    def is_being_written(self) -> bool:
        with closing(sqlite3.connect(self.path, timeout=0, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
            connection.execute("ROLLBACK")
            return False


class PostgresqlServer(Database):
    def __init__(self, server: PostgreSQL, folder: Path) -> None:
        self.server = server
        self._connection: psycopg.Connection[Row] | None = None
        super().__init__(server.url, folder)

    def query(self, sql: str) -> list[Row]:
        try:
            cursor = self._connected().execute(sql)
        except psycopg.OperationalError:  # it was killed meanwhile, and is there again
            self.close()
            cursor = self._connected().execute(sql)
        rows: list[Row] = cursor.fetchall() if cursor.description else []
        return [{name: str(value) if hasattr(value, "tzinfo") else value for name, value in r.items()} for r in rows]

    def _connected(self) -> "psycopg.Connection[Row]":
        if self._connection is None:
            self._connection = psycopg.connect(self.url, autocommit=True, row_factory=dict_row)
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def tables(self) -> dict[str, list[str]]:
        columns = self.query(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema='public'"
        )
        found: dict[str, list[str]] = {}
        for row in columns:
            found.setdefault(row["table_name"], []).append(row["column_name"])
        return found

    def is_being_written(self) -> bool:
        # Which a sync locks first.
        locks = "pg_locks JOIN pg_class ON pg_class.oid = relation WHERE relname = 'orgs_platform'"
        return bool(self.query(f"SELECT pid FROM {locks} AND mode = 'RowShareLock'"))


@contextmanager
def database(kind: str, folder: Path) -> Iterator[Database]:
    """With every table. What is said to be committed is: PostgreSQL's outlives being killed."""
    if kind == "sqlite":
        file = SqliteFile(folder)
        file.run(MIGRATE)
        yield file
        return
    with postgresql(synchronous_commit="on") as server:
        with closing(PostgresqlServer(server, folder)) as found:
            found.run(MIGRATE)
            yield found
