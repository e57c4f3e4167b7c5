"""Indexes and constraints of tables that much is put in: away before, and made anew after, which is many times faster.

PostgreSQL only, in one transaction: whatever goes wrong, they are there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import connection

from apps.web.progress import tell

CONSTRAINTS = """
SELECT conrelid::regclass::text, conname, contype::text, pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = ANY('{u,p,f}') AND (conrelid = ANY(%s::regclass[]) OR confrelid = ANY(%s::regclass[]))
ORDER BY contype = 'p' DESC, contype = 'u' DESC, conname
"""
INDEXES = """
SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) FROM pg_index i
WHERE i.indrelid = ANY(%s::regclass[]) AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
ORDER BY 2
"""


@dataclass(slots=True)
class Dropped:
    """What is to be made again: by table its keys and its indexes, and the references between tables."""

    of_tables: dict[str, list[str]] = field(default_factory=dict)
    references: list[str] = field(default_factory=list)

    def restore(self, tables: Sequence[str]) -> None:
        """All of these tables, which then are ready to be read."""
        statements = [(table, sql) for table in tables for sql in self.of_tables.pop(table, [])]
        for number, (table, sql) in enumerate(statements):
            tell(f"Indexing {table}", number, len(statements), "indexes")
            _execute(sql)
        for table in tables:
            _execute(f"ANALYZE {table}")

    def restore_references(self) -> None:
        for number, sql in enumerate(self.references):
            tell("Checking references", number, len(self.references), "columns")
            _execute(sql)


def drop(tables: Sequence[str]) -> Dropped:
    """Drops the indexes, keys and references of these tables; not their checks."""
    dropped = Dropped()
    if connection.vendor != "postgresql":
        return dropped
    with connection.cursor() as cursor:
        cursor.execute(CONSTRAINTS, [list(tables), list(tables)])
        constraints = cursor.fetchall()
        cursor.execute(INDEXES, [list(tables)])
        indexes = cursor.fetchall()
    for table, name, kind, definition in constraints:
        statement = f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}'
        dropped.references.append(statement) if kind == "f" else dropped.of_tables.setdefault(table, []).append(
            statement
        )
    for table, _, definition in indexes:
        dropped.of_tables.setdefault(table, []).append(definition)
    for table, name, _, _ in reversed(constraints):  # references first, then what they refer to
        _execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    for _, index, _ in indexes:
        _execute(f"DROP INDEX {index}")
    return dropped


def _execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
