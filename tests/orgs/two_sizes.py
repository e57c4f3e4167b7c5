"""The same tables twice, with few rows and with many, side by side: so that both are timed at the same moment."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext


class Size:
    """Copies of tables in which a number of rows is put. What is done `inside` finds these, not the tables."""

    def __init__(self, name: str, models: list[Any]) -> None:
        self.name = name
        self._copy = None
        if connection.vendor == "sqlite":
            self._copy = connection.get_new_connection({"database": ":memory:"})
            self._copy.execute("PRAGMA foreign_keys = OFF")  # for tables in any order; PostgreSQL copies none either
            self._copy.executescript("\n".join(connection.connection.iterdump()))
            return
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA {name}")
            for model in models:
                table = model._meta.db_table
                cursor.execute(f"CREATE TABLE {name}.{table} (LIKE public.{table} INCLUDING ALL)")
                cursor.execute(f"INSERT INTO {name}.{table} SELECT * FROM public.{table}")

    @contextmanager
    def inside(self) -> Iterator[None]:
        if self._copy is None:
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL search_path TO {self.name}, public")
                yield
                cursor.execute("SET LOCAL search_path TO DEFAULT")
            return
        own, connection.connection = connection.connection, self._copy
        try:
            yield
        finally:
            connection.connection = own

    def close(self) -> None:
        if self._copy is not None:
            self._copy.close()


@contextmanager
def two_sizes(models: list[Any]) -> Iterator[tuple[Size, Size]]:
    few, many = Size("few", models), Size("many", models)
    try:
        yield few, many
    finally:
        few.close()
        many.close()


def clock() -> Callable[[], float]:
    """Seconds of work, so that what else the machine does is left out: this thread's, and its database server's."""
    if connection.vendor == "sqlite":
        return time.thread_time
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        server = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")
    if not server.exists():
        return time.perf_counter
    return lambda: time.thread_time() + int(server.read_text().split()[0]) / 1e9


def explained(work: Callable[[], object]) -> str:
    """How the database answers each of the queries of this work."""
    with CaptureQueriesContext(connection) as queries:
        work()
    prefix, column = ("EXPLAIN QUERY PLAN ", 3) if connection.vendor == "sqlite" else ("EXPLAIN ", 0)
    with connection.cursor() as cursor:
        found = []
        for query in queries:
            cursor.execute(prefix + query["sql"].replace("%", "%%"))
            found += [row[column] for row in cursor.fetchall()]
    return "\n".join(found) + "\n"


def least(work: Callable[[], Any], takes: int = 5) -> tuple[float, Any]:
    """What it needs; whoever else is at work on the machine only adds to it. With what it gave."""
    now, took = clock(), []
    for _ in range(takes):
        began = now()
        done = work()
        took.append(now() - began)
    return min(took), done
