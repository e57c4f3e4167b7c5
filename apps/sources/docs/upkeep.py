"""The index in place: opened for each thread, kept up to date and whole in the background, never inside a request."""

import fcntl
import hashlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from apps.sources.docs.index import FORMAT, TABLES, Stored, build, connect, fingerprint, scan, stored_in
from apps.web.exceptions import Unavailable

CHECK_EVERY = 30.0  # seconds between two checks of the directories and of the index, in each process
RETRY = 5  # seconds until an index that could not be built is tried again
WAIT = 5.0  # seconds that a caller waits for the index where none can answer

DAMAGED = "the index is damaged and is being rebuilt"
NOT_BUILT = "the index cannot be built; the last one answers, if there is one"
FOLDER_GONE = "a folder of DOCS_DIRS is gone or holds no document; the last index answers, if there is one"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Identity:
    """Which file, and in which state: one that was written to is another."""

    device: int
    inode: int
    size: int
    changed_ns: int


class Opened:
    """A connection, and what it reads; closed when the thread that used it or the index is gone."""

    def __init__(self, identity: Identity, connection: sqlite3.Connection) -> None:
        self.identity = identity
        self.process = os.getpid()  # a fork inherits this object, and a connection must not be used on both sides of it
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


class Upkeep:
    """One index file. Any number of threads and processes may use it."""

    def __init__(
        self, directories: tuple[Path, ...], data_dir: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        # Other directories, or another version of the index, get a file of their own.
        names = "\0".join([str(FORMAT), *(str(directory.absolute()) for directory in directories)])
        name = hashlib.sha256(names.encode(errors="surrogateescape")).hexdigest()[:12]
        self.index = data_dir / f"docs-index-{name}.sqlite3"
        self.problem: str | None = None  # what is wrong at the moment, for operators
        self._directories = directories
        self._clock = clock
        self._next_check = self._next_try = self._rested = float("-inf")
        self._damaged: Identity | None = None
        self._whole: Identity | None = None  # the one that was looked through and found to be whole
        self._starting = threading.Lock()
        self._worker: threading.Thread | None = None
        self._local = threading.local()

    def opened(self) -> Opened:
        """This thread's connection to the newest index that can be read; waits where there is none.

        Raises Unavailable when none is there in time.
        """
        self.refresh_if_due()
        opened = self._open()
        if opened is None:
            self.wait(WAIT)
            opened = self._open()
        if opened is None:
            raise Unavailable("The documentation index cannot be built at the moment.", RETRY)
        return opened

    def note_damage(self, opened: Opened, error: Exception) -> None:
        """Nobody uses this index again, in this process; the next one is on its way."""
        self._local.opened = None
        self._found_damaged(opened.identity, error)

    def refresh_if_due(self) -> None:
        """Look at the directories and at the index if it is time to; returns at once."""
        if self._is_due():
            self._start(self._is_due)

    def _is_due(self) -> bool:
        return self._clock() >= self._next_check

    def refresh(self) -> None:
        """Look at them now, in a thread; one at a time."""
        self._start(lambda: True)

    def _start(self, is_needed: Callable[[], bool]) -> None:
        """`is_needed` is asked once nobody else can be at work: what was needed may have been done meanwhile."""
        with self._starting:
            if (self._worker is None or not self._worker.is_alive()) and is_needed():
                self._next_check = self._clock() + CHECK_EVERY
                self._worker = threading.Thread(target=self._work, name="docs index", daemon=True)
                self._worker.start()

    def wait(self, seconds: float | None = None) -> None:
        """Until what was started has ended."""
        if worker := self._worker:
            worker.join(seconds)

    def _open(self) -> Opened | None:
        """The index that is in place; where that is none, the one that this thread still has open."""
        old: Opened | None = getattr(self._local, "opened", None)
        if old is not None and (old.process != os.getpid() or old.identity == self._damaged):
            old = self._local.opened = None
        identity = _identity(self.index)
        if old is not None and old.identity == identity:
            return old
        if identity is not None and identity != self._damaged:
            try:
                new = Opened(identity, connect(self.index))
                stored_in(new.connection)
            except sqlite3.Error as error:
                self._found_damaged(identity, error)
            else:
                self._local.opened = new
                return new
        if self._clock() >= self._next_try:
            self._start(lambda: _identity(self.index) == identity)
        # Written to where it is, the one that is open is damaged as well; one that was replaced or removed is not.
        is_same_file = old is not None and identity is not None and old.identity.inode == identity.inode
        return None if is_same_file else old

    def _found_damaged(self, identity: Identity, error: Exception) -> None:
        self._damaged = identity
        self._next_try = max(self._next_try, self._rested)  # or one that is never whole would keep us busy
        self._say(DAMAGED, error)

    def _say(self, problem: str | None, error: Exception | None = None) -> None:
        """One line for each change, however many ask."""
        if problem == self.problem:
            return
        self.problem = problem
        if problem is None:
            logger.info("The documentation index is whole and up to date again.")
        else:
            logger.error("Documentation: %s.%s", problem, f" ({error})" if error else "")

    def _work(self) -> None:
        try:
            self._build_if_needed()
        except Exception as error:  # disk full, not writable; and nobody else would hear of a bug in this thread
            self._next_try = self._clock() + RETRY
            self._say(NOT_BUILT, error)

    def _build_if_needed(self) -> None:
        found = scan(self._directories)
        wanted, before = fingerprint(found.files), _identity(self.index)
        stored = self._stored(before)
        folder_gone = not found.is_complete or (stored is not None and bool(stored.roots - found.roots))
        if stored is None or (stored.fingerprint != wanted and not folder_gone):
            self.index.parent.mkdir(parents=True, exist_ok=True)
            with self.index.with_suffix(".lock").open("w") as lock, suppress(BlockingIOError):
                # With an old index to serve there is no need to wait: its successor is noticed when it is in place.
                fcntl.flock(lock, fcntl.LOCK_EX if stored is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _identity(self.index) == before:  # still, after waiting for another process
                    started = self._clock()
                    build(self.index, found.files)
                    self._rested = self._clock() + 10 * (self._clock() - started)
                    self._whole = _identity(self.index)
        self._say(FOLDER_GONE if folder_gone else None)

    def _stored(self, identity: Identity | None) -> Stored | None:
        """What the index in place was built from; None when there is no index, or no whole one."""
        if identity is None or identity == self._damaged:
            return None
        try:
            with closing(connect(self.index)) as connection:
                if identity != self._whole:
                    look_through(connection)
                stored = stored_in(connection)
        except sqlite3.Error as error:
            self._found_damaged(identity, error)
            return None
        self._whole = identity
        return stored


def look_through(connection: sqlite3.Connection) -> None:
    """Raises sqlite3.DatabaseError unless every page can be read and every table is there."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok" or not names >= TABLES:
        raise sqlite3.DatabaseError("a page cannot be read, or a table is missing")


def _identity(file: Path) -> Identity | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
