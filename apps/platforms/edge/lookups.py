"""Looking names up with the system's resolver, in a bounded number of threads that hold nothing else up."""

import socket
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

Resolve = Callable[..., Iterable[tuple[Any, ...]]]
THREADS = 64
# These say that there is no such name, or that it has no address. Any other failure is that of who was asked.
NO_SUCH_NAME = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}


class Unresolved(Exception):
    """There is no such name, or it has no address."""


class LookupFailed(Exception):
    """Nobody could tell whether there is such a name."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """One name: `began` when a thread turned to it, and its `addresses`, or Unresolved or LookupFailed."""

    host: str
    began: "Future[None]" = field(default_factory=Future)
    addresses: "Future[tuple[str, ...]]" = field(default_factory=Future)


class Lookups:
    """A pool of threads. The system's resolver takes as long as it takes, and nobody can stop it.

    Daemons, so that a name server that is silent does not hold up the end of the process.
    """

    def __init__(self, resolve: Resolve = socket.getaddrinfo, threads: int = THREADS) -> None:
        self._resolve = resolve
        self._threads = threads
        self._queue: SimpleQueue[Lookup] = SimpleQueue()
        self._pending: dict[str, Lookup] = {}
        self._lock = Lock()
        self._started = 0

    def begin(self, host: str) -> Lookup:
        """Looks `host` up, or joins a lookup of it that has not ended: perhaps that of an earlier round."""
        with self._lock:
            if host in self._pending:
                return self._pending[host]
            lookup = self._pending[host] = Lookup(host)
            self._queue.put(lookup)
            if self._started < min(self._threads, len(self._pending)):
                self._started += 1
                Thread(target=self._work, name="lookup", daemon=True).start()
            return lookup

    def _work(self) -> None:
        while True:
            lookup = self._queue.get()
            lookup.began.set_result(None)
            try:
                addresses = self._addresses(lookup.host)
            except Exception as error:
                self._end(lookup)
                lookup.addresses.set_exception(error)
            else:
                self._end(lookup)
                lookup.addresses.set_result(addresses)

    def _end(self, lookup: Lookup) -> None:
        with self._lock, suppress(KeyError):
            del self._pending[lookup.host]

    def _addresses(self, host: str) -> tuple[str, ...]:
        try:
            found = self._resolve(host, None, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise (Unresolved if error.errno in NO_SUCH_NAME else LookupFailed) from None
        except (OSError, UnicodeError):
            raise LookupFailed from None
        addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not addresses:
            raise Unresolved
        return addresses
