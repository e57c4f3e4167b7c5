"""Makes an organization's rows match a manifest."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.orgs.management.named import organization_named
from apps.orgs.models import Platform
from apps.platforms.management.files import manifest_in
from apps.platforms.snapshot.apply import apply


class Command(BaseCommand):
    help = (
        "Makes an organization's rows match a manifest (docs/manifest.md). Running it again with the same file changes "
        "nothing. When anything is wrong with the file, all of it is said and nothing is changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", help="its slug or its id")
        parser.add_argument("file", help="the manifest, or - for standard input")
        parser.add_argument("--check", action="store_true", help="only say what is wrong with the file")

    def handle(self, *, organization: str, file: str, check: bool, **options: Any) -> None:
        owner = organization_named(organization)
        snapshot = manifest_in(file).snapshot
        if check:
            return self.stdout.write(f"{file} is a good manifest.")
        platform, _ = Platform.objects.get_or_create(organization=owner, kind=Platform.Kind.MANIFEST, name="default")
        return self.stdout.write(f"{owner.slug}: {apply(platform, snapshot, is_checked=True)}.")
