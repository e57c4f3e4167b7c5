"""Host names and addresses: which of them are this machine's own."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether a host name or address, as in a URL or a socket, is this machine's own."""
    if host.lower() == "localhost":
        return True
    try:
        address = ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def host_of(url: str) -> str:
    """The host of a URL or an origin; empty where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
