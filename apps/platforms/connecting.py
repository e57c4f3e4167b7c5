"""Connecting an organization to its platform: the key is tried, stored encrypted, and never shown again."""

import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from apps.net.encryption import encrypt_credential
from apps.orgs.models import Organization, Platform
from apps.platforms.connector import Identity
from apps.platforms.connectors import connector_for
from apps.platforms.models import PlatformConnection
from apps.platforms.sync.run import STATE_PERIOD
from apps.platforms.tasks import schedule_sync

MAX_KEY = 4096  # characters
Kind = Literal["dokploy", "coolify"]
# What is done with the key where it can write: there are no read-only keys in Dokploy.
ADVICE = {
    "dokploy": (
        "This key can change things in Dokploy. Porthole only reads, but a copy of the key would not: make a user with "
        "the role member and the least permissions for Porthole, and connect with a key of that user."
    ),
    "coolify": (
        "This token can change things in Coolify. Porthole only reads, but a copy of the token would not: make one "
        "with the permission read, and connect with that."
    ),
}


class NotConnected(Exception):
    """What an operator gave cannot be used; the sentence says why, and repeats nothing of a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What an operator gives. `key` is the platform's API key or token."""

    organization: Organization
    kind: Kind
    base_url: str
    key: str = field(repr=False)
    name: str = "default"
    reads_previews: bool = False


def try_key(wanted: Wanted) -> Identity:
    """Asks the platform whose key it is. Raises NotConnected or UpstreamError; nothing is stored."""
    address, key = clean_address(wanted.base_url), clean_key(wanted.key)
    connector = connector_for(wanted.kind, address, key, reads_previews=wanted.reads_previews)
    return connector.identify()


def store(wanted: Wanted, identity: Identity, *, at_once: bool = False) -> PlatformConnection:
    """Makes the platform or gives it a new key, and lets a worker sync it from now on. Raises NotConnected."""
    with transaction.atomic():
        platform, _ = Platform.objects.get_or_create(
            organization=wanted.organization,
            kind=wanted.kind,
            name=wanted.name,
            defaults={"sync_period": STATE_PERIOD},
        )
        _refuse_other_organization(platform, identity)
        connection, _ = PlatformConnection.objects.update_or_create(
            platform=platform,
            defaults={
                "base_url": clean_address(wanted.base_url),
                "encrypted_key": _encrypted(clean_key(wanted.key)),
                "organization_key": identity.organization_key,
                "organization_name": identity.organization_name[:200],
                "role": None if identity.role is None else identity.role[:50],
                "can_write": identity.can_write,
                "reads_previews": wanted.reads_previews,
                "last_error": None,
            },
        )
        schedule_sync(platform.pk, at_once=at_once)
    return connection


def clean_address(address: str) -> str:
    """`https://host[:port][/path]` without a slash at the end. Raises NotConnected."""
    address = address.strip().rstrip("/")
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    if not is_address or "@" in parts.netloc or re.search(r"[?#\s\\]", address) or len(address) > 500:
        raise NotConnected("The URL must be like https://deploy.example.com, without a user name.")
    return address


def clean_key(key: str) -> str:
    key = key.strip()
    if not key or len(key) > MAX_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise NotConnected("The key must be one line of visible characters.")
    return key


def _encrypted(key: str) -> str:
    try:
        return encrypt_credential(key)
    except ImproperlyConfigured as error:
        raise NotConnected(str(error)) from None


def _refuse_other_organization(platform: Platform, identity: Identity) -> None:
    """Rows of two organizations must not take each other's place."""
    stored = PlatformConnection.objects.filter(platform=platform).values_list("organization_key", flat=True).first()
    if stored is not None and stored != identity.organization_key:
        raise NotConnected(
            "This platform is connected to another organization there. Give the new connection another name."
        )
