"""Fake sites behind one TLS server on loopback: a certificate for each name that is asked for, by one authority.

with SitesFake(days={"shop.acme.example": 12}) as sites:
    sites.port                       # 127.0.0.1, for whatever name
    certificates.authority()         # whom to trust
    sites.broken = {"api.acme.example"}     # answer 503 from now on
"""

import ssl
from collections.abc import Mapping
from typing import Any

from tests.fakes import certificates
from tests.fakes.loopback import LoopbackFake, Request

USUAL_DAYS = range(60, 91)


class SitesFake(LoopbackFake):
    def __init__(self, days: Mapping[str, float] | None = None) -> None:
        """`days`: how long certificates are valid, where that is not 60 to 90 days."""
        tls = certificates.context("localhost")
        tls.sni_callback = self._choose
        super().__init__(tls=tls)
        self.broken: set[str] = set()
        self._days = dict(days or {})
        self._contexts: dict[str, ssl.SSLContext] = {}

    def respond(self, request: Request, headers: Any, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        is_broken = headers.get("Host", "").partition(":")[0] in self.broken
        status, words = (503, b"Service Unavailable") if is_broken else (200, b"It works.")
        return status, words, {"Content-Type": "text/plain"}

    def _choose(self, connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if name is None:
            return
        with self._lock:
            if name not in self._contexts:
                days = self._days.get(name, USUAL_DAYS[sum(name.encode()) % len(USUAL_DAYS)])
                self._contexts[name] = certificates.context(name, days)
            connection.context = self._contexts[name]
