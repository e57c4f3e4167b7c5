"""How often a password or a code may be tried: by client, by client and account, and slower where many try one account.

A browser that was signed in to the account before has a share of its own, which nobody else can use up. Everything is
counted by what was typed, so an address without an account behaves like one with.
"""

import time
from math import ceil
from typing import Literal

from allauth.core.internal import ratelimit
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from apps.accounts import browsers
from apps.net.encryption import mac
from apps.orgs.models.people import fold_email
from apps.web.limits import neighbourhood_of, network_of

Kind = Literal["password", "code"]

PAIR_WAIT = 300  # seconds
LIMITS = {"client": "10/m/key", "pair": f"5/{PAIR_WAIT}s/key"}  # attempts that failed; allauth's notation
FAILURES_WINDOW = 60 * 60  # seconds
MAX_KEPT = 60  # failures of one account: more of them change nothing
# Failures of an account in the last hour, by clients that it does not know → seconds that such clients wait.
DELAYS = ((50, 30), (35, 15), (20, 5))
TURN_LIFETIME = 300  # seconds in which somebody who waited can come back


class Attempt:
    """One try for an account. Raises ValidationError where the client has to wait, and sets `request.retry_after`.

    It counts as failed until it has `succeeded`: many at once get no further than one after another.
    """

    def __init__(self, request: HttpRequest, kind: Kind, email: str) -> None:
        self.request, self.kind, self.email = request, kind, email
        self.usages: list[ratelimit.RateLimitUsage] = []
        if settings.ACCOUNT_RATE_LIMITS is False:
            return
        browser = browsers.id_of(request, email)
        self.is_known = browser is not None
        self.client = f"browser-{browser}" if browser else network_of(_address_of(request))
        if not self.is_known:
            self._take("client", self.client, 60)
        self._take("pair", f"{self.client} {email}", PAIR_WAIT)
        if not self.is_known and (wait := self._turn()):
            self._refuse(wait)

    def succeeded(self) -> None:
        for usage in self.usages:
            usage.rollback()

    def failed(self) -> None:
        if settings.ACCOUNT_RATE_LIMITS is False or self.is_known:
            return
        key = self._key("failures")
        with ratelimit.cache_lock(key):
            cache.set(key, [*self._failures(), time.time()][-MAX_KEPT:], FAILURES_WINDOW)

    def _take(self, limit: str, key: str, wait: int) -> None:
        usage = ratelimit.consume(self.request, app="porthole", action=limit, config=LIMITS, key=f"{self.kind} {key}")
        if usage is None:
            self._refuse(wait)
        else:
            self.usages.append(usage)

    def _refuse(self, wait: int) -> None:
        self.succeeded()  # nothing was tried
        self.request.retry_after = wait  # type: ignore[attr-defined]
        time_to_wait = "five minutes" if wait == PAIR_WAIT else f"{wait} seconds"
        raise ValidationError(f"Too many attempts. Wait {time_to_wait}, then try again.", code="too_many_attempts")

    def _failures(self) -> list[float]:
        oldest = time.time() - FAILURES_WINDOW
        return [at for at in cache.get(self._key("failures"), []) if at > oldest]

    def _turn(self) -> int:
        """Seconds to wait; 0 once somebody has waited, for one attempt.

        For passwords everybody waits for themselves, so the owner never waits longer because others try. For codes,
        which can be guessed, the account has one turn for all: whoever tries them knows the password.
        """
        failures = len(self._failures())
        delay = next((seconds for number, seconds in DELAYS if failures >= number), 0)
        if not delay:
            return 0
        key = self._key("turn", "" if self.kind == "code" else neighbourhood_of(_address_of(self.request)))
        now = time.time()
        cache.add(key, now + delay, TURN_LIFETIME)
        ready = cache.get(key, now + delay)
        # Of two at once, one deletes it.
        return 0 if ready <= now and cache.delete(key) else max(1, ceil(ready - now))

    def _key(self, name: str, whose: str = "") -> str:
        return f"porthole:{name}:{mac(f'{name} {self.kind}', f'{self.email} {whose}').hex()}"


def account_of(request: HttpRequest) -> str:
    """The account that a request is about: of who is signed in, or typed in the sign-in form."""
    user = getattr(request, "user", None)
    if user is not None and user.is_authenticated:
        return str(user.email)
    return fold_email(request.POST.get("login", ""))


def client_of(request: HttpRequest) -> str:
    """What allauth's limits by address count: the address, but a known browser for itself."""
    browser = browsers.id_of(request, account_of(request))
    return f"browser-{browser}" if browser else _address_of(request)


def _address_of(request: HttpRequest) -> str:
    address: str = request.client_address  # type: ignore[attr-defined]
    return address
