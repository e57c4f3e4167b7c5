"""Puts a backup into the database, whole or not at all: everything happens in one transaction."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import DataError, IntegrityError, OperationalError, connection, models, transaction

from apps.installation.backups import schema
from apps.installation.backups.dump import set_text
from apps.installation.backups.file import BadBackup, Reader
from apps.installation.backups.values import decode_row, kind_of
from apps.orgs.models import Organization, User
from apps.orgs.versions import raise_every_version

WRITTEN = 500  # rows at a time
LOCK_TIMEOUT = "10s"


class InUse(Exception):
    """Somebody else uses the database."""


def people_and_organizations() -> tuple[int, int]:
    """How many there are: a database without any holds nothing but what migrations put there."""
    tables = connection.introspection.table_names()
    users, organizations = (
        model._base_manager.count() if model._meta.db_table in tables else 0 for model in (User, Organization)
    )
    return users, organizations


def load(reader: Reader) -> None:
    """Replaces everything that is in the database. Raises BadBackup or InUse, and then has changed nothing."""
    wanted = schema.Schema({(app, name) for app, name in reader.header.migrations})
    fields = wanted.fields()
    _check_columns(reader, fields)
    try:
        with writing():
            present = schema.of_database()
            if present is None or present.migrations != wanted.migrations:
                schema.rebuild(wanted)
            _empty(list(fields))
            for table, lines in reader.tables():
                _fill(table, {column: fields[table][column] for column in reader.header.tables[table]}, lines, reader)
            _finish(wanted)
            call_command("migrate", verbosity=0)
            raise_every_version()  # clients may know some from after the backup
    except (DataError, IntegrityError, ValueError) as error:
        raise BadBackup(f"The backup is damaged: the database refuses its rows ({type(error).__name__}).") from error
    except OperationalError as error:
        raise InUse from error


def _check_columns(reader: Reader, fields: dict[str, dict[str, models.Field]]) -> None:
    told = reader.header.tables
    if told.keys() != fields.keys() or any(sorted(told[table]) != sorted(fields[table]) for table in told):
        raise BadBackup("The backup is damaged: its tables are not those of its version.")


@contextmanager
def writing() -> Iterator[None]:
    """One transaction, in which rows may come before those that they point to."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
            # Tables cannot be altered while checks of their rows are put off.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            set_text(cursor)
            yield
        return
    connection.disable_constraint_checking()
    try:
        with transaction.atomic():
            yield
            connection.check_constraints()
    finally:
        connection.enable_constraint_checking()


def _empty(tables: list[str]) -> None:
    names = [connection.ops.quote_name(table) for table in tables]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"TRUNCATE {', '.join(names)}")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            return
        for name in names:
            cursor.execute(f"DELETE FROM {name}")  # noqa: S608


def _fill(table: str, fields: dict[str, models.Field], lines: Iterator[bytes], reader: Reader) -> None:
    columns = ", ".join(map(connection.ops.quote_name, fields))
    name = connection.ops.quote_name(table)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with connection.wrap_database_errors, cursor.copy(f"COPY {name} ({columns}) FROM STDIN") as copy:
                for line in lines:
                    copy.write(line)
            return
        insert = f"INSERT INTO {name} ({columns}) VALUES ({', '.join(['%s'] * len(fields))})"  # noqa: S608
        decoders = [_decoder(field, reader.header.vendor) for field in fields.values()]
        while found := [decode_row(decoders, line) for line in islice(lines, WRITTEN)]:
            cursor.executemany(insert, found)


def _decoder(field: models.Field, vendor: str) -> Any:
    """JSON that comes from SQLite is written already as SQLite has it."""
    decode = kind_of(field)[1]
    return str if vendor == "sqlite" and decode is kind_of(models.JSONField())[1] else decode


def _finish(loaded: schema.Schema) -> None:
    """Everything points somewhere, and the next row gets a number that no other has."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for table, model in loaded.tables().items():
                _restart_ids(cursor, table, model._meta.auto_field)
    ContentType.objects.clear_cache()


def _restart_ids(cursor: Any, table: str, field: models.Field | None) -> None:
    """Not with setval(), which outlives a transaction that fails. SQLite never goes back by itself."""
    if field is not None:
        quote = connection.ops.quote_name
        table, column = quote(table), quote(str(field.column))
        cursor.execute(f"SELECT coalesce(max({column}), 0) + 1 FROM {table}")  # noqa: S608
        cursor.execute(f"ALTER TABLE {table} ALTER COLUMN {column} RESTART WITH {int(cursor.fetchone()[0])}")
