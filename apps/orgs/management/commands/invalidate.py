"""Tells clients that an organization's rows have changed, where something wrote them past the ORM."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from apps.orgs.management.named import organization_named
from apps.orgs.versions import raise_data_version
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Raises an organization's data version. Needed only after rows were changed by hand, with SQL."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("organization", help="its slug or its id")

    def handle(self, *, organization: str, **options: Any) -> None:
        owner = organization_named(organization)
        with transaction.atomic():
            raise_data_version(owner.pk)
        self.stdout.write(f"{owner.slug}: what was answered before counts as changed.")
