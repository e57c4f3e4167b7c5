"""From a URL that rows name to something that git may be told to fetch, and where that is now."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError

from apps.net.encryption import DecryptionError
from apps.net.outbound import HOST_NAME, Destination, NotAllowed, https_destination, resolve_allowed
from apps.sources.git import stamps
from apps.sources.git.fetch import AccessDenied, FetchFailed, RefMissing, Remote
from apps.sources.git.problems import no_repository

if TYPE_CHECKING:  # what talks to hosts is loaded when one is talked to
    from apps.sources.access import Access

MOVED = "moved.json"  # in a mirror's folder
MOVED_FOR = 24 * 3600.0  # seconds: then the first address is tried again


@dataclass(frozen=True, slots=True)
class Source:
    """A repository as rows name it, and how git is to fetch it now: at another address where it has moved.

    `access` is None where nothing is known of its host.
    """

    remote: Remote
    access: "Access | None"
    url: str

    @contextmanager
    def noting(self) -> Iterator[None]:
        """What the host says of the credentials in it is noted."""
        try:
            yield
        except AccessDenied as refusal:
            if refusal.is_certain:
                self._note(works=False)
            raise
        except RefMissing:
            self._note(works=True)
            raise
        self._note(works=True)

    def _note(self, *, works: bool) -> None:
        if self.access:
            self.access.note(works=works)

    def moved_to(self) -> str | None:
        """Its address at the same host, where the host's API knows another one. Raises FetchFailed."""
        from apps.sources.hosts.host import HostError

        if self.access is None or self.access.host is None:
            return None
        host = self.access.host
        try:
            name = host.current_name(self.url.removeprefix(f"{host.base_url}/").removesuffix(".git"))
            moved = https_destination(f"{host.base_url}/{name}.git").url if name else None
        except (HostError, NotAllowed) as error:
            raise FetchFailed(str(error)) from None
        is_there = moved is not None and urlsplit(moved).netloc == urlsplit(self.url).netloc
        return moved if is_there else None


def source_of(url: str, key: str, folder: Path) -> Source:
    """`key` is "organization:connection", as in mirrors.Mirror. Raises FetchFailed.

    The only way from a URL to something that git is told to fetch: https, at addresses that were checked.
    """
    from apps.sources.access import access_to
    from apps.sources.hosts.host import Forbidden, HostError, NotThere, Unauthorized, Unprocessable

    organization, _, connection = key.partition(":")
    try:
        access = access_to(organization, connection, url)
    except (DatabaseError, DecryptionError, HostError):
        raise FetchFailed("The stored credentials could not be used.") from None
    try:
        return Source(remote_of(_moved(folder) or url, access.authorization()), access, url)
    except (Unauthorized, Forbidden, NotThere, Unprocessable) as refusal:  # of a GitHub App, by its API
        access.note(works=False)
        raise AccessDenied(str(refusal)) from None
    except HostError as error:
        raise FetchFailed(str(error)) from None


def remote_of(url: str, authorization: str | None = None) -> Remote:
    """Raises FetchFailed."""
    from apps.net import authorities

    try:
        destination = https_destination(url)
        resolve = _checked(destination)
    except NotAllowed as refusal:
        raise FetchFailed(str(refusal)) from None
    return Remote(
        destination.url, resolve, authorization=authorization, ca_file=authorities.certificates(),
        proxy=settings.SOURCE_PROXY,
    )  # fmt: skip


def _checked(destination: Destination) -> str | None:
    """The addresses to use, for curl. A proxy looks names up itself, so with one only addresses can be checked.

    Raises NotAllowed.
    """
    if settings.SOURCE_PROXY and HOST_NAME.match(destination.host):
        return None
    return resolve_allowed(destination, allowed_networks=settings.SOURCE_NETWORKS).curl_resolve


def note_moved(folder: Path, url: str) -> None:
    with suppress(OSError):
        new = folder / f"{MOVED}.new"
        new.write_text(json.dumps([url, stamps.now()]))
        new.replace(folder / MOVED)


def forget_moved(folder: Path) -> None:
    with suppress(OSError):
        (folder / MOVED).unlink(missing_ok=True)


def _moved(folder: Path) -> str | None:
    try:
        url, at = json.loads((folder / MOVED).read_bytes())
        return url if isinstance(url, str) and 0 <= stamps.now() - at < MOVED_FOR else None
    except (OSError, ValueError, TypeError):
        return None


def https_only(url: str) -> Destination:
    """Raises InvalidInput (no_repository)."""
    try:
        return https_destination(url)
    except NotAllowed:
        raise no_repository("This application's repository has no https address that can be read here") from None
