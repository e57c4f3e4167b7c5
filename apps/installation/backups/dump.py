"""Writes a backup: every row as it was at one moment, while others go on writing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from django.db import connection, models, transaction
from django.utils import timezone

from apps.installation import keys
from apps.installation.backups import schema
from apps.installation.backups.file import BadBackup, Header, Writer
from apps.installation.backups.values import encode_row, kind_of

FETCHED = 1000  # rows at a time
# So that text is the same whatever the server's and the role's settings are; and a backup takes as long as it takes.
TEXT_SETTINGS = {
    "datestyle": "ISO", "timezone": "UTC", "extra_float_digits": "1", "bytea_output": "hex", "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}  # fmt: skip


def dump(target: BinaryIO) -> dict[str, int]:
    """Writes it, and returns how many rows each table has. Raises BadBackup where there are no tables yet."""
    with snapshot():
        present = schema.of_database()
        if present is None:
            raise BadBackup("There is nothing to back up: the database has no tables yet.")
        fields = present.fields()
        lock(list(fields))
        writer = Writer(target, _header(present, fields))
        for table, columns in fields.items():
            writer.table(table, rows(table, columns))
    writer.finish()
    return writer.rows


@contextmanager
def snapshot() -> Iterator[None]:
    """What is read in it is of one moment. On SQLite too, nobody who writes waits for it."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            set_text(cursor)
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")  # transaction.atomic() would be IMMEDIATE: the one who writes
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def set_text(cursor: Any) -> None:
    for name, value in TEXT_SETTINGS.items():
        cursor.execute(f"SET LOCAL {name} = '{value}'")


def lock(tables: list[str]) -> None:
    """Against migrations only."""
    if connection.vendor == "postgresql":
        names = ", ".join(map(connection.ops.quote_name, tables))
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {names} IN ACCESS SHARE MODE")


def rows(table: str, columns: dict[str, models.Field]) -> Iterator[bytes]:
    """One or more lines at a time."""
    quote = connection.ops.quote_name
    if connection.vendor == "postgresql":
        names = ", ".join(map(quote, columns))
        with connection.cursor() as cursor, cursor.copy(f"COPY {quote(table)} ({names}) TO STDOUT") as copy:
            yield from map(bytes, copy)
        return
    encoders = [kind_of(field)[0] for field in columns.values()]
    # +: a value as it is stored, which sqlite3 converts to nothing else.
    values = ", ".join(f"+{quote(column)}" for column in columns)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {values} FROM {quote(table)}")  # noqa: S608
        while found := cursor.fetchmany(FETCHED):
            yield from (encode_row(encoders, row).encode() for row in found)


def _header(present: schema.Schema, fields: dict[str, dict[str, models.Field]]) -> Header:
    return Header(
        made_at=timezone.now().isoformat(timespec="seconds"),
        vendor=connection.vendor,
        migrations=sorted(map(list, present.migrations)),
        keys=keys.fingerprints(),
        tables={table: list(columns) for table, columns in fields.items()},
    )
