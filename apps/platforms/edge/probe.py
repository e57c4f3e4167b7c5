"""Probing: one check of each of many sites, hundreds at once in one thread (libcurl).

The addresses that were checked are the addresses that are connected to, no redirect is followed, and nothing that was
read is kept but the status and the certificate.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pycurl

from apps.net.authorities import certificates
from apps.net.connect_to import ConnectTo, place_of
from apps.net.outbound import Network, is_reachable
from apps.platforms.edge.lookups import Lookup, LookupFailed, Lookups, Unresolved
from apps.platforms.edge.request import Way, request
from apps.platforms.edge.targets import RESERVED, Outcome, Target, host_of

BUDGET = 5.0  # seconds for one check: the name, the connection, TLS, the answer
MAX_QUEUED = 30.0  # seconds until a thread turns to a name
AT_ONCE = 400
AT_ONCE_PER_ADDRESS = 100  # many domains share a server, which has other things to do


class _NotProbed(Exception):
    """The reason is a sentence."""


@dataclass(slots=True)
class Prober:
    """Checks targets. `networks` are those that the operator opened though they are not public.

    `connect_to` is where the operator says that names are reached: there, whatever kind of address it is.
    `authorities` is a file of certificates to trust, None for those of the system; `budget` is in seconds.
    """

    networks: Sequence[Network] = ()
    lookups: Lookups = field(default_factory=Lookups)
    authorities: str | None = None
    budget: float = BUDGET
    connect_to: Sequence[ConnectTo] = ()

    def probe(self, targets: Iterable[Target]) -> list[Outcome]:
        """One check of each. Those that nobody came to in time are left out."""
        return asyncio.run(self._probe(list(targets)))

    async def _probe(self, targets: list[Target]) -> list[Outcome]:
        places, per_address = asyncio.Semaphore(AT_ONCE), _PerAddress()
        began = time.monotonic()
        async with pycurl.AsyncCurlMulti(close_handles=True) as multi:

            async def one(target: Target) -> Outcome | None:
                async with places:
                    outcome = await _Probe(self, multi, per_address, target).outcome()
                if outcome is not None:
                    outcome.seconds = time.monotonic() - began
                return outcome

            outcomes = [outcome for outcome in await asyncio.gather(*map(one, targets)) if outcome is not None]
        _excuse_if_offline(outcomes)
        return outcomes


def _excuse_if_offline(outcomes: list[Outcome]) -> None:
    """Where not one name could be looked up it is our resolver that is silent: that says nothing of anybody."""
    if any(outcome.dns_status == "resolves" for outcome in outcomes):
        return
    for outcome in outcomes:
        if outcome.lookup_failed:
            outcome.reachable = None


class _PerAddress:
    """How many checks of one address there are at once."""

    def __init__(self) -> None:
        self._places: dict[str, asyncio.Semaphore] = {}

    @asynccontextmanager
    async def place(self, address: str) -> AsyncIterator[None]:
        async with self._places.setdefault(address, asyncio.Semaphore(AT_ONCE_PER_ADDRESS)):
            yield


@dataclass(slots=True)
class _Probe:
    prober: Prober
    multi: pycurl.AsyncCurlMulti
    per_address: _PerAddress
    target: Target
    left: float = 0.0  # seconds

    async def outcome(self) -> Outcome | None:
        """None where no thread came to the name in time."""
        outcome, self.left = Outcome(self.target.key), self.prober.budget
        try:
            host = self._host()
            if place := place_of(host, self.target.port, self.prober.connect_to):
                # Side by side: what DNS takes is not what it takes to get there.
                await asyncio.gather(self._fetch(outcome, Way.to(*place)), self._note_dns(host, outcome))
            else:
                await self._fetch(outcome, Way(await self._addresses(host, outcome)))
        except TimeoutError:
            return None
        except _NotProbed as reason:
            outcome.error = str(reason)
        return outcome

    def _host(self) -> str:
        if (host := host_of(self.target.host)) is None:
            raise _NotProbed("Its host is not a name that can be looked up.")
        return host

    async def _note_dns(self, host: str, outcome: Outcome) -> None:
        """What DNS says of a name that is reached without it."""
        if host.endswith(RESERVED):
            return
        lookup = self.prober.lookups.begin(host)
        if await _is_done(lookup.addresses, self.prober.budget):
            error = lookup.addresses.exception()
            if not isinstance(error, LookupFailed):
                outcome.dns_status = "unresolved" if error else "resolves"

    async def _addresses(self, host: str, outcome: Outcome) -> tuple[str, ...]:
        """All that the name has. Raises _NotProbed; TimeoutError where nobody came to look it up."""
        if host.endswith(RESERVED):
            raise _NotProbed("Its name is reserved for examples, and is never there.")
        lookup = self.prober.lookups.begin(host)
        if not await _is_done(lookup.began, MAX_QUEUED):
            raise TimeoutError
        addresses = await self._looked_up(lookup, outcome)
        outcome.dns_status = "resolves"
        # Every one, because which of them gets the connection is libcurl's choice.
        if not all(is_reachable(address, self.prober.networks) for address in addresses):
            raise _NotProbed("Its address is not a public one.")
        return addresses

    async def _looked_up(self, lookup: Lookup, outcome: Outcome) -> tuple[str, ...]:
        began = time.monotonic()
        is_done = await _is_done(lookup.addresses, self.left)
        self.left -= time.monotonic() - began
        try:
            if is_done:
                return lookup.addresses.result()
        except Unresolved:
            outcome.reachable, outcome.dns_status = False, "unresolved"
            raise _NotProbed("Its name does not resolve.") from None
        except LookupFailed:
            pass
        outcome.reachable, outcome.lookup_failed = False, True
        raise _NotProbed("Its name could not be looked up." if is_done else "Looking its name up took too long.")

    async def _fetch(self, outcome: Outcome, way: Way) -> None:
        async with self.per_address.place(way.addresses[0]):
            began = time.monotonic()
            code = await self._request(outcome, way, self.prober.authorities or certificates())
            if code == pycurl.E_PEER_FAILED_VERIFICATION:
                # Once more without: what the certificate says, and whether something answers behind it.
                outcome.is_verified, why = False, outcome.error
                self.left -= time.monotonic() - began
                await self._request(outcome, way, None)
                outcome.error = why
            elif outcome.certificate is not None:
                outcome.is_verified = True

    async def _request(self, outcome: Outcome, way: Way, authorities: str | None) -> int:
        return await request(self.multi, outcome, self.target, way, max(self.left, 0.1), authorities)


async def _is_done(future: "Future[Any]", seconds: float) -> bool:
    """Waits for what another thread does. That thread may end long after this loop did, and must not mind."""
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()

    def wake() -> None:
        if not waiter.done():
            waiter.set_result(None)

    def wake_there(_: object) -> None:
        with suppress(RuntimeError):  # the loop was closed
            loop.call_soon_threadsafe(wake)

    future.add_done_callback(wake_there)
    await asyncio.wait({waiter}, timeout=seconds)
    return future.done()
