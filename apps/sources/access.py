"""With which of an organization's credentials a repository is asked for, at the moment of asking."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from django.db import DatabaseError, connection

from apps.net.encryption import decrypt_credential
from apps.orgs.models import SourceConnection
from apps.orgs.repositories import GIT_HOSTS
from apps.sources.hosts.credentials import Credentials
from apps.sources.hosts.host import GitHost
from apps.sources.hosts.types import host_of
from apps.sources.models import SourceCredentials

OWN = SourceConnection.OwnCredentials


@dataclass(frozen=True, slots=True)
class Access:
    """`host` is asked with what an operator gave for it; without credentials, as anybody may ask it.

    None where it is not known what kind of host that is.
    """

    host: GitHost | None
    stored: SourceCredentials | None = field(default=None, repr=False)

    def authorization(self) -> str | None:
        """For git's header. Raises HostError."""
        return self.host.authorization() if self.host and self.stored else None

    def note(self, *, works: bool) -> None:
        """What the host said of the credentials. Written down only where it is news."""
        if not works and self.host:
            self.host.forget()
        if self.stored is None or self.stored.connection.own_credentials == (OWN.WORKING if works else OWN.REFUSED):
            return
        with suppress(DatabaseError), _threads_own_connection():
            told = OWN.WORKING if works else OWN.REFUSED
            SourceConnection.objects.filter(pk=self.stored.pk).update(own_credentials=told)


@contextmanager
def _threads_own_connection() -> Iterator[None]:
    """To the database: fetches run in threads that end with them."""
    try:
        yield
    finally:
        if not connection.in_atomic_block:
            connection.close()


def access_to(organization_id: str, connection_id: str, url: str) -> Access:
    """`connection_id` is that of the application's own connection, or empty. Raises DatabaseError, DecryptionError.

    Call it in a thread of its own: it closes the thread's connection to the database.
    """
    with _threads_own_connection():
        stored = _chosen(organization_id, connection_id, url)
    if stored is None:
        return Access(_public_host(url))
    return Access(host_of(stored.connection.type, stored.base_url, credentials_of(stored)), stored)


def credentials_of(stored: SourceCredentials) -> Credentials:
    """Raises DecryptionError."""
    return Credentials(
        kind=stored.kind, secret=decrypt_credential(stored.encrypted_secret), username=stored.username,
        app_id=stored.app_id, installation_id=stored.installation_id,
    )  # fmt: skip


def is_below(url: str, base_url: str) -> bool:
    """Whether a repository's address is one of this host's, its port and its path included."""
    return url.startswith(f"{base_url.rstrip('/')}/")


def _chosen(organization_id: str, connection_id: str, url: str) -> SourceCredentials | None:
    """Those of the application's connection; else of another connection to that host, the default one first."""
    rows = SourceCredentials.objects.filter(connection__organization=organization_id)
    fitting = [row for row in rows.select_related("connection__organization") if is_below(url, row.base_url)]

    def preference(row: SourceCredentials) -> tuple[bool, bool, bool, int, str]:
        source = row.connection
        is_owners = bool(source.account_login) and is_below(url, f"{row.base_url}/{source.account_login}")
        is_default = source.organization.default_connection_id == source.pk
        return source.pk != connection_id, not is_owners, not is_default, -len(row.base_url), source.pk

    return min(fitting, key=preference, default=None)


def _public_host(url: str) -> GitHost | None:
    """Where everybody may ask whether a repository has another name now."""
    for type, base_url in GIT_HOSTS.items():
        if is_below(url, base_url):
            return host_of(type, None, None)
    return None
