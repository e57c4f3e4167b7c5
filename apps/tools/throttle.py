"""How often one caller may ask: a token bucket in each worker's memory, so that it costs no query."""

import threading
import time
from typing import Any

from django.conf import settings
from rest_framework.throttling import BaseThrottle

BURST = 120
PER_SECOND = 20.0
MOST_CALLERS = 10_000


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
            while len(self._buckets) > MOST_CALLERS:
                del self._buckets[next(iter(self._buckets))]  # the one that asked longest ago
        return wait


_buckets = Buckets(BURST, PER_SECOND)


class CallerThrottle(BaseThrottle):
    """Counts by bearer, after authentication and before the body is read."""

    _wait = 0.0

    def allow_request(self, request: Any, view: Any) -> bool:
        if not settings.RATE_LIMITS:
            return True
        self._wait = _buckets.take(request.user.key, time.monotonic())
        return self._wait == 0.0

    def wait(self) -> float | None:
        return self._wait
