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
KEPT = 600.0  # seconds
NOT_AN_ADDRESS = "The platform's URL is no address that may be reached from here."
NOT_A_KEY = "The key has characters that no header can carry."


@dataclass(frozen=True, slots=True)
class _Kept:
    """A connector that may be used again: it remembers what changes seldom. Not for ever: names get new addresses."""

    connector: Connector
    made_for: tuple[str, str, bool]
    made_at: float


_kept: dict[int, _Kept] = {}  # by platform; who uses one takes it out, so that nobody else uses it meanwhile


def connector_of(connection: PlatformConnection) -> Connector:
    """Raises UpstreamError where its key cannot be decrypted or its address may not be reached."""
    kept = _kept.pop(connection.pk, None)
    if kept and kept.made_for == _made_for(connection) and time.monotonic() - kept.made_at < KEPT:
        return kept.connector
    try:
        key = decrypt_credential(connection.encrypted_key)
    except DecryptionError:
        raise UpstreamError(KEY_NOT_READABLE, is_permanent=True) from None
    return connector_for(connection.platform.kind, connection.base_url, key, reads_previews=connection.reads_previews)


def keep(connection: PlatformConnection, connector: Connector) -> None:
    """For the next sync of this process, where this one went well."""
    _kept[connection.pk] = _Kept(connector, _made_for(connection), time.monotonic())


def _made_for(connection: PlatformConnection) -> tuple[str, str, bool]:
    return connection.base_url, connection.encrypted_key, connection.reads_previews


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
