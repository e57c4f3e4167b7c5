"""Connecting an organization to a git host: credentials are tried, stored encrypted, and never shown again.

And disconnecting it: they are deleted at once, with what was fetched with them.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.utils import timezone

from apps.net.encryption import encrypt_credential
from apps.net.outbound import NotAllowed, https_destination
from apps.orgs.models import App, Organization, SourceConnection
from apps.orgs.repositories import GIT_HOSTS, clone_url
from apps.sources.access import OWN, is_below
from apps.sources.git.mirrors import remove_mirror
from apps.sources.git.probing import can_read
from apps.sources.hosts.credentials import Credentials
from apps.sources.hosts.host import Account, GitHost, HostError
from apps.sources.hosts.types import host_of
from apps.sources.models import SourceCredentials

TRIED = 3  # repositories of the organization's applications


class NotConnected(Exception):
    """What an operator gave cannot be used; the sentence says why, and repeats nothing of a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What an operator gives. `connection` is one that a platform told of, or that is to get other credentials."""

    organization: Organization
    type: str
    credentials: Credentials = field(repr=False)
    base_url: str | None = None
    name: str = ""
    connection: SourceConnection | None = None
    is_default: bool = False


@dataclass(frozen=True, slots=True)
class Tried:
    """Whose credentials they are, and which repositories of the organization's applications git reads with them."""

    account: Account
    host: GitHost
    readable: tuple[str, ...]
    refused: tuple[str, ...]

    @property
    def is_certain(self) -> bool:
        """Whether anything at all has shown that they work."""
        return bool(self.account.login or self.account.repositories or self.readable)


def try_credentials(wanted: Wanted) -> Tried:
    """Asks the host whose they are, and git for a few repositories. Nothing is stored. Raises NotConnected."""
    try:
        host = host_of(wanted.type, wanted.base_url or None, wanted.credentials)
        account = host.account()
        authorization = host.authorization()
    except HostError as error:
        raise NotConnected(str(error)) from None
    urls = list(dict.fromkeys(url for url, _ in _repositories(wanted.organization, host.base_url)))[:TRIED]
    results = {url: can_read(url, authorization) for url in urls}
    readable = tuple(url for url, is_readable in results.items() if is_readable)
    tried = Tried(account, host, readable, tuple(url for url in results if url not in readable))
    if tried.refused and not tried.is_certain:
        raise NotConnected("The host does not let these credentials read the repositories of the applications.")
    return tried


def store(wanted: Wanted, tried: Tried) -> SourceConnection:
    """Makes the connection, or gives it other credentials. Raises NotConnected."""
    given = wanted.credentials
    try:
        encrypted = encrypt_credential(given.secret)
    except ImproperlyConfigured as error:
        raise NotConnected(str(error)) from None
    with transaction.atomic():
        connection = _connection(wanted, tried)
        SourceCredentials.objects.update_or_create(
            connection=connection,
            defaults={
                "kind": given.kind, "base_url": tried.host.base_url, "username": given.username,
                "app_id": given.app_id, "installation_id": given.installation_id, "encrypted_secret": encrypted,
                "can_write": tried.account.can_write, "expires_at": tried.account.expires_at,
                "checked_at": timezone.now(),
            },
        )  # fmt: skip
        if wanted.is_default:
            wanted.organization.default_connection = connection
            wanted.organization.save(update_fields=["default_connection"])
    return connection


def lines_of(tried: Tried) -> list[str]:
    """What can be read, for people."""
    lines = []
    if names := tried.account.repositories:
        lines.append(f"Repositories: {', '.join(names)}{', and more' if tried.account.has_more else ''}.")
    if tried.readable:
        lines.append(f"Tried with git, and read: {', '.join(tried.readable)}.")
    return lines


def warnings_of(tried: Tried) -> list[str]:
    """What an operator should know of credentials that work."""
    found = []
    if tried.account.can_write:
        found.append(
            "These credentials can change things at the git host. Porthole only reads, but a copy of them would not: "
            "make some that only read the contents of repositories, and connect with those."
        )
    if not tried.is_certain:
        found.append(
            "The host tells nothing of these credentials, and no application here has a repository there: whether they "
            "work shows when one is read."
        )
    if tried.account.expires_at:
        found.append(f"They end on {tried.account.expires_at:%Y-%m-%d}: connect with others before.")
    found += [f"{url} cannot be read with them." for url in tried.refused]
    return found


def disconnect(connection: SourceConnection) -> str:
    """Deletes the credentials and all that was fetched of this host; a connection of no platform goes too. Says so."""
    stored = SourceCredentials.objects.get(connection=connection)
    repositories = set(_repositories(connection.organization, stored.base_url))
    with transaction.atomic():
        stored.delete()
        if connection.platform_id is None:
            connection.delete()
        else:
            connection.own_credentials = OWN.NONE
            connection.save(update_fields=["own_credentials"])
    for url, connection_id in repositories:
        remove_mirror(url, f"{connection.organization_id}:{connection_id}")
    return f"Disconnected from {stored.base_url}. The credentials are deleted here; delete them there too."


def _connection(wanted: Wanted, tried: Tried) -> SourceConnection:
    if connection := wanted.connection:
        connection.own_credentials = OWN.WORKING
        connection.save(update_fields=["own_credentials"])
        return connection
    base_url = tried.host.base_url
    login = (tried.account.login or "")[:100] or None
    return SourceConnection.objects.create(
        organization=wanted.organization,
        type=wanted.type,
        name=(wanted.name or login or base_url.partition("://")[2])[:100],
        account_login=login,
        base_url=None if base_url == GIT_HOSTS.get(wanted.type) else base_url,
        credentials=SourceConnection.Credentials.MISSING,
        own_credentials=OWN.WORKING,
    )


def _repositories(organization: Organization, base_url: str) -> Iterator[tuple[str, str]]:
    """Of the organization's applications at a host: the address, and the id of the application's connection or ""."""
    apps = App.objects.filter(organization=organization, repository__isnull=False).order_by("sort_key", "id")
    columns = "source_type", "repository", "connection__base_url", "connection_id"
    for source_type, repository, own_base_url, connection_id in apps.values_list(*columns).iterator():
        with suppress(NotAllowed):
            url = https_destination(clone_url(source_type, repository, own_base_url) or "").url
            if is_below(url, base_url):
                yield url, connection_id or ""
