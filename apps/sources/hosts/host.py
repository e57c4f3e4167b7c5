"""What every git host can be asked, and what it tells."""

import base64
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from django.conf import settings

from apps.net.addresses import is_loopback
from apps.net.outbound import NotAllowed, web_destination
from apps.sources.hosts.answers import is_repository, renamed
from apps.sources.hosts.credentials import Credentials


class HostError(Exception):
    """The git host tells nothing that can be used. A sentence for operators: nothing that was sent or received."""


class Unauthorized(HostError):
    """The credentials are wrong, were revoked, or have expired (401)."""


class Forbidden(HostError):
    """The credentials are good, and not for this (403). `scopes`: what the host says that they are for."""

    def __init__(self, sentence: str, scopes: str | None = None) -> None:
        super().__init__(sentence)
        self.scopes = scopes


class NotThere(HostError):
    """The host has no such thing, or says so to these credentials (404, 410)."""


class BadRequest(HostError):
    """The host does not take this call as it is, or not with these credentials (400)."""


class Unprocessable(HostError):
    """The host understood what was asked for, and will not do it (422)."""


@dataclass(frozen=True, slots=True)
class Account:
    """`login`: whose credentials they are; None where the host does not tell.

    `repositories`: the first few full names that can be read, sorted. `can_write`: whether the credentials could also
    change something, and `expires_at`: None where the host does not tell.
    """

    login: str | None
    repositories: tuple[str, ...]
    has_more: bool
    can_write: bool | None
    expires_at: datetime | None


# Of credentials that can ask no API.
UNTOLD = Account(None, (), False, None, None)


class GitHost:
    """One git host, with one operator's credentials or none. Makes no call before a method is called."""

    kinds: ClassVar[tuple[str, ...]] = ()  # of credentials

    def __init__(self, base_url: str, credentials: Credentials | None) -> None:
        """Raises HostError where the credentials cannot be sent, or not there."""
        self.base_url = encrypted_address(base_url)
        self.credentials = credentials
        if credentials is None:
            return
        if credentials.kind not in self.kinds:
            raise HostError("This kind of credentials is not for this type of git host.")
        if problem := credentials.problem():
            raise HostError(problem)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.base_url}>"

    def account(self) -> Account:
        """Asks the host. Raises HostError."""
        raise NotImplementedError

    def current_name(self, repository: str) -> str | None:
        """The owner/name that a repository has now, where that is another one: it was renamed or moved.

        None where the host has it under this name, or does not know it. Raises HostError.
        """
        return renamed(self._name_now(repository), repository) if is_repository(repository) else None

    def authorization(self) -> str | None:
        """The value of git's Authorization header; None without credentials. Raises HostError."""
        raise NotImplementedError

    def _name_now(self, repository: str) -> str | None:
        """What the host calls it, if it does."""
        return None

    def forget(self) -> None:
        """To be called when git was refused with what `authorization` told: the next call may tell something else."""


def encrypted_address(url: str) -> str:
    """As everybody writes it who parses it, without a slash at the end. Raises HostError.

    Credentials travel encrypted, also in private networks; only to one's own machine need they not.
    """
    try:
        destination = web_destination(url)
    except NotAllowed:
        raise HostError("The host's address must be like https://git.example.com, without a user name.") from None
    if not destination.url.startswith("https:") and not (settings.IS_LOCAL and is_loopback(destination.host)):
        raise HostError("The host's address must begin with https://, because credentials are sent there.")
    return destination.url.rstrip("/")


def basic(username: str, password: str) -> str:
    """RFC 7617."""
    return f"Basic {base64.b64encode(f'{username}:{password}'.encode()).decode()}"


def bearer(token: str) -> str:
    """RFC 6750 §2.1."""
    return f"Bearer {token}"
