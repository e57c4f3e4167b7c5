"""What the prober checks, and what it saw."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import quote

from apps.net.outbound import HOST_NAME
from apps.platforms.edge.certificates import Certificate

# RFC 6761: nobody can have a name below these, so there is nothing to look up and nothing to be down.
RESERVED = (".example", ".invalid")


@dataclass(frozen=True, slots=True)
class Target:
    """What to check; `key` tells it apart from others. `is_https` says how, `port` where."""

    key: str
    host: str
    path: str
    is_https: bool
    port: int

    @property
    def url(self) -> str:
        host = host_of(self.host) or ""
        host = f"[{host}]" if ":" in host else host
        path = quote(self.path, safe="/:@!$&'()*+,;=~%-._")
        return f"http{'s' if self.is_https else ''}://{host}:{self.port}{path}"


@dataclass(slots=True)
class Outcome:
    """What one check saw. `reachable` is None where nobody could or should check; `error` is a sentence.

    `seconds` is when it ended, counted from when the round began. `lookup_failed`: the name may be there or not.
    """

    key: str
    reachable: bool | None = None
    dns_status: str = "unknown"
    http_status: int | None = None
    latency_ms: int | None = None
    certificate: Certificate | None = None
    is_verified: bool | None = None
    error: str | None = None
    lookup_failed: bool = False
    seconds: float = 0.0


def host_of(host: str) -> str | None:
    """The name to ask for, in ASCII; an address as `ipaddress` writes it; None for what parsers may differ on."""
    try:
        name = host if host.isascii() else host.encode("idna").decode()
        if HOST_NAME.match(name.lower()) or ("%" not in name and str(ip_address(name)) == name):
            return name.lower()
    except ValueError:
        pass
    return None
