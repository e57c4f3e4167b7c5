"""Search over the documentation in DOCS_DIRS: answers from the index file."""

import json
import os
import sqlite3
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TypeVar
from urllib.parse import quote

from django.conf import settings

from apps.sources.docs.chunks import DIRECTORY_PAGES, MARKDOWN
from apps.sources.docs.index import stored_in
from apps.sources.docs.query import RankedPage, expression, rank
from apps.sources.docs.upkeep import RETRY, Upkeep
from apps.web.exceptions import Unavailable

MAX_ANSWER = 56 * 1024  # bytes of JSON; no answer may be over 64 KiB
SNIPPET = 400  # characters

Answer = TypeVar("Answer")

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


def refresh() -> str | None:
    """Look at the directories now, and wait until the index is up to date; what is wrong with them, if something is."""
    upkeep = _docs().upkeep
    upkeep.refresh()
    upkeep.wait()
    return upkeep.problem


def indexed_at() -> datetime | None:
    """When the index that answers now was built; None before the first search or `prepare`."""
    try:
        return datetime.fromtimestamp(_docs().upkeep.index.stat().st_mtime, UTC)
    except OSError:
        return None


def condition() -> str | None:
    """What is wrong with the documentation or its index, as far as this process knows. Waits for nothing."""
    upkeep = _docs().upkeep
    upkeep.refresh_if_due()
    return upkeep.problem


def _docs() -> "Docs":
    return _docs_in(tuple(settings.DOCS_DIRS), settings.DATA_DIR, settings.DOCS_BASE_URL or None)


@lru_cache(maxsize=8)
def _docs_in(directories: tuple[Path, ...], data_dir: Path, base_url: str | None) -> "Docs":
    return Docs(directories, data_dir, base_url)


os.register_at_fork(after_in_child=_docs_in.cache_clear)  # its threads stay behind


class Docs:
    """The documentation in some directories."""

    def __init__(
        self,
        directories: tuple[Path, ...],
        data_dir: Path,
        base_url: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.upkeep = Upkeep(directories, data_dir, clock)
        self._base_url = base_url

    def search(self, query: str, limit: int) -> list[Hit]:
        return self._read(lambda connection: self._search(connection, query, limit))

    def pages(self) -> int:
        self.upkeep.refresh_if_due()
        self.upkeep.wait()
        return self._read(lambda connection: stored_in(connection).pages)

    def _read(self, read: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """What `read` makes of the index. One that turns out to be damaged is replaced, and the new one is asked."""
        for _ in range(2):
            opened = self.upkeep.opened()
            try:
                return read(opened.connection)
            # TypeError: an unreadable page may look like an empty one, so a row or a text that must be there is not.
            except (sqlite3.Error, TypeError) as error:
                self.upkeep.note_damage(opened, error)
        raise Unavailable("The documentation index is being rebuilt.", RETRY)

    def _search(self, connection: sqlite3.Connection, query: str, limit: int) -> list[Hit]:
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
