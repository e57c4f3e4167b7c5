"""Makes an organization's rows match a manifest."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from apps.orgs.management.named import organization_named
from apps.orgs.models import Organization, Platform
from apps.platforms.management.files import manifest_in
from apps.platforms.manifest.reader import Manifest
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
        with self.watching(options["verbosity"]):
            manifest = manifest_in(file)
            if check:
                said = f"{file} is a good manifest."
            elif plan:
                said = "\n".join(_told(owner, _planned(owner, manifest.snapshot)))
            else:
                said = f"{owner.slug}: {self._applied(owner, manifest, allow_deletions)}."
        self.stdout.write(said)

    def _applied(self, owner: Organization, manifest: Manifest, allow_deletions: bool) -> Changes:
        platform, is_new = _platform(owner)
        synced_at = platform.last_sync_at
        age = manifest.as_of, manifest.stale_after
        try:
            return apply(platform, manifest.snapshot, is_checked=True, allow_deletions=allow_deletions, age=age)
        except TooManyDeletions as refused:
            raise CommandError(_refusal(refused)) from None
        except KeyboardInterrupt:
            self.when_stopped = _left(platform, is_new, synced_at)
            raise


def _platform(owner: Organization) -> tuple[Platform, bool]:
    return Platform.objects.get_or_create(organization=owner, kind=Platform.Kind.MANIFEST, name="default")


def _left(platform: Platform, is_new: bool, synced_at: datetime | None) -> str:
    """What a sync that was stopped has left: it may have been over. A platform that it made goes with it."""
    if Platform.objects.get(pk=platform.pk).last_sync_at != synced_at:
        return "By then everything was written."
    if is_new:
        platform.delete()
    return DatabaseCommand.when_stopped


def _planned(owner: Organization, snapshot: base.Snapshot) -> Plan:
    with transaction.atomic():
        planned = plan(_platform(owner)[0], snapshot)
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
