"""Host names and addresses: which of them are this machine's own."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

# [v6], [v6]:port; v4, v4:port; v6. A zone tells of an interface there, not here.
HOP = re.compile(r"\[([0-9A-Fa-f:.]+)(?:%[^]]*)?\](?::[0-9]{1,5})?|([0-9.]+)(?::[0-9]{1,5})?|([0-9A-Fa-f:.]+)(?:%.*)?")


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
    """The host of a URL or an origin; empty where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
