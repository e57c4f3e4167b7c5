"""Which version of Dokploy answers, and since when it has what is asked for."""

import re

from apps.platforms.connector import UpstreamError

Version = tuple[int, ...]
NEWEST: Version = (9999,)  # also of builds that are not numbered, such as canary

OLDEST: Version = (0, 24)
ENVIRONMENTS: Version = (0, 25)
ALL_DEPLOYMENTS: Version = (0, 28, 3)
SESSION: Version = (0, 28, 5)
ALL_DOMAINS: Version = (0, 30)
VAULTS: Version = (0, 30)


def parsed(version: str) -> Version:
    """Raises UpstreamError where it is too old to be read."""
    found = re.match(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?", version)
    numbers = tuple(int(part or 0) for part in found.groups()) if found else NEWEST
    if numbers < OLDEST:
        raise UpstreamError("This Dokploy is too old: 0.24 and later can be read.", is_permanent=True)
    return numbers
