"""Writes an organization's rows as a manifest."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.orgs.management.named import organization_named
from apps.orgs.models import Organization, Platform
from apps.platforms.manifest.export import age_of, lines_of, snapshot_of
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Exports an organization's rows of one platform as a manifest, which sync_manifest reads."
    when_stopped = "What was written is not the whole manifest."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", help="its slug or its id")
        parser.add_argument("--output", metavar="FILE", help="default: standard output")
        parser.add_argument("--platform", choices=Platform.Kind.values, default=Platform.Kind.MANIFEST.value)
        parser.add_argument("--name", help="the platform's name, where there are several of one kind")

    def handle(self, *, organization: str, output: str | None, platform: str, name: str | None, **options: Any) -> None:
        owner = organization_named(organization)
        chosen = _platform(owner, platform, name)
        lines = lines_of(snapshot_of(chosen), age_of(chosen))
        if output is None:
            for some in lines:
                self.stdout.write(some, ending="")
            return
        try:
            with Path(output).open("w", encoding="utf-8", newline="\n") as opened:
                opened.writelines(lines)
        except OSError as error:
            raise CommandError(f"{output} cannot be written: {error.strerror}.") from None
        self.stdout.write(f"Wrote {output}.")


def _platform(owner: Organization, kind: str, name: str | None) -> Platform:
    platforms = Platform.objects.filter(organization=owner, kind=kind)
    found = list(platforms if name is None else platforms.filter(name=name))
    if not found:
        raise CommandError(f"{owner.slug} has no {kind} platform{f' named {name}' if name else ''}.")
    if len(found) > 1:
        raise CommandError(f"{owner.slug} has {len(found)} {kind} platforms: choose one with --name.")
    return found[0]
