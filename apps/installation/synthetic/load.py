"""Fills an empty database with synthetic rows, in one transaction."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from django.core.management.color import no_style
from django.db import connection, transaction

from apps.installation.synthetic import indexes, rows
from apps.installation.synthetic.counts import counts
from apps.installation.synthetic.health import timetables
from apps.installation.synthetic.sizes import Sizes, Skeleton
from apps.installation.synthetic.statements import Statement, Words
from apps.installation.synthetic.tokens import tokens
from apps.oauthmcp.models import Application
from apps.orgs.models import Deployment, HealthTimetable
from apps.web.progress import tell

SKELETON = {
    rows.ORGANIZATIONS: "number bigint PRIMARY KEY, id text, apps bigint",
    rows.PROJECTS: "number bigint PRIMARY KEY, id text, organization bigint, organization_id text",
    rows.APPS: "number bigint PRIMARY KEY, id text, organization bigint, organization_id text, project_id text, "
    "environment_id text",
}
CLIENT = "synthetic"
BATCH = 10_000
# For building indexes and joining; of this transaction alone.
MEMORY = {"maintenance_work_mem": "1GB", "work_mem": "256MB"}


def load(sizes: Sizes) -> None:
    """Into a database without organizations."""
    with transaction.atomic():
        _prepare()
        skeleton = Skeleton(sizes)
        projects = [_add(table, some) for table, some in (
            (rows.ORGANIZATIONS, skeleton.organizations()), (rows.PROJECTS, skeleton.projects()),
            (rows.APPS, skeleton.apps()),
        )][1]  # fmt: skip
        statements = [*rows.statements(sizes, projects), *tokens(sizes, _client().pk)]
        tables = list(dict.fromkeys(statement.table for statement in statements))
        of_health = HealthTimetable._meta.db_table
        dropped = indexes.drop([*tables, of_health])
        for statement in statements:
            _fill(statement, sizes)
        dropped.restore(sorted(tables, key=lambda table: table == Deployment._meta.db_table))
        _fill(timetables(sizes), sizes)
        dropped.restore([of_health])
        dropped.restore_references()
        for statement in counts(sizes, projects):
            _fill(statement, sizes)
        _finish(statements)


def _prepare() -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # no table is altered of which a row waits to be checked
            for name, value in MEMORY.items():
                cursor.execute(f"SET LOCAL {name} = '{value}'")
        for table, columns in SKELETON.items():
            cursor.execute(f"CREATE TEMPORARY TABLE {table} ({columns})")


def _add(table: str, some: Iterable[tuple[Any, ...]]) -> int:
    """Says how many there were."""
    number = 0
    with connection.cursor() as cursor, _writer(cursor, table) as write:
        rest = iter(some)
        while batch := list(islice(rest, BATCH)):
            write(batch)
            number += len(batch)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {table}")
    return number


@contextmanager
def _writer(cursor: Any, table: str) -> Iterator[Any]:
    if connection.vendor == "postgresql":
        with cursor.copy(f"COPY {table} FROM STDIN") as copy:
            yield lambda batch: [copy.write_row(row) for row in batch]
    else:
        places = ", ".join(["%s"] * (SKELETON[table].count(",") + 1))
        yield lambda batch: cursor.executemany(f"INSERT INTO {table} VALUES ({places})", batch)


def _client() -> Application:
    return Application.objects.create(
        client_id=CLIENT, name="Synthetic client", client_type="public", authorization_grant_type="authorization-code",
        redirect_uris="http://127.0.0.1/callback",
    )  # fmt: skip


def _fill(statement: Statement, sizes: Sizes) -> None:
    for done, sql in statement.sql(Words(sizes).ago("0")):
        with connection.cursor() as cursor:
            cursor.execute(sql)
        tell(f"Filling {statement.table}", done, statement.number, "rows")


def _finish(statements: list[Statement]) -> None:
    models = list(dict.fromkeys([*(statement.model for statement in statements), HealthTimetable]))
    with connection.cursor() as cursor:
        for table in SKELETON:
            cursor.execute(f"DROP TABLE {table}")
        for sql in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(sql)


def vacuum() -> None:
    """As autovacuum would do after a while: only then an index alone tells what rows there are."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "PRAGMA wal_checkpoint(TRUNCATE)")
