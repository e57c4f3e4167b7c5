"""Mirrors: what was fetched of organizations' repositories, kept in DATA_DIR/mirrors and refreshed behind answers.

mirrors/<digest of url and key>/
  lock                one fetch at a time, across processes
  current → g-…       a bare repository; `stamps/` in it says what was fetched when
  asked/              what was asked for lately (recency.py)
  g-…                 the one before stays until the next one, for readers that are still in it
"""

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path

import pygit2
from django.conf import settings

from apps.sources.git import integrity, recency, stamps
from apps.sources.git.fetch import (
    Command,
    FetchFailed,
    RefMissing,
    Silent,
    fetch_command,
    has_begun,
    remove_leftovers,
    run,
)
from apps.sources.git.generations import (
    ResolvedRef,
    activate,
    commit_in,
    current_in,
    drop_lost,
    mark_failed,
    refs_in_use,
)
from apps.sources.git.objects import GitError, open_at
from apps.sources.git.refs import names_of, ref_not_found
from apps.sources.git.remotes import https_only, remote_of
from apps.sources.git.single_flight import FailureCache, LockTimeout, SingleFlight, file_lock
from apps.sources.git.stamps import Stamp, digest, read_stamp, stamp_path, write_stamp
from apps.sources.git.waiting import Budget, Busy, Host, Places
from apps.web.exceptions import Unavailable

logger = logging.getLogger(__name__)

# All in seconds.
FIRST_WAIT = 10.0  # how long a caller waits for what was never fetched
SIGN_WAIT = 3.0  # and how long for a sign that it is coming
FETCH_LIMIT = 60.0  # how long a fetch may take when nobody waits, or nobody waits any more
MAX_PACKS = 50

# Of this process.
_waiting = Places(2, each=1)  # callers: of gunicorn's four threads (config/gunicorn.conf.py), two stay free
_first_slots = Places(3, each=1)
_refresh_slots = Places(4, each=2)
_missing_refs = Budget(6, seconds=10)
_single_flight = SingleFlight()
_failures = FailureCache()
# Where git runs now, and since when (monotonic).
_git_since: dict[Path, float] = {}


