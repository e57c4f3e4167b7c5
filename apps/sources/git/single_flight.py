"""Who fetches when: one at a time for each mirror, few at once in each process, nobody right after a failure."""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from apps.sources.git.fetch import FetchFailed, GitMissing, RefMissing
from apps.sources.git.waiting import Busy

logger = logging.getLogger(__name__)

FAILURE_MEMORY = 10.0  # seconds
MAX_MEMORIES = 1000
POLL = 0.02

Key = tuple[Path, str]


class LockTimeout(FetchFailed):
    """Another thread or process held the lock for too long."""


@contextmanager
def file_lock(path: Path, *, seconds: float) -> Iterator[int]:
    """Hold a lock that excludes other threads and other processes. Raises LockTimeout after `seconds`, and OSError.

    What is yielded is for a program that is started meanwhile: it holds the lock too, should this process be killed.
    """
    deadline = time.monotonic() + seconds
    handle = _locked(path, deadline)
    while not _is_there(path, handle):  # it was removed by who held it
        os.close(handle)
        handle = _locked(path, deadline)
    try:
        yield handle
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # also of programs that take a moment to end
        os.close(handle)


def _locked(path: Path, deadline: float) -> int:
    """A file that is held: flock belongs to the open file, so each open is a holder, and a process's end lets go."""
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return handle
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise LockTimeout("Another fetch of this repository is running.") from None
                time.sleep(POLL)
    except BaseException:
        os.close(handle)
        raise


def _is_there(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


class SingleFlight:
    """Work in threads, at most one for each key: whoever asks while it runs gets the same future."""

    def __init__(self) -> None:
        self._running: dict[Key, Future[None]] = {}
        self._guard = threading.Lock()
        self._told_git_is_missing = False

    def start(self, key: Key, work: Callable[[], None]) -> Future[None]:
        with self._guard:
            if key in self._running:
                return self._running[key]
            future: Future[None] = Future()
            self._running[key] = future
        # A daemon: a server that stops does not wait for a slow remote.
        threading.Thread(target=self._run, args=(key, work, future), name="fetch", daemon=True).start()
        return future

    def _run(self, key: Key, work: Callable[[], None], future: Future[None]) -> None:
        error: Exception | None = None
        try:
            work()
        except (FetchFailed, OSError) as failure:  # OSError: a full disk
            error = failure
            self._tell(key[0].name, failure)
        except Exception as bug:  # Whoever waits must hear of it, and a refresh has nobody who waits.
            error = bug
            logger.exception("A fetch ended unexpectedly.")
        with self._guard:
            del self._running[key]
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    def _tell(self, mirror: str, failure: Exception) -> None:
        if isinstance(failure, GitMissing):
            if not self._told_git_is_missing:
                self._told_git_is_missing = True
                logger.error("There is no git on PATH: no repository can be fetched.")
            return
        fields = {"mirror": mirror, "why": str(failure)}
        logger.warning("A repository was not fetched.", extra={"fields": fields})


class FailureCache:
    """Recent failures in this process, so that callers do not hammer a repository that is down."""

    def __init__(self) -> None:
        self._until: dict[Key, tuple[float, FetchFailed]] = {}
        self._guard = threading.Lock()

    @contextmanager
    def recorded(self, folder: Path, ref: str) -> Iterator[None]:
        """Raise a recent failure, or run the body and record its failure.

        A missing ref is recorded for that ref, anything else for the whole mirror. What took long to fail
        (a repository over the size cap) is left alone for longer.
        """
        self.check(folder, ref)
        started = time.monotonic()
        try:
            yield
        except (LockTimeout, Busy):
            raise
        except FetchFailed as failure:
            took = time.monotonic() - started
            key = (folder, ref if isinstance(failure, RefMissing) else "")
            self._record(key, time.monotonic() + FAILURE_MEMORY + 10 * took, failure)
            raise

    def check(self, folder: Path, ref: str) -> None:
        """Raises the failure that is recorded."""
        for key in ((folder, ref), (folder, "")):
            until, failure = self._until.get(key, (0.0, None))
            if failure is not None and time.monotonic() < until:
                raise type(failure)(*failure.args)

    def forget(self) -> None:
        with self._guard:
            self._until.clear()

    def _record(self, key: Key, until: float, failure: FetchFailed) -> None:
        with self._guard:
            if len(self._until) >= MAX_MEMORIES:
                # The oldest goes: dicts keep the order of insertion.
                del self._until[next(iter(self._until))]
            self._until[key] = (until, failure)
