"""Connecting an organization to its platform: the key is tried, stored encrypted, and never shown again.

And disconnecting it: the key is deleted at once.
"""

import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from apps.jobs.scheduling import unschedule
from apps.net.encryption import encrypt_credential
from apps.net.outbound import NotAllowed, resolve_allowed, web_destination
from apps.orgs.models import Organization, Platform
from apps.platforms.connector import STATE_PERIOD, Identity
from apps.platforms.models import PlatformConnection
from apps.platforms.snapshot.apply import apply
from apps.platforms.snapshot.base import Snapshot
from apps.platforms.snapshot.purge import KEPT
from apps.platforms.sync.rows import forget_sync
from apps.platforms.tasks import schedule_name, schedule_sync

MAX_KEY = 4096  # characters
Kind = Literal["dokploy", "coolify"]
# What is done with the key where it can write: there are no read-only keys in Dokploy.
ADVICE = {
    "dokploy": (
        "This key can change things in Dokploy, which has no keys that only read. Porthole only reads, but a copy "
        "of it would not: let it belong to a user of its own, a member with the least permissions."
    ),
    "coolify": (
        "This token can change things in Coolify. Porthole only reads, but a copy of the token would not: make one "
        "with the permission read, and connect with that."
    ),
}


UNENCRYPTED = (
    "The URL begins with http:// and leads to a public address: the key and all that is read travel unencrypted, and "
    "whoever is on the way can read them. Give an https:// address, and make a new key."
)


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
    from apps.platforms.connectors import connector_for  # serving processes seldom talk to platforms

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
        if platform.sync_period is None:  # it was disconnected
            platform.sync_period = STATE_PERIOD
            platform.save(update_fields=["sync_period"])
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


def warnings_of(wanted: Wanted, identity: Identity) -> list[str]:
    """What an operator should know of the address and of the key, which work."""
    found = [UNENCRYPTED] if is_unencrypted(clean_address(wanted.base_url)) else []
    return [*found, ADVICE[wanted.kind]] if identity.can_write else found


def is_unencrypted(base_url: str) -> bool:
    """Whether keys travel in clear where others can see them: plain http is fine in a network of one's own."""
    destination = web_destination(base_url)
    if destination.url.startswith("https:"):
        return False
    try:
        resolve_allowed(destination)
    except NotAllowed:  # or it has no address any more
        return False
    return True


def disconnect(platform: Platform) -> str:
    """Deletes the key, and all that was read with it but the applications, which are hidden; says so.

    They are kept as those that vanish by themselves, so that whoever connects the platform again has them whole.
    """
    name = platform.connection.organization_name
    with transaction.atomic():
        # First, as a sync does: either it has ended, or it finds out that it may not write any more.
        Platform.objects.select_for_update(no_key=True).get(pk=platform.pk)
        unschedule(schedule_name(platform.pk))
        PlatformConnection.objects.filter(platform=platform).delete()
        hidden = apply(platform, Snapshot(), allow_deletions=True).hidden
        forget_sync(platform)
        Platform.objects.filter(pk=platform.pk).update(version=None, sync_period=None, detail_period=None)
    return (
        f"Disconnected from {name}. The key is deleted here; delete it there too. Applications that are hidden now: "
        f"{hidden}. Whoever connects it again within {KEPT.days} days has them back, with their history."
    )


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
