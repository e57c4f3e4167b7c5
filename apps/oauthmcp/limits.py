"""How often one address may ask the endpoints that need no sign-in, in each worker's memory."""

import time
from ipaddress import IPv6Address, ip_address
from math import ceil

from django.conf import settings
from django.http import HttpRequest

from apps.oauthmcp.errors import OAuthError
from apps.tools.throttle import Buckets

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


def network_of(address: str) -> str:
    """An IPv4 address; of IPv6 the /64, which is what one subscriber has."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))
