"""WWW-Authenticate challenges (RFC 6750, RFC 9728), the same at both doors."""

from math import ceil

from django.conf import settings

from apps.orgs.callers import SCOPES
from apps.web.exceptions import Refused, again_in

NOT_VALID = "The bearer token is not valid here: get another."


def unauthorized(metadata_path: str, token_was_sent: bool) -> Refused:
    """401: every scope is named, so that a client asks its user once."""
    challenge = _challenge(metadata_path, " ".join(SCOPES), "invalid_token" if token_was_sent else None)
    detail = NOT_VALID if token_was_sent else "Send a token: Authorization: Bearer …"
    return Refused(401, "unauthorized", detail, {"WWW-Authenticate": challenge})


def insufficient_scope(metadata_path: str, scope: str) -> Refused:
    """403: the token was narrowed; `scope` is all that the tool needs."""
    challenge = _challenge(metadata_path, scope, "insufficient_scope")
    detail = f"This tool needs the scope {scope}: get a token that has it."
    return Refused(403, "insufficient_scope", detail, {"WWW-Authenticate": challenge})


def rate_limited(wait: float | None) -> Refused:
    """429: `wait` is in seconds."""
    seconds = max(1, ceil(wait or 1))
    return Refused(429, "rate_limited", f"Too many calls. {again_in(seconds)}", {"Retry-After": str(seconds)})


def _challenge(metadata_path: str, scope: str, error: str | None) -> str:
    parts = [f'resource_metadata="{settings.PUBLIC_URL}{metadata_path}"', f'scope="{scope}"']
    if error:
        parts.insert(0, f'error="{error}"')
    return "Bearer " + ", ".join(parts)
