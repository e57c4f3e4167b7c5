"""Indexes in which PostgreSQL finds a part of a name, in an organization of 100,000 as fast as of 50 apps.

They need two extensions that come with PostgreSQL, which the owner of a database may create where they are installed.
Without them searches find the same, by reading all names of the organization.
"""

from typing import Any

from django.db import DatabaseError, connections, transaction

EXTENSIONS = ("pg_trgm", "btree_gin")
# By name: the table. The organization comes first, so that others' rows cost nothing.
INDEXES = {"app_search": "orgs_app", "project_search": "orgs_project"}
MISSING = """
SELECT name FROM unnest(%s::text[]) AS name WHERE to_regclass(quote_ident(name)) IS NULL
"""


def missing_indexes(using: str = "default") -> list[str]:
    """Those that are not there yet; none on SQLite, which has nothing of the kind."""
    connection = connections[using]
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(MISSING, [list(INDEXES)])
        return [name for (name,) in cursor.fetchall()]


def add_indexes(sender: Any = None, using: str = "default", **_: Any) -> None:
    """Adds what is missing, if it may. Receives Django's post_migrate: so whoever migrates once more gets them."""
    missing = missing_indexes(using)
    if not missing or not _has_tables(using):
        return
    try:
        with transaction.atomic(using=using), connections[using].cursor() as cursor:
            for extension in EXTENSIONS:
                cursor.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
            for name in missing:
                # Without a list of what is yet to be sorted in, which every search would have to read.
                cursor.execute(
                    f"CREATE INDEX {name} ON {INDEXES[name]} USING gin (organization_id, search_key gin_trgm_ops) "
                    "WITH (fastupdate = off)"
                )
    except DatabaseError as error:
        if not _is_refusal(error):
            raise


def _has_tables(using: str) -> bool:
    """Not yet, or no more, where somebody migrates to another point than the last."""
    connection = connections[using]
    with connection.cursor() as cursor:
        return set(INDEXES.values()) <= set(connection.introspection.table_names(cursor))


def _is_refusal(error: DatabaseError) -> bool:
    """Not allowed, or not installed."""
    return getattr(error.__cause__, "sqlstate", None) in ("42501", "58P01", "0A000")
