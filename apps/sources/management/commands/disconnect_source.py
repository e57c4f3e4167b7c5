"""Disconnects an organization from a git host."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.sources.connecting import disconnect
from apps.sources.models import SourceCredentials
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Deletes the credentials of a source connection, and what was fetched from its host."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("connection", metavar="ID", help="the connection's id, such as con_…")

    def handle(self, *, connection: str, **options: Any) -> None:
        stored = SourceCredentials.objects.filter(pk=connection).select_related("connection__organization").first()
        if stored is None:
            raise CommandError("There are no credentials of such a connection.")
        self.stdout.write(disconnect(stored.connection))
