"""Where this server may connect to: which https URLs it accepts, and which addresses behind them."""

import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


class NotAllowed(Exception):
    """This URL or address is refused. The message is for the log: it may tell what a name means in this network."""


class NoAddress(NotAllowed):
    """The name of the host means nothing, at least now."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A URL, taken apart and put together again, so that everyone who parses `url` sees the same host."""

    url: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class ResolvedDestination:
    """A destination and the addresses it had when they were checked: connect to these, not to the name."""

    destination: Destination
    addresses: tuple[str, ...]

    @property
    def curl_resolve(self) -> str:
        """For curl's --resolve, which git knows as http.curloptResolve: name and port stand for these addresses."""
        addresses = ",".join(f"[{address}]" if ":" in address else address for address in self.addresses)
        return f"{self.destination.host}:{self.destination.port}:{addresses}"


Resolve = Callable[..., Iterable[tuple[Any, ...]]]

# The last label may not be a number: some parsers read 0x7f.1 or 2130706433 as an address, others as a name.
HOST_NAME = re.compile(
    r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?\Z"
)
# What a path may be made of: RFC 3986 §3.3. No query, no fragment, no backslash, no quotes.
URL_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*\Z")
# Names that lead out of the path they are in: some clients and servers resolve them, others do not.
DOTS = re.compile(r"/(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE)
MAX_URL = 2048
DEFAULT_PORTS = {"https": 443, "http": 80}

# Beyond what `ipaddress` itself calls not global, or differs about from one Python release to the next:
# the IANA special-purpose registries, IPv4 and IPv6.
NOT_PUBLIC = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "2001::/23", "2001:db8::/32", "3fff::/20",
    )
)  # fmt: skip
# All other IPv6 is loopback, unique local, link-local, multicast, or not given out.
PUBLIC_IPV6 = IPv6Network("2000::/3")
# Forms that carry an IPv4 address, and where it starts in them. The inner address is the one that is reached.
CARRIES_IPV4 = (
    (IPv6Network("::ffff:0:0/96"), 96),  # IPv4-mapped
    (IPv6Network("64:ff9b::/96"), 96),  # NAT64, RFC 6052
    (IPv6Network("2002::/16"), 16),  # 6to4, RFC 3056
)


def https_destination(url: str) -> Destination:
    """Take an https URL apart. Raises NotAllowed: another scheme, userinfo, a query, a host parsers may differ on."""
    return _destination(url, ("https",))


def web_destination(url: str) -> Destination:
    """The same where http will do: for an address that an operator typed, perhaps of a machine in the next room."""
    return _destination(url, ("https", "http"))


def _destination(url: str, schemes: tuple[str, ...]) -> Destination:
    if len(url) > MAX_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise NotAllowed("The URL is too long or has characters that do not belong in one.")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise NotAllowed("The URL cannot be parsed.") from None
    if parts.scheme not in schemes or "@" in parts.netloc or "?" in url or "#" in url or not URL_PATH.match(parts.path):
        raise NotAllowed(f"The URL is not plain {' or '.join(schemes)}.")
    if DOTS.search(parts.path):
        raise NotAllowed("The URL's path has a . or .. in it.")
    if not HOST_NAME.match(host) and not _is_literal(host):
        raise NotAllowed("The URL's host is neither a name nor an address.")
    default = DEFAULT_PORTS[parts.scheme]
    port = default if port is None else port
    if port == 0:
        raise NotAllowed("The URL's port is 0.")
    shown = f"[{host}]" if ":" in host else host
    return Destination(f"{parts.scheme}://{shown}{'' if port == default else f':{port}'}{parts.path}", host, port)


def resolve_allowed(
    destination: Destination,
    *,
    allowed_networks: Iterable[Network] = (),
    resolve: Resolve = socket.getaddrinfo,
) -> ResolvedDestination:
    """Resolve a destination once. Raises NotAllowed unless every address it has may be reached.

    Every one, because which of them gets the connection is not ours to choose. `allowed_networks` are private
    networks that the operator opened. Resolving takes as long as the system's resolver takes.
    """
    try:
        found = resolve(destination.host, destination.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NoAddress(f"{destination.host} has no address.") from None
    addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
    allowed = tuple(allowed_networks)
    for address in addresses:
        if not is_reachable(address, allowed):
            raise NotAllowed(f"{destination.host} has the address {address}, which is not public.")
    if not addresses:
        raise NoAddress(f"{destination.host} has no address.")
    return ResolvedDestination(destination, addresses)


def is_reachable(address: str, allowed_networks: Iterable[Network] = ()) -> bool:
    """Whether an address is public, or in a network that the operator opened."""
    try:
        parsed = _carried(ip_address(address))
    except ValueError:
        return False
    if any(parsed.version == network.version and parsed in network for network in allowed_networks):
        return True
    if parsed.version == 6 and parsed not in PUBLIC_IPV6:
        return False
    if any(parsed.version == network.version and parsed in network for network in NOT_PUBLIC):
        return False
    return parsed.is_global and not parsed.is_multicast


def _carried(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one that carries one; else the address itself."""
    if isinstance(address, IPv6Address):
        for network, start in CARRIES_IPV4:
            if address in network:
                return IPv4Address(address.packed[start // 8 : start // 8 + 4])
    return address


def _is_literal(host: str) -> bool:
    """Whether it is an address as `ipaddress` writes it; not 127.1, not 0177.0.0.1, no zone."""
    try:
        return "%" not in host and str(ip_address(host)) == host
    except ValueError:
        return False
