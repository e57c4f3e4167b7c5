"""Stands in the way of django-oauth-toolkit's command, which would keep --client-secret in clear."""

from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

REASON = "Clients register themselves here: POST /api/auth/mcp/register (RFC 7591)."


class Command(BaseCommand):
    help = f"Not used. {REASON}"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ignored", nargs="*")

    def handle(self, *args: Any, **options: Any) -> NoReturn:
        raise CommandError(REASON)
