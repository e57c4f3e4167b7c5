"""Which connector reads a platform: the one place that knows the systems."""

import time
from dataclasses import dataclass

from apps.net.encryption import DecryptionError, decrypt_credential
from apps.net.http import HttpError
from apps.platforms.connector import Connector, UpstreamError
from apps.platforms.coolify.connector import CoolifyConnector
from apps.platforms.dokploy.connector import DokployConnector
from apps.platforms.models import PlatformConnection

KEY_NOT_READABLE = (
    "None of ENCRYPTION_KEYS fits the key that is stored for this platform. Add the one that it was stored with, or "
    "connect the platform anew."
)
KEPT = 600.0  # seconds since it was used last
NOT_AN_ADDRESS = "The platform's URL is no address that may be reached from here."
NOT_A_KEY = "The key has characters that no header can carry."


@dataclass(slots=True)
class _Kept:
    """A connector that may be used again: it remembers what changes seldom."""

    connector: Connector
    made_for: tuple[str, str, bool]
    is_used: bool = True
    used_at: float = 0.0


_kept: dict[int, _Kept] = {}  # by platform


def connector_of(connection: PlatformConnection) -> Connector:
    """The platform's own, for one sync at a time: `release` it afterwards.

    Raises UpstreamError where its key cannot be decrypted or its address may not be reached.
    """
    made_for = connection.base_url, connection.encrypted_key, connection.reads_previews
    kept = _kept.get(connection.pk)
    if kept and not kept.is_used and kept.made_for == made_for:
        kept.is_used = True
        return kept.connector
    connector = _made(connection)
    _kept[connection.pk] = _Kept(connector, made_for)
    return connector


def release(connection: PlatformConnection, *, is_good: bool) -> None:
    """For the next sync of this process, where this one went well."""
    kept = _kept.get(connection.pk)
    if kept and is_good:
        kept.is_used, kept.used_at = False, time.monotonic()
    else:
        _kept.pop(connection.pk, None)
    for pk, other in list(_kept.items()):  # also of platforms that were disconnected: they hold keys
        if not other.is_used and time.monotonic() - other.used_at > KEPT:
            _kept.pop(pk, None)


def _made(connection: PlatformConnection) -> Connector:
    try:
        key = decrypt_credential(connection.encrypted_key)
    except DecryptionError:
        raise UpstreamError(KEY_NOT_READABLE, is_permanent=True) from None
    return connector_for(connection.platform.kind, connection.base_url, key, reads_previews=connection.reads_previews)


def connector_for(kind: str, base_url: str, key: str, *, reads_previews: bool = False) -> Connector:
    """Raises UpstreamError where the address is none. Nothing is called yet."""
    try:
        if kind == "coolify":
            return CoolifyConnector(base_url, key, reads_previews=reads_previews)
        return DokployConnector(base_url, key)
    except HttpError:
        raise UpstreamError(NOT_AN_ADDRESS, is_permanent=True) from None
    except ValueError:
        raise UpstreamError(NOT_A_KEY, is_permanent=True) from None
