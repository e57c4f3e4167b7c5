"""Which tables there are after which migrations. Names of tables and columns come from here, never from a file."""

from typing import Any

from django.apps import apps as current_apps
from django.db import connection, models, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from apps.installation.backups.file import BadBackup

Migration = tuple[str, str]
# What is stored beside models' tables, and is made anew: what migrations are applied, and what is counted and cached.
BESIDE = ("django_migrations", "porthole_cache")


class Schema:
    """The tables after these migrations, whatever the database has now."""

    def __init__(self, migrations: set[Migration]) -> None:
        """Raises BadBackup where this version does not know them all."""
        self.migrations = migrations
        graph = MigrationExecutor(connection).loader.graph
        if unknown := sorted(migrations - graph.nodes.keys()):
            raise BadBackup(
                f"It is of a newer version of Porthole: this one does not know {'.'.join(unknown[0])}. "
                "Use the version that it is of, or a newer one."
            )
        parents = {node: {parent.key for parent in graph.node_map[node].parents} for node in migrations}
        if any(not keys <= migrations for keys in parents.values()):
            raise BadBackup("The backup is damaged: it names migrations that cannot be applied like this.")
        self.is_current = migrations == graph.nodes.keys()
        inner = {parent for node, keys in parents.items() for parent in keys if parent[0] == node[0]}
        self.leaves = sorted(migrations - inner)

    def tables(self) -> dict[str, type[models.Model]]:
        """By the names of their tables."""
        state: Any = current_apps
        if not self.is_current:
            state = MigrationExecutor(connection).loader.project_state(self.leaves).apps
        found = state.get_models(include_auto_created=True)
        return {model._meta.db_table: model for model in found if model._meta.managed and not model._meta.proxy}

    def fields(self) -> dict[str, dict[str, models.Field]]:
        """By table and column."""
        return {
            table: {str(field.column): field for field in model._meta.local_concrete_fields if not field.generated}
            for table, model in sorted(self.tables().items())
        }


def of_database() -> Schema | None:
    """As it is now; None where there are no tables yet."""
    applied = set(MigrationRecorder(connection).applied_migrations())
    return Schema(applied) if applied else None


def rebuild(schema: Schema) -> None:
    """Drops every table there is, and makes those of `schema`, empty but for what migrations put there."""
    quote = connection.ops.quote_name
    if (present := of_database()) is not None:
        names = {*present.tables(), *BESIDE} & set(connection.introspection.table_names())
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute(f"DROP TABLE {', '.join(map(quote, sorted(names)))}")
            else:
                for name in sorted(names):
                    cursor.execute(f"DROP TABLE {quote(name)}")
    migrate(schema.leaves)
    if set(MigrationRecorder(connection).applied_migrations()) != schema.migrations:
        raise BadBackup("The backup is damaged: it names migrations that cannot be applied like this.")


def migrate(targets: list[Migration]) -> None:
    with transaction.atomic():
        MigrationExecutor(connection).migrate(targets)
