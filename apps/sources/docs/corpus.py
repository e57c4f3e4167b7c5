"""Search over the documentation in DOCS_DIRS: answers from the index file."""

import json
import os
import sqlite3
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from django.conf import settings

from apps.sources.docs.addresses import address_of, is_own, prefixes, url_of
from apps.sources.docs.contents import Contents, read_contents
from apps.sources.docs.index import stored_in
from apps.sources.docs.query import Query, read_query
from apps.sources.docs.ranking import RankedPage, rank
from apps.sources.docs.synonyms import Groups, synonyms
from apps.sources.docs.upkeep import RETRY, Identity, Upkeep
from apps.web.exceptions import Unavailable

MAX_ANSWER = 56 * 1024  # bytes of JSON; no answer may be over 64 KiB
SNIPPET = 400  # characters

Answer = TypeVar("Answer")

# The marks around each match are control characters, which no indexed text holds.
_HIT = """
SELECT page_info.doc_id, page_info.title, section_info.heading, page_info.path, section_info.anchor,
    page_info.root, page_info.address,
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
    if not is_all_public():
        public_docs().pages()
    return _docs().pages()


def refresh() -> str | None:
    """Look at the directories now, and wait until the index is up to date; what is wrong with them, if something is."""
    problems = []
    for docs in (_docs(),) if is_all_public() else (_docs(), public_docs()):
        docs.upkeep.refresh()
        docs.upkeep.wait()
        problems.append(docs.upkeep.problem)
    return next(filter(None, problems), None)


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
    return _docs_in(tuple(settings.DOCS_DIRS), settings.DATA_DIR, settings.DOCS_BASE_URL or None, *_home())


def all_docs() -> "Docs":
    """What members see: every directory, each page at its address here."""
    return _docs_in(tuple(settings.DOCS_DIRS), settings.DATA_DIR, None, *_home())


def public_docs() -> "Docs":
    """What everybody sees. It has an index of its own, so that no word of another page can show in it."""
    directories = tuple(d for d in settings.DOCS_DIRS if settings.DOCS_PUBLIC or is_own(d, settings.OWN_DOCS))
    return _docs_in(directories, settings.DATA_DIR, None, *_home())


def is_all_public() -> bool:
    return public_docs().directories == all_docs().directories


def _home() -> tuple[Path, str, Groups]:
    return settings.OWN_DOCS, f"{settings.PUBLIC_URL}/docs", settings.DOCS_SYNONYMS


@lru_cache(maxsize=8)
def _docs_in(
    directories: tuple[Path, ...], data_dir: Path, base_url: str | None, own: Path, home: str, added: Groups
) -> "Docs":
    return Docs(directories, data_dir, base_url, own=own, home=home, synonyms=added)


os.register_at_fork(after_in_child=_docs_in.cache_clear)  # its threads stay behind


class Docs:
    """The documentation in some directories."""

    def __init__(
        self,
        directories: tuple[Path, ...],
        data_dir: Path,
        base_url: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        own: Path | None = None,
        home: str = "/docs",
        synonyms: Groups = (),
    ) -> None:
        """`base_url`: where the pages are published; else each is at its address below `home`.

        `own` is the directory whose addresses there have no prefix. `synonyms` are those that Porthole's list lacks.
        """
        self.directories = directories
        self.upkeep = Upkeep(directories, data_dir, clock)
        self.home = home
        self._base_url = base_url
        self._synonyms = synonyms
        self._prefixes = prefixes(directories, own)
        self._contents: tuple[Identity, Contents] | None = None

    def contents(self) -> Contents:
        """The pages of the index that answers now. Raises Unavailable where there is none."""
        opened = self.upkeep.opened()
        known = self._contents
        if known is None or known[0] != opened.identity:
            known = opened.identity, self._read(lambda connection: read_contents(connection, self._prefixes))
            self._contents = known
        return known[1]

    def url(self, address: str, anchor: str | None = None) -> str | None:
        return url_of(self.home, address, anchor)

    def _url(self, root: int, path: str, address: str, anchor: str | None) -> str | None:
        if self._base_url:
            return page_url(self._base_url, path, anchor)
        return self.url(self._prefixes[root] + address, anchor)

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
        read = read_query(connection, query, synonyms(self._synonyms))
        hits: list[Hit] = []
        room = MAX_ANSWER
        for ranked in rank(connection, read, limit):
            hit = self._hit(connection, read, ranked)
            room -= len(json.dumps(asdict(hit), ensure_ascii=False).encode())
            if room < 0:
                break
            hits.append(hit)
        return hits

    def _hit(self, connection: sqlite3.Connection, query: Query, ranked: RankedPage) -> Hit:
        matches = (query.marked, query.expression)  # the second for a section that has none of the words, but a phrase
        rows = (connection.execute(_HIT, (match, ranked.section)).fetchone() for match in matches if match)
        found = next(filter(None, rows), None)  # an index that lacks what it told of is damaged: TypeError
        doc_id, title, heading, path, anchor, root, address, marked = found  # type: ignore[misc]
        return Hit(
            id=doc_id,
            title=clip(title, 200),
            section=clip(heading, 200) if heading else None,
            path=path,
            url=self._url(root, path, address, anchor),
            anchor=anchor,
            snippet=_snippet(marked) or _what_follows(connection, ranked.section) or clip(heading or title, SNIPPET),
            score=ranked.score,
        )


def page_url(base_url: str, path: str, anchor: str | None) -> str | None:
    """Where a page is published below another site's address. None: over 2,048 long."""
    return url_of(base_url, address_of(path), anchor)


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
