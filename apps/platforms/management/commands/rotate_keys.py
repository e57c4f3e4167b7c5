"""Encrypts every stored credential anew."""

from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from apps.net.encryption import DecryptionError, rotate_credential
from apps.platforms.models import PlatformConnection
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Encrypts all stored credentials with the first of ENCRYPTION_KEYS. Afterwards the others can be taken away."

    def handle(self, **options: Any) -> None:
        with transaction.atomic():
            connections = list(PlatformConnection.objects.select_for_update().select_related("platform"))
            for connection in connections:
                connection.encrypted_key = _rotated(connection)
            PlatformConnection.objects.bulk_update(connections, ["encrypted_key"], batch_size=500)
        count = len(connections)
        self.stdout.write(f"{count} credential{'' if count == 1 else 's'} encrypted with the newest key.")


def _rotated(connection: PlatformConnection) -> str:
    try:
        return rotate_credential(connection.encrypted_key)
    except DecryptionError:
        raise CommandError(
            f"Nothing was changed: none of ENCRYPTION_KEYS fits the key of {connection.platform}, organization "
            f"{connection.platform.organization_id}. Add the one that it was stored with, or connect it anew."
        ) from None
