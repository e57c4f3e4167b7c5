"""Encrypts and signs everything that is stored anew, so that earlier keys can be taken away."""

from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from apps.accounts import second_factors, sessions
from apps.net.encryption import DecryptionError, rotate_credential
from apps.platforms.models import PlatformConnection
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Encrypts all stored credentials with the first of ENCRYPTION_KEYS, and second factors and sessions with "
        "SECRET_KEY. Run it when every process has the new key; afterwards the others can be taken away."
    )

    def handle(self, **options: Any) -> None:
        self.stdout.write(f"{_count(_rotate_credentials(), 'credential')} encrypted with the newest key.")
        self.stdout.write(f"{_count(second_factors.rotate(), 'second factor')} encrypted with SECRET_KEY.")
        self.stdout.write(f"{_count(sessions.rotate(), 'session')} signed with SECRET_KEY.")
        if unreadable := {authenticator.user.email for authenticator in second_factors.unreadable()}:
            raise CommandError(
                "Neither SECRET_KEY nor SECRET_KEY_FALLBACKS reads the second factor of "
                f"{', '.join(sorted(unreadable))}. Add the key that it was stored with, and run this again; or remove "
                "it with remove_second_factor."
            )


def _rotate_credentials() -> int:
    with transaction.atomic():
        connections = list(PlatformConnection.objects.select_for_update().select_related("platform"))
        for connection in connections:
            connection.encrypted_key = _rotated(connection)
        PlatformConnection.objects.bulk_update(connections, ["encrypted_key"], batch_size=500)
    return len(connections)


def _rotated(connection: PlatformConnection) -> str:
    try:
        return rotate_credential(connection.encrypted_key)
    except DecryptionError:
        raise CommandError(
            f"Nothing was changed: none of ENCRYPTION_KEYS fits the key of {connection.platform}, organization "
            f"{connection.platform.organization_id}. Add the one that it was stored with, or connect it anew."
        ) from None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
