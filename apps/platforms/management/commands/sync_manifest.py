"""Makes an organization's rows match a manifest."""

from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from apps.orgs.management.named import organization_named
from apps.orgs.models import Organization, Platform
from apps.platforms.management.files import manifest_in
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import Plan, apply, plan
from apps.platforms.snapshot.differences import Changes
from apps.platforms.snapshot.hiding import TooManyDeletions
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Makes an organization's rows match a manifest (docs/manifest.md). Running it again with the same file changes "
        "nothing. When anything is wrong with the file, all of it is said and nothing is changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", help="its slug or its id")
        parser.add_argument("file", help="the manifest, or - for standard input")
        way = parser.add_mutually_exclusive_group()
        way.add_argument("--check", action="store_true", help="only say what is wrong with the file")
        way.add_argument("--plan", action="store_true", help="only say what would be written")
        way.add_argument(
            "--allow-deletions", action="store_true", help="go on where half of the applications or more would be gone"
        )

    def handle(
        self, *, organization: str, file: str, check: bool, plan: bool, allow_deletions: bool, **options: Any
    ) -> None:
        owner = organization_named(organization)
        manifest = manifest_in(file)
        snapshot, age = manifest.snapshot, (manifest.as_of, manifest.stale_after)
        if check:
            return self.stdout.write(f"{file} is a good manifest.")
        if plan:
            return self.stdout.write("\n".join(_told(owner, _planned(owner, snapshot))))
        try:
            platform = _platform(owner)
            changes = apply(platform, snapshot, is_checked=True, allow_deletions=allow_deletions, age=age)
        except TooManyDeletions as refused:
            raise CommandError(_refusal(refused)) from None
        return self.stdout.write(f"{owner.slug}: {changes}.")


def _platform(owner: Organization) -> Platform:
    platform, _ = Platform.objects.get_or_create(organization=owner, kind=Platform.Kind.MANIFEST, name="default")
    return platform


def _planned(owner: Organization, snapshot: base.Snapshot) -> Plan:
    with transaction.atomic():
        planned = plan(_platform(owner), snapshot)
        transaction.set_rollback(True)  # a platform that was not there either
    return planned


def _told(owner: Organization, planned: Plan) -> Iterator[str]:
    total = sum(planned.changes.values(), Changes())
    yield f"{owner.slug}: {total}, if this file is synced. Nothing was written."
    for collection, changes in planned.changes.items():
        if changes != Changes():
            yield f"  {collection.replace('_', ' ')}: {changes}"
    yield from (f"  would be hidden: {name}" for name in planned.hidden)
    if planned.refused:
        yield f"It needs --allow-deletions: {planned.refused}."


def _refusal(refused: TooManyDeletions) -> str:
    return (
        f"Nothing was changed: {refused}, counting those of the last 24 hours. `--plan` names them; where that is "
        "what you want, add --allow-deletions."
    )
