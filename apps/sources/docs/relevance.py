"""How much of what was asked for a section has: the share of the query's words, of which rare ones weigh more."""

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from apps.sources.docs.query import Query, Word, any_of

WEIGHED = 8  # words, the heaviest
MAX_COUNTED = 2000  # pages with a word
NEAR = 0.7  # what it weighs that the section itself has a word; the rest is for its page

_COUNT = "SELECT count(*) FROM (SELECT 1 FROM page WHERE page MATCH ? LIMIT ?)"
_SECTION_HAS = "SELECT 1 FROM section WHERE section MATCH ? AND rowid = ?"
_PAGE_HAS = "SELECT 1 FROM page WHERE page MATCH ? AND rowid = ?"


@dataclass(frozen=True, slots=True)
class Weighed:
    """A word of the query. `matches`: expressions, and the share of the word that each is worth, the best first."""

    weight: float
    matches: tuple[tuple[float, str], ...]


class Relevance:
    def __init__(self, connection: sqlite3.Connection, query: Query) -> None:
        self._connection = connection
        words = sorted((self._weighed(word) for word in query.words), key=lambda word: -word.weight)
        self._words = words[:WEIGHED]
        self._total = sum(word.weight for word in self._words)

    def of(self, page: int, section: int) -> float:
        """From 0, none of the words, to 1: the section has all of them as they were typed."""
        if not self._total:
            return 0.0
        return sum(word.weight * self._share(word, page, section) for word in self._words) / self._total

    def _share(self, word: Weighed, page: int, section: int) -> float:
        """Of a word, what the section has of it; a part of what only the rest of the page has."""
        near = self._first(word, _SECTION_HAS, section)
        return near if near == 1 else NEAR * near + (1 - NEAR) * self._first(word, _PAGE_HAS, page)

    def _first(self, word: Weighed, has: str, place: int) -> float:
        found = (share for share, match in word.matches if self._connection.execute(has, (match, place)).fetchone())
        return next(found, 0.0)

    def _weighed(self, word: Word) -> Weighed:
        (pages,) = self._connection.execute("SELECT pages FROM meta").fetchone()
        return Weighed(rarity(pages, self._pages_with(word)), tuple(_matches(word)))

    def _pages_with(self, word: Word) -> int:
        if not word.is_known:
            return 0
        (count,) = self._connection.execute(_COUNT, (f'"{word.typed}"', MAX_COUNTED)).fetchone()
        return int(count)


def rarity(pages: int, count: int) -> float:
    """How much it tells that a page has a word that `count` of all pages have: bm25's inverse document frequency."""
    return math.log(1 + (pages - count + 0.5) / (count + 0.5))


def _matches(word: Word) -> Iterator[tuple[float, str]]:
    by_share: dict[float, list[str]] = defaultdict(list)
    for term, share in word.found_as.items():
        by_share[share].append(term)
    for share in sorted(by_share, reverse=True):
        if match := any_of(by_share[share]):
            yield share, match
