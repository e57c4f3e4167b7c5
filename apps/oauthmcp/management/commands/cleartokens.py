"""Deletes expired codes, tokens and authorizations, and clients that were never authorized.

It has the name of django-oauth-toolkit's command, so that nobody runs that one: it selects tokens by columns that
ours do not have.
"""

from typing import Any

from django.utils import timezone

from apps.oauthmcp.pruning import prune
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    when_stopped = "What was deleted stays deleted; the rest is left."
    help = (
        "Deletes expired codes and tokens, authorizations that ended over 30 days ago, and clients that registered "
        "over 30 days ago and were never authorized. Safe to run at any time; workers do it once a day."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        for name, deleted in prune(timezone.now()):
            self.stdout.write(f"{name}: {deleted} deleted")
