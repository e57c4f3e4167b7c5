"""Makes the installation's catalogue of templates match a file."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.platforms.management.files import manifest_in
from apps.platforms.manifest.reader import only_templates
from apps.platforms.snapshot.apply import apply_catalogue
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Makes the templates that every organization sees match a manifest that holds templates only."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="the catalogue, or - for standard input")

    def handle(self, *, file: str, **options: Any) -> None:
        with self.watching(options["verbosity"]):
            manifest = manifest_in(file)
            if not only_templates(manifest):
                raise CommandError(f"Nothing was changed: {file} must hold templates and nothing else.")
            changes = apply_catalogue(manifest.snapshot)
        self.stdout.write(f"Templates: {changes}.")
