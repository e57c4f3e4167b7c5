"""What commands that need the database have in common: what they say where it is away or lacks tables, or on Ctrl-C."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseError

from apps.web.database_errors import is_unavailable, what_failed
from apps.web.management.progress_line import progress_shown
from apps.web.tables import NO_TABLES, what_is_missing

STOPPED = 130  # the exit status of what SIGINT has ended, as shells have it


class DatabaseCommand(BaseCommand):
    """Says in one sentence why it cannot run, and that it was stopped. What reads or writes rows is one.

    `waits_for_database`: it goes on where the database does not answer, since it waits by itself.
    `takes_earlier_tables`: it also works with the tables of an earlier release.
    """

    requires_migrations_checks = True
    waits_for_database = False
    takes_earlier_tables = False
    when_stopped = "Nothing was changed."

    def watching(self, verbosity: int) -> AbstractContextManager[None]:
        """While it lasts, standard error shows how far the work has got."""
        return progress_shown(self.stderr) if verbosity else nullcontext()

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except KeyboardInterrupt:
            raise CommandError(f"Stopped. {self.when_stopped}", returncode=STOPPED) from None
        except DatabaseError as error:
            if not is_unavailable(error):
                raise
            raise CommandError(f"The database is not available any more ({what_failed(error)}).") from error

    def check_migrations(self) -> None:
        """Django calls it before `handle`; its own only warns. Raises CommandError."""
        try:
            problem = what_is_missing()
        except DatabaseError as error:
            if self.waits_for_database:
                return
            raise CommandError(f"The database does not answer: {_reason(error)}. DATABASE_URL names it.") from error
        if problem == NO_TABLES or (problem and not self.takes_earlier_tables):
            raise CommandError(problem)


def _reason(error: DatabaseError) -> str:
    """Its first line. It names hosts and users, never a password."""
    return str(error).strip().partition("\n")[0].removeprefix("connection failed: ").rstrip(".")
