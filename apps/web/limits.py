"""Rate limits: token buckets in each worker's memory, so that they cost no query."""

import threading
from ipaddress import IPv4Address, IPv6Address, ip_address

MAX_KEYS = 10_000


class Buckets:
    """Token buckets by key: `burst` at once, `per_second` in the long run. Thread-safe."""

    def __init__(self, burst: int, per_second: float) -> None:
        self.burst = burst
        self.per_second = per_second
        self._buckets: dict[str, tuple[float, float]] = {}  # key → tokens left, and when that was
        self._lock = threading.Lock()

    def take(self, key: str, now: float) -> float:
        """Takes a token, and answers 0.0; or the seconds until there is one."""
        with self._lock:
            left, then = self._buckets.pop(key, (float(self.burst), now))
            left = min(self.burst, left + (now - then) * self.per_second)
            wait = 0.0 if left >= 1 else (1 - left) / self.per_second
            self._buckets[key] = (left - 1 if wait == 0.0 else left, now)
            while len(self._buckets) > MAX_KEYS:
                del self._buckets[next(iter(self._buckets))]  # the one that asked longest ago
        return wait


def network_of(address: str) -> str:
    """An IPv4 address; of IPv6 the /64, which is what one subscriber has."""
    return _masked(address, 32, 64)


def neighbourhood_of(address: str) -> str:
    """The /24 of an IPv4 address, the /48 of IPv6: what somebody with many subscriptions, or a whole site, has."""
    return _masked(address, 24, 48)


def _masked(address: str, ipv4_bits: int, ipv6_bits: int) -> str:
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    if isinstance(parsed, IPv4Address):
        return str(IPv4Address(int(parsed) >> 32 - ipv4_bits << 32 - ipv4_bits))
    return str(IPv6Address(int(parsed) >> 128 - ipv6_bits << 128 - ipv6_bits))
