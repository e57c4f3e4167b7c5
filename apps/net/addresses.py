"""Host names, addresses and origins: what is one, and which of them are this machine's own."""

import re
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

# [v6], [v6]:port; v4, v4:port; v6. A zone tells of an interface there, not here.
HOP = re.compile(r"\[([0-9A-Fa-f:.]+)(?:%[^]]*)?\](?::[0-9]{1,5})?|([0-9.]+)(?::[0-9]{1,5})?|([0-9A-Fa-f:.]+)(?:%.*)?")
# As browsers write it: lowercase, an international name in its ASCII form.
ORIGIN = re.compile(r"https?://([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


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


@lru_cache(maxsize=4096)  # each connection's peer, for each of its requests
def plain_address(hop: str) -> str:
    """An address as sockets and proxies write it, with or without a port, in its one usual form; else empty.

    On a socket for both families IPv4 peers come as ::ffff:10.0.0.1, which is in no IPv4 network. Keys of limits must
    not change with the port, which is another one for each connection.
    """
    match = HOP.fullmatch(hop.strip())
    try:
        address = ip_address(match[1] or match[2] or match[3]) if match else None
    except ValueError:
        return ""
    return str(getattr(address, "ipv4_mapped", None) or address or "")


def host_of(url: str) -> str:
    """The host of a URL or an origin; empty where there is none, or where what stands for the port is none."""
    try:
        parts = urlsplit(url)
        _port = parts.port  # raises where it is no number: urlsplit itself takes whatever follows the colon
        return parts.hostname or ""
    except ValueError:
        return ""


def is_origin(value: str) -> bool:
    """`scheme://host[:port]` with http or https, and nothing else: not `null`, no list, no user, no path."""
    return bool(ORIGIN.fullmatch(value) and host_of(value))


def is_loopback_origin(value: str) -> bool:
    return is_origin(value) and is_loopback(host_of(value))
