"""Coolify's versions, and since which one there is what."""

import re
from typing import NamedTuple

FINAL = 10**9


class Version(NamedTuple):
    """Compares as releases do: 4.0.0-beta.460, 4.0.0, 4.1.2."""

    major: int
    minor: int
    patch: int
    beta: int

    @classmethod
    def of(cls, text: str) -> "Version | None":
        found = re.match(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:-beta\.(\d{1,6}))?", text)
        if not found:
            return None
        major, minor, patch, beta = found.groups()
        return cls(int(major), int(minor), int(patch or 0), int(beta) if beta else FINAL)


DEPLOYMENT_HISTORY = Version(4, 0, 0, 402)
GITHUB_APPS = Version(4, 0, 0, 436)
HISTORY_WITHOUT_LOGS = Version(4, 2, 0, 0)
SHARED_VARIABLES = GITLAB_APPS = PREVIEWS = Version(4, 3, 0, 0)
