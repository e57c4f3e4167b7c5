"""Search over the documentation in DOCS_DIRS: keeps the index file fresh, and answers from it."""

import fcntl
import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from django.conf import settings

from apps.sources.docs.chunks import DIRECTORY_PAGES, MARKDOWN
from apps.sources.docs.index import FORMAT, build, connect, fingerprint, scan, stored_fingerprint
from apps.sources.docs.query import RankedPage, expression, rank
from apps.web.exceptions import Unavailable

CHECK_EVERY = 30.0  # seconds between two checks of the directories, in each process
MAX_ANSWER = 56 * 1024  # bytes of JSON; no answer may be over 64 KiB
SNIPPET = 400  # characters

logger = logging.getLogger(__name__)

# The marks around each match are control characters, which no indexed text holds.
_HIT = """
SELECT page_info.doc_id, page_info.title, section_info.heading, page_info.path, section_info.anchor,
    snippet(section, 3, char(2), char(3), '…', 64)
FROM section JOIN section_info ON section_info.id = section.rowid JOIN page_info ON page_info.id = section_info.page
WHERE section MATCH ? AND section.rowid = ?
"""
_NEXT_BODY = """
SELECT body FROM section
WHERE rowid > ? AND body <> ''
    AND rowid <= (SELECT last_section FROM page_info JOIN section_info ON section_info.page = page_info.id
                  WHERE section_info.id = ?)
ORDER BY rowid LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """One page that matches, and the section of it that matches best."""

    id: str  # doc_ and 26 characters, derived from the path
    title: str
    section: str | None  # None: the part above the page's first subheading
    path: str  # relative to its directory in DOCS_DIRS
    url: str | None
    anchor: str | None
    snippet: str  # plain text
    score: float  # over 0, at most 1; comparable within one answer only


def search(query: str, limit: int) -> list[Hit]:
    """The pages that match best, best first; [] when nothing does. Raises Unavailable when no index can be made.

    `limit` is a maximum: an answer ends early where its JSON would grow too large for one response.
    """
    return _docs().search(query, limit)


def prepare() -> int:
    """Make sure that the index is there and up to date, as start-up does; the number of pages in it."""
    return _docs().pages()


def indexed_at() -> datetime | None:
    """When the index that answers now was built; None before the first search or `prepare`."""
    try:
        return datetime.fromtimestamp(_docs().index.stat().st_mtime, UTC)
    except FileNotFoundError:
        return None


def _docs() -> "Docs":
    return _docs_in(tuple(settings.DOCS_DIRS), settings.DATA_DIR, settings.DOCS_BASE_URL or None)


@lru_cache(maxsize=8)
def _docs_in(directories: tuple[Path, ...], data_dir: Path, base_url: str | None) -> "Docs":
    return Docs(directories, data_dir, base_url)


class Docs:
    """The documentation in some directories. Any number of threads and processes may use the same index file."""

    def __init__(
        self,
        directories: tuple[Path, ...],
        data_dir: Path,
        base_url: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        # Other directories, or another version of the index, get a file of their own.
        names = "\0".join([str(FORMAT), *(str(directory.absolute()) for directory in directories)])
        name = hashlib.sha256(names.encode(errors="surrogateescape")).hexdigest()[:12]
        self.index = data_dir / f"docs-index-{name}.sqlite3"
        self._directories = directories
        self._base_url = base_url
        self._clock = clock
        self._next_check = float("-inf")
        self._checking = threading.Lock()
        self._local = threading.local()

    def search(self, query: str, limit: int) -> list[Hit]:
        connection = self._connection()
        match = expression(connection, query)
        if match is None:
            return []
        hits: list[Hit] = []
        room = MAX_ANSWER
        for ranked in rank(connection, match, limit):
            hit = self._hit(connection, match, ranked)
            room -= len(json.dumps(asdict(hit), ensure_ascii=False).encode())
            if room < 0:
                break
            hits.append(hit)
        return hits

    def pages(self) -> int:
        return int(self._connection().execute("SELECT pages FROM meta").fetchone()[0])

    def _hit(self, connection: sqlite3.Connection, match: str, ranked: RankedPage) -> Hit:
        doc_id, title, heading, path, anchor, marked = connection.execute(_HIT, (match, ranked.section)).fetchone()
        return Hit(
            id=doc_id,
            title=clip(title, 200),
            section=clip(heading, 200) if heading else None,
            path=path,
            url=page_url(self._base_url, path, anchor) if self._base_url else None,
            anchor=anchor,
            snippet=_snippet(marked) or _what_follows(connection, ranked.section) or clip(heading or title, SNIPPET),
            score=ranked.score,
        )

    def _connection(self) -> sqlite3.Connection:
        """This thread's connection to the index that is in place now."""
        self._refresh_if_due()
        status = self.index.stat()
        # The process too: a fork inherits this object, and a connection must not be used on both sides of it.
        identity = (os.getpid(), status.st_dev, status.st_ino)
        opened: _IndexConnection | None = getattr(self._local, "opened", None)
        if opened is None or opened.identity != identity:
            self._local.opened = opened = _IndexConnection(identity, connect(self.index))
        return opened.connection

    def _refresh_if_due(self) -> None:
        """Bring the index up to date if it is time to look; where there is one, only one thread does, others go on."""
        if not self._is_due() or not self._checking.acquire(blocking=not self.index.exists()):
            return
        try:
            if self._is_due():  # still, after waiting for another thread
                self._update()
                self._next_check = self._clock() + CHECK_EVERY
        finally:
            self._checking.release()

    def _is_due(self) -> bool:
        return self._clock() >= self._next_check or not self.index.exists()

    def _update(self) -> None:
        try:
            self._build_if_changed()
        except (OSError, sqlite3.Error) as error:
            logger.exception("The documentation index cannot be built.")
            if stored_fingerprint(self.index) is None:
                raise Unavailable("The documentation index cannot be built at the moment.") from error

    def _build_if_changed(self) -> None:
        files = scan(self._directories)
        wanted, stored = fingerprint(files), stored_fingerprint(self.index)
        if stored == wanted:
            return
        self.index.parent.mkdir(parents=True, exist_ok=True)
        with self.index.with_suffix(".lock").open("w") as lock, suppress(BlockingIOError):
            # With an old index to serve there is no need to wait: its successor is noticed when it is in place.
            fcntl.flock(lock, fcntl.LOCK_EX if stored is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stored_fingerprint(self.index) != wanted:  # still, after waiting for another process
                build(self.index, files)


class _IndexConnection:
    """A connection, and which file it reads; closed when the thread that used it or the index is gone."""

    def __init__(self, identity: tuple[int, int, int], connection: sqlite3.Connection) -> None:
        self.identity = identity
        self.connection = connection

    def __del__(self) -> None:
        self.connection.close()


def page_url(base_url: str, path: str, anchor: str | None) -> str | None:
    """Where a page is published: without .md, and `index` and `README` as their directory. None: over 2,048 long."""
    page = PurePosixPath(path)
    if page.suffix.lower() in MARKDOWN:
        page = page.with_suffix("")
    end = ""
    if page.name.lower() in DIRECTORY_PAGES:
        page, end = page.parent, "/"
    way = "" if page == PurePosixPath() else "/" + quote(page.as_posix())
    url = base_url.rstrip("/") + way + end + (f"#{quote(anchor)}" if anchor else "")
    return url if len(url) <= 2048 else None


def _what_follows(connection: sqlite3.Connection, section: int) -> str:
    """The beginning of the first text after a heading that has none of its own."""
    row = connection.execute(_NEXT_BODY, (section, section)).fetchone()
    return clip(row[0], SNIPPET) if row else ""


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, cut between words where there is a space to cut at."""
    if len(text) <= limit:
        return text
    head, space, _ = text[:limit].rpartition(" ")
    return (head if space and len(head) > limit // 2 else text[: limit - 1]) + "…"


def _snippet(marked: str) -> str:
    """Text around the matches, whose marks \\x02 and \\x03 are taken out; at most SNIPPET characters."""
    text = marked.replace("\x02", "").replace("\x03", "")
    if len(text) <= SNIPPET:
        return text
    first = max(marked.find("\x02"), 0)
    if first < SNIPPET // 2:
        return clip(text, SNIPPET)
    lead = text[first - SNIPPET // 4 : first]
    start = first - len(lead.partition(" ")[2] or lead)
    return "…" + clip(text[start:], SNIPPET - 1)
