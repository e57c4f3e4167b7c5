"""Whether the database has the tables of this release."""

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from apps.web.once import Once

NO_TABLES = "The database has no tables yet: run manage.py migrate."
_have_been_there = False  # stays true for this process: migrations come before what needs them


def what_is_missing() -> str | None:
    """A sentence for operators, or None. Migrations of a newer release do no harm. Raises what the database says."""
    global _have_been_there  # noqa: PLW0603  (see above)
    if _have_been_there:
        return None
    applied = MigrationRecorder(connection).applied_migrations()
    if not applied:
        return NO_TABLES
    if missing := len(set(migrations()) - set(applied)):
        count = "a migration" if missing == 1 else f"{missing} migrations"
        return f"The database lacks {count} of this release: run manage.py migrate."
    _have_been_there = True
    return None


@Once
def migrations() -> list[tuple[str, str]]:
    """Application and name of each. Reading them imports more than a hundred modules."""
    return list(MigrationLoader(None).graph.nodes)
