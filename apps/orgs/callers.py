"""Callers: scopes, and what authentication knows of a request. Known to both OAuth and tools."""

from dataclasses import dataclass

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
class Caller:
    """Who asks: what they may see, and the key under which their calls are counted."""

    org: OrgScope
    key: str
