"""Connects an organization to Coolify."""

from django.core.management.base import CommandParser

from apps.platforms.management.connect import ConnectCommand


class Command(ConnectCommand):
    help = "Connects an organization to Coolify (docs/coolify.md): checks the token, stores it encrypted, and syncs."
    kind = "coolify"
    key_option = "--token-file"
    key_help = "a file with the API token, or - for standard input"

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--previews", action="store_true", help="list previews too, with Coolify's MCP server (4.3 or newer)"
        )
