"""Where an operator says that names are reached, whatever DNS says: what curl calls --connect-to."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from apps.net.outbound import HOST_NAME

# HOST[:PORT]=ADDRESS[:PORT]; an IPv6 address stands in brackets.
ENTRY = re.compile(
    r"(?P<host>(?:\*\.)?[^\s:=*]+)(?::(?P<port>[0-9]{1,5}))?"
    r"=(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<v4>[0-9.]+))(?::(?P<to_port>[0-9]{1,5}))?"
)


@dataclass(frozen=True, slots=True)
class ConnectTo:
    """For `host` (`*.example.com`: every name below it) and `port` (None: any), connect to `address` and `to_port`.

    Without `to_port` the port stays the same.
    """

    host: str
    port: int | None
    address: str
    to_port: int | None

    def is_for(self, host: str, port: int) -> bool:
        if self.port not in (None, port):
            return False
        return host.endswith(self.host[1:]) if self.host.startswith("*") else host == self.host

    @property
    def exactness(self) -> tuple[bool, int, bool]:
        return not self.host.startswith("*"), len(self.host), self.port is not None


def connect_to(entry: str) -> ConnectTo:
    """Raises ValueError."""
    match = ENTRY.fullmatch(entry.strip())
    if match is None:
        raise ValueError
    host = match["host"].lower()
    if not HOST_NAME.match(host.removeprefix("*.")):
        raise ValueError
    address = IPv6Address(match["v6"]) if match["v6"] else ip_address(match["v4"])
    return ConnectTo(host, _port(match["port"]), str(address), _port(match["to_port"]))


def place_of(host: str, port: int, entries: Iterable[ConnectTo]) -> tuple[str, int] | None:
    """The address and port by the most exact entry for a host in lower case; None where there is none."""
    fitting = [entry for entry in entries if entry.is_for(host, port)]
    if not fitting:
        return None
    entry = max(fitting, key=lambda entry: entry.exactness)
    return entry.address, entry.to_port or port


def _port(text: str | None) -> int | None:
    if text is None:
        return None
    if not 0 < int(text) < 65536:
        raise ValueError
    return int(text)
