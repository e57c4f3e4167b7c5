"""Which keys an installation has, told by fingerprints, and what cannot be read with them."""

from collections.abc import Iterator

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.crypto import salted_hmac

from apps.accounts import second_factors
from apps.net.encryption import DecryptionError, decrypt_credential, secret_keys
from apps.platforms.models import PlatformConnection
from apps.sources.models import SourceCredentials


def fingerprint(key: str) -> str:
    """Eight hexadecimal digits: enough to tell keys apart, too few to learn anything of them."""
    return salted_hmac("porthole.fingerprint", b"", secret=key, algorithm="sha256").hexdigest()[:8]


def fingerprints() -> dict[str, list[str]]:
    """By setting, the newest first, fallbacks behind."""
    return {
        "SECRET_KEY": [fingerprint(key) for key in secret_keys()],
        "ENCRYPTION_KEYS": [fingerprint(key) for key in settings.ENCRYPTION_KEYS],
    }


def missing(needed: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Setting and fingerprint of the keys that were there and are not."""
    present = fingerprints()
    for setting, wanted in needed.items():
        yield from ((setting, found) for found in wanted if found not in present.get(setting, []))


def unreadable_second_factors() -> int:
    """Of how many people."""
    return len({authenticator.user_id for authenticator in second_factors.unreadable()})


def unreadable_credentials() -> int:
    """Of platforms and of git hosts."""
    keys = PlatformConnection.objects.values_list("encrypted_key", flat=True)
    secrets = SourceCredentials.objects.values_list("encrypted_secret", flat=True)
    return sum(not _is_readable(encrypted) for encrypted in (*keys, *secrets))


def _is_readable(encrypted: str) -> bool:
    try:
        decrypt_credential(encrypted)
    except (DecryptionError, ImproperlyConfigured):
        return False
    return True
