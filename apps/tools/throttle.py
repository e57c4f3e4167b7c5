"""How often one caller may call tools."""

import time
from typing import Any

from django.conf import settings
from rest_framework.throttling import BaseThrottle

from apps.web.limits import Buckets

BURST = 120
PER_SECOND = 20.0

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
