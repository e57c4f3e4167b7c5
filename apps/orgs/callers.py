"""Callers: scopes, and what authentication knows of a request. Known to both OAuth and tools."""

from dataclasses import dataclass
from uuid import UUID

from apps.orgs.scope import OrgScope

SCOPES = {
    "account:read": "See the organization: its name, limits, counts and connections.",
    "apps:read": "See projects, applications, domains, previews, deployments and health.",
    "config:read": "See the names of environment variables and secrets. Their values are never stored.",
    "files:read": "Read files of the repositories that applications are built from.",
    "docs:read": "Search the documentation and see templates.",
}
SCOPE_NAMES = list(SCOPES)


@dataclass(frozen=True, slots=True)
class Viewer:
    """The person behind a token: e-mail address, name and role in the organization."""

    email: str
    name: str | None
    role: str


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, about which organization, and with which scopes.

    `client_id` is the OAuth client's, or the name of one of the two fixed bearers. Behind those is no person and no
    authorization: `viewer`, `user_id` and `authorization_id` are None.
    """

    org: OrgScope
    viewer: Viewer | None
    scopes: frozenset[str]
    user_id: int | None
    client_id: str
    authorization_id: UUID | None

    @property
    def key(self) -> str:
        """Under which calls are counted: by authorization, so that a new token from a refresh is no new allowance."""
        return str(self.authorization_id or self.client_id)
