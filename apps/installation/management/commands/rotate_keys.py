"""Encrypts and signs everything that is stored anew, so that earlier keys can be taken away."""

from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from apps.accounts import second_factors, sessions
from apps.net.encryption import DecryptionError, rotate_credential
from apps.orgs.models import Platform, SourceConnection
from apps.platforms.models import PlatformConnection
from apps.sources.models import SourceCredentials
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
        keys = list(PlatformConnection.objects.select_for_update().select_related("platform"))
        for row in keys:
            row.encrypted_key = _rotated(row.encrypted_key, row.platform)
        PlatformConnection.objects.bulk_update(keys, ["encrypted_key"], batch_size=500)
        secrets = list(SourceCredentials.objects.select_for_update().select_related("connection"))
        for source in secrets:
            source.encrypted_secret = _rotated(source.encrypted_secret, source.connection)
        SourceCredentials.objects.bulk_update(secrets, ["encrypted_secret"], batch_size=500)
    return len(keys) + len(secrets)


def _rotated(encrypted: str, of: Platform | SourceConnection) -> str:
    try:
        return rotate_credential(encrypted)
    except DecryptionError:
        raise CommandError(
            f"Nothing was changed: none of ENCRYPTION_KEYS fits the key of {of}, organization {of.organization_id}. "
            "Add the one that it was stored with, or connect it anew."
        ) from None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
