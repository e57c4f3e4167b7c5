"""Rate limits by address of the endpoints that need no sign-in."""

import time
from math import ceil

from django.conf import settings
from django.http import HttpRequest

from apps.oauthmcp.errors import OAuthError
from apps.web.limits import Buckets, network_of

REGISTRATIONS = Buckets(burst=30, per_second=0.2)
# Hosted agents refresh for all of their users from a few addresses.
TOKENS = Buckets(burst=300, per_second=30.0)


def take(buckets: Buckets, request: HttpRequest) -> None:
    """Raises OAuthError, 429, when this address has asked too often."""
    if not settings.RATE_LIMITS:
        return
    wait = buckets.take(network_of(request.client_address), time.monotonic())  # type: ignore[attr-defined]
    if wait:
        headers = {"Retry-After": str(max(1, ceil(wait)))}
        raise OAuthError("temporarily_unavailable", "Too many requests from this address.", 429, headers)
