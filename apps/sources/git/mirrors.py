"""Mirrors: what was fetched of organizations' repositories, kept in DATA_DIR/mirrors and refreshed behind answers.

mirrors/<digest of url and key>/
  lock                one fetch at a time, across processes
  current → g-…       a bare repository; `stamps/` in it says what was fetched when, `scanned/` where credentials are
  asked/              what was asked for lately (recency.py)
  g-…                 the one before stays until the next one, for readers that are still in it
"""

import logging
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path

import pygit2
from django.conf import settings

from apps.sources.git import disk, integrity, recency, stamps
from apps.sources.git.fetch import MAX_PACK_BYTES, AccessDenied, FetchFailed, RefMissing, has_begun
from apps.sources.git.generations import (
    ResolvedRef,
    activate,
    commit_in,
    current_in,
    discarding_what_fails,
    drop_lost,
    mark_failed,
    refs_in_use,
)
from apps.sources.git.objects import GitError, open_at
from apps.sources.git.problems import no_repository
from apps.sources.git.refs import names_of, ref_not_found
from apps.sources.git.remotes import https_only
from apps.sources.git.single_flight import FailureCache, LockTimeout, SingleFlight, file_lock
from apps.sources.git.stamps import Stamp, digest, read_stamp, stamp_path, write_stamp
from apps.sources.git.upstream import FETCH_LIMIT, Upstream
from apps.sources.git.waiting import Budget, Busy, Host, Places
from apps.web.exceptions import InvalidInput, Unavailable

logger = logging.getLogger(__name__)

# All in seconds.
FIRST_WAIT = 10.0  # how long a caller waits for what was never fetched
SIGN_WAIT = 3.0  # and how long for a sign that it is coming
MAX_PACKS = 50
FIRST_AT_ONCE = 3  # first fetches of a process
ROOM = FIRST_AT_ONCE * MAX_PACK_BYTES  # that is left for them on the disk

NOT_LET_IN = (
    "This application's repository is private or gone, and Porthole has no credentials that its host takes for it; an "
    "operator can connect the host"
)

Known = tuple[Path, Stamp]  # the generation that it is in

# Of this process.
_waiting = Places(2, each=1)  # callers: of gunicorn's four threads (config/gunicorn.conf.py), two stay free
_first_slots = Places(FIRST_AT_ONCE, each=1)
_refresh_slots = Places(4, each=2)
_missing_refs = Budget(6, seconds=10)
_single_flight = SingleFlight()
_failures = FailureCache()


class Mirror:
    """One repository of one organization. `key` keeps organizations apart: mirrors are never shared between them."""

    def __init__(self, url: str, key: str) -> None:
        destination = https_only(url)
        self.url = destination.url
        self.folder = settings.DATA_DIR / "mirrors" / digest(f"{key}\0{self.url}")
        self._key = key
        self._organization = key.partition(":")[0]
        self._host = Host(settings.DATA_DIR / "mirrors", destination.host)
        self._upstream = Upstream(self.url, key, self.folder, self._host)

    def generation(self) -> Path | None:
        """The repository to read now. Resolved once for each answer, since another may take its place."""
        return current_in(self.folder)

    def open(self, generation: Path) -> pygit2.Repository:
        """A generation to read from, which lacks nothing that is known to have been there. Raises Unavailable."""
        disk.note_use(self.folder)
        try:
            integrity.check(generation)
            return open_at(generation)
        except (integrity.Damaged, GitError, OSError):
            self.mend(generation)
            raise unavailable() from None

    def mend(self, generation: Path) -> None:
        """Something could not be read: fetch everything anew, behind, if that is damage and not how it was sent."""
        _single_flight.start((self.folder, ""), lambda: self._mend(generation))

    def latest(self, ref: str, known: Known | None = None) -> ResolvedRef:
        """The ref's newest known commit. Raises InvalidInput (ref_not_found), Unavailable. `known`: if just looked up.

        What was never fetched is waited for, at most FIRST_WAIT, by few callers at once. What is older than FRESH_FOR
        is answered as it is and refreshed behind.
        """
        known = known or self.known(ref)
        if known is None:
            self._await_initial_fetch(ref)
            known = self.known(ref)
        if known is None:
            raise unavailable()
        disk.note_use(self.folder)
        recency.note(self.folder, recency.Asked(self.url, self._key, ref))
        generation, stamp = known
        if not stamp.is_fresh:
            _single_flight.start((self.folder, ref), lambda: self._refresh(ref))
        return ResolvedRef(generation, stamp.commit, stamp.fetched_at, stamp.is_stale)

    def refresh(self, ref: str) -> None:
        """Fetches a known ref that is not fresh, and waits for it; a failure is in the log and in its stamp."""
        with suppress(Exception):  # the flight has told it
            _single_flight.start((self.folder, ref), lambda: self._refresh(ref)).result()

    def known(self, ref: str) -> Known | None:
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
        except AccessDenied:
            raise no_repository(NOT_LET_IN) from None
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
                # Else it waits for its turn, which is not the host's fault.
                if self._upstream.git_runs_for() >= sign_wait / 2:
                    self._host.was_silent()
                raise
            fetch.result(FIRST_WAIT - sign_wait)

    def _is_arriving(self) -> bool:
        return any(map(has_begun, (*self.folder.glob("new-*"), *self.folder.glob("g-*"))))

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
        names = sorted(names_of(ref), key=lambda name: name != likely_name)
        with discarding_what_fails(generation, local):
            name = self._upstream.fetch(names, local, generation)
            commit = commit_in(generation, local)
            if commit is None:
                raise RefMissing("The ref does not lead to a commit.")
            integrity.record(generation)
        write_stamp(generation, Stamp(ref, name, commit, fetched_at=stamps.now(), tried_at=stamps.now()))

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
        disk.keep_within(settings.DATA_DIR / "mirrors", settings.MIRRORS_GIB * 2**30 - ROOM, but=self.folder)
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
        with file_lock(self.folder / "lock", seconds=seconds) as handle:
            for leftover in self.folder.glob("new-*"):
                shutil.rmtree(leftover, ignore_errors=True)
            self._upstream.lock = handle
            try:
                yield
            finally:
                self._upstream.lock = None


def remove_mirror(url: str, key: str) -> None:
    """Nothing that was fetched from there stays."""
    with suppress(InvalidInput):
        disk.remove(Mirror(url, key).folder, seconds=FETCH_LIMIT)


def unavailable(retry_after: int = 10) -> Unavailable:
    # Never the other side's words: they may name hosts, paths and accounts.
    return Unavailable("The application's repository cannot be read at the moment.", retry_after=retry_after)