class Mirror:
    """One repository of one organization. `key` keeps organizations apart: mirrors are never shared between them."""

    def __init__(self, url: str, key: str) -> None:
        destination = https_only(url)
        self.url = destination.url
        self.folder = settings.DATA_DIR / "mirrors" / digest(f"{key}\0{self.url}")
        self._key = key
        self._organization = key.partition(":")[0]
        self._host = Host(settings.DATA_DIR / "mirrors", destination.host)

    def generation(self) -> Path | None:
        """The repository to read now. Resolved once for each answer, since another may take its place."""
        return current_in(self.folder)

    def open(self, generation: Path) -> pygit2.Repository:
        """A generation to read from, which lacks nothing that is known to have been there. Raises Unavailable."""
        try:
            integrity.check(generation)
            return open_at(generation)
        except (integrity.Damaged, GitError, OSError):
            self.mend(generation)
            raise unavailable() from None

    def mend(self, generation: Path) -> None:
        """Something could not be read: fetch everything anew, behind, if that is damage and not how it was sent."""
        _single_flight.start((self.folder, ""), lambda: self._mend(generation))

    def latest(self, ref: str) -> ResolvedRef:
        """The ref's newest known commit. Raises InvalidInput (ref_not_found), Unavailable.

        What was never fetched is waited for, at most FIRST_WAIT, by few callers at once. What is older than FRESH_FOR
        is answered as it is and refreshed behind.
        """
        known = self.known(ref)
        if known is None:
            self._await_initial_fetch(ref)
            known = self.known(ref)
        if known is None:
            raise unavailable()
        recency.note(self.folder, recency.Asked(self.url, self._key, ref))
        generation, stamp = known
        if not stamp.is_fresh:
            _single_flight.start((self.folder, ref), lambda: self._refresh(ref))
        return ResolvedRef(generation, stamp.commit, stamp.fetched_at, stamp.is_stale)

    def refresh(self, ref: str) -> None:
        """Fetches a known ref that is not fresh, and waits for it; a failure is in the log and in its stamp."""
        with suppress(Exception):  # the flight has told it
            _single_flight.start((self.folder, ref), lambda: self._refresh(ref)).result()

    def known(self, ref: str) -> tuple[Path, Stamp] | None:
        generation = self.generation()
        stamp = read_stamp(generation, ref) if generation else None
        return (generation, stamp) if generation and stamp else None

    def _await_initial_fetch(self, ref: str) -> None:
        """The fetch goes on when the caller has gone: a large repository is there for the next one who asks."""
        try:
            _failures.check(self.folder, ref)
            self._host.check()
            with _waiting.take(self._organization):
                self._wait(_single_flight.start((self.folder, ref), lambda: self._initial_fetch(ref)))
        except RefMissing:
            raise ref_not_found() from None
        except Busy as busy:
            raise unavailable(busy.retry_after) from None
        except (FetchFailed, OSError, GitError):  # OSError: also TimeoutError, and a full disk
            raise unavailable() from None

    def _wait(self, fetch: Future[None]) -> None:
        sign_wait = min(SIGN_WAIT, FIRST_WAIT)
        try:
            fetch.result(sign_wait)
        except TimeoutError:
            if not self._is_arriving():
                if self._git_runs_for() >= sign_wait / 2:  # else it waits for its turn, which is not the host's fault
                    self._host.was_silent()
                raise
            fetch.result(FIRST_WAIT - sign_wait)

    def _is_arriving(self) -> bool:
        return any(map(has_begun, (*self.folder.glob("new-*"), *self.folder.glob("g-*"))))

    def _git_runs_for(self) -> float:
        since = _git_since.get(self.folder)
        return time.monotonic() - since if since is not None else 0.0

    def _initial_fetch(self, ref: str) -> None:
        started = time.monotonic()
        _missing_refs.spend(self.folder)
        is_missing = False
        try:
            with self._lock(FIRST_WAIT):
                if self.known(ref):  # another process was quicker
                    return
                left = FIRST_WAIT - (time.monotonic() - started)
                with _first_slots.take(self._organization, seconds=left), _failures.recorded(self.folder, ref):
                    self._fetch_or_build(ref)
        except RefMissing:
            is_missing = True
            raise
        finally:
            if not is_missing:
                _missing_refs.give_back(self.folder)
        self._repack_if_needed()

    def _fetch_or_build(self, ref: str) -> None:
        generation = self.generation()
        if generation:
            self._fetch_into(generation, ref)
        else:
            self._build([ref])

    def _refresh(self, ref: str) -> None:
        _failures.check(self.folder, ref)
        with suppress(LockTimeout, Busy), self._lock(0), _refresh_slots.take(self._organization):
            known = self.known(ref)
            if known is None or known[1].is_fresh:
                return
            generation, stamp = known
            try:
                self._host.check()
                self._fetch_into(generation, ref, stamp.name)
            except RefMissing:
                # The branch is gone. Its commits stay, and can still be named by sha.
                stamp_path(generation, ref).unlink(missing_ok=True)
            except (FetchFailed, OSError):
                # A disk that is full keeps the stamp as it is: then this process remembers.
                with _failures.recorded(self.folder, ref):
                    mark_failed(generation, stamp)
                raise
        self._repack_if_needed()

    def _fetch_into(self, generation: Path, ref: str, likely_name: str | None = None) -> None:
        """Fetch a ref and stamp it. Raises RefMissing, FetchFailed."""
        local = f"refs/mirror/{digest(ref)}"
        remote = remote_of(self.url)
        names = sorted(names_of(ref), key=lambda name: name != likely_name)
        for name in names:
            try:
                self._run(fetch_command(remote, name, local, path=os.environ.get("PATH", os.defpath)), generation)
            except RefMissing:
                continue
            except FetchFailed:
                remove_leftovers(generation)
                raise
            integrity.record(generation)
            commit = commit_in(generation, local)
            if commit is None:
                raise RefMissing("The ref does not lead to a commit.")
            write_stamp(generation, Stamp(ref, name, commit, fetched_at=stamps.now(), tried_at=stamps.now()))
            return
        raise RefMissing("The repository has no such ref.")

    def _run(self, command: Command, generation: Path) -> None:
        """Run git, and remember how its host behaved. Raises RefMissing, FetchFailed."""
        _git_since[self.folder] = time.monotonic()
        try:
            run(command, generation, seconds=FETCH_LIMIT)
        except RefMissing:
            self._host.was_heard()
            raise
        except Silent:
            self._host.was_silent()
            raise
        else:
            self._host.was_heard()
        finally:
            del _git_since[self.folder]

    def _mend(self, damaged: Path) -> None:
        with suppress(LockTimeout, Busy), self._lock(0):
            if damaged != self.generation():
                return
            if integrity.is_intact(damaged):
                drop_lost(damaged)
                return
            logger.error("A mirror is damaged, and fetched anew.", extra={"fields": {"mirror": self.folder.name}})
            self._host.check()
            with _refresh_slots.take(self._organization), _failures.recorded(self.folder, ""):
                self._build(refs_in_use(damaged), is_lenient=True)
            shutil.rmtree(damaged, ignore_errors=True)

    def _repack_if_needed(self) -> None:
        generation = self.generation()
        if generation and len(list(generation.glob("objects/pack/*.pack"))) > MAX_PACKS:
            _single_flight.start((self.folder, ""), self._repack)

    def _repack(self) -> None:
        """Fetch every ref in use into a new repository: one small pack for each instead of all packs so far."""
        with suppress(LockTimeout), self._lock(0):
            generation = self.generation()
            if generation is None:
                return
            self._build(refs_in_use(generation), is_lenient=True)

    def _build(self, refs: list[str], *, is_lenient: bool = False) -> None:
        """A new repository takes the place of the one before, or nothing remains of it. Lenient: a ref may be gone."""
        new = Path(tempfile.mkdtemp(prefix="new-", dir=self.folder))
        try:
            pygit2.init_repository(new, bare=True)
            (new / "stamps").mkdir()
            integrity.record(new)
            for ref in refs:
                with suppress(*([RefMissing] if is_lenient else [])):
                    self._fetch_into(new, ref)
            activate(new)
        finally:
            shutil.rmtree(new, ignore_errors=True)

    @contextmanager
    def _lock(self, seconds: float) -> Iterator[None]:
        """Holds the mirror's lock, and removes what a process that died while holding it left. Raises LockTimeout."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with file_lock(self.folder / "lock", seconds=seconds):
            for leftover in self.folder.glob("new-*"):
                shutil.rmtree(leftover, ignore_errors=True)
            yield


def unavailable(retry_after: int = 10) -> Unavailable:
    # Never the other side's words: they may name hosts, paths and accounts.
    return Unavailable("The application's repository cannot be read at the moment.", retry_after=retry_after)
