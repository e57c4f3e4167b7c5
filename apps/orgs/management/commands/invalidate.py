"""Tells processes and clients that rows have changed, where something wrote them past the ORM."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from apps.orgs.management.named import organization_named
from apps.orgs.versions import raise_checks_version, raise_data_version
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Lets what was answered before count as changed. Needed only after rows were changed by hand, with SQL: "
        "answers are kept as long as an organization's versions stay the same."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", nargs="?", help="its slug or its id")
        parser.add_argument("--catalogue", action="store_true", help="the installation's own templates")

    def handle(self, *, organization: str | None, catalogue: bool, **options: Any) -> None:
        if organization is None and not catalogue:
            raise CommandError("Name an organization, or --catalogue.")
        with transaction.atomic():
            if organization is not None:
                owner = organization_named(organization)
                raise_data_version(owner.pk)
                raise_checks_version(owner.pk)
                self.stdout.write(f"{owner.slug}: what was answered before counts as changed.")
            if catalogue:
                raise_data_version(None)
                self.stdout.write("Templates: what was answered before counts as changed.")
