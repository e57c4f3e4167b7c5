"""What people type → an FTS5 expression → pages in order, each with its best section."""

import sqlite3
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from apps.sources.docs.spelling import nearest

MAX_CHARACTERS = 512
MAX_TERMS = 32
MAX_COMPLETED = 6  # words the documents lack that are completed or corrected; further ones are left out
MAX_SECONDS = 0.02  # of this thread's time in which they are; words that are left then are left out as well
MAX_STARTING = 10_000  # words with the same beginning that are looked at
COMPLETIONS = 8
SECTIONS = 300  # the best sections and pages that are ranked
PAGES = 100
FUSION = 20  # the c of reciprocal rank fusion: 1 / (c + rank) from each of the two lists
BEST = 2 / (FUSION + 1)  # first in both lists

STOP_WORDS = frozenset(
    """
    a about am an and any are as at be been being but by can could did do does doing for from get had has have
    having he her here him his how i if in into is it its just let me my no not of on or our out she should so
    some such than that the their them then there these they this those to too up us use using very want was we
    were what when where which while who whom why will with would you your
    """.split()  # noqa: SIM905 (a list would be 130 lines)
)

# (section, page, rank): bm25 is negative, and the better the lower.
_SECTIONS = """
SELECT found.id, section_info.page, found.rank
FROM (SELECT rowid AS id, rank FROM section WHERE section MATCH ? ORDER BY rank LIMIT ?) AS found
JOIN section_info ON section_info.id = found.id
"""
_PAGES = "SELECT rowid, rank FROM page WHERE page MATCH ? ORDER BY rank LIMIT ?"
_BEST_SECTION_OF_PAGE = """
SELECT rowid FROM section
WHERE section MATCH ?
    AND rowid BETWEEN (SELECT first_section FROM page_info WHERE id = ?)
    AND (SELECT last_section FROM page_info WHERE id = ?)
ORDER BY rank, rowid LIMIT 1
"""
_STARTING_WITH = """
SELECT term FROM (SELECT term, pages FROM word WHERE term > ? AND term < ? LIMIT ?)
ORDER BY pages DESC, term LIMIT ?
"""
_LAST = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class RankedPage:
    page: int
    section: int
    score: float  # 1: the best page and the page with the best sections


def expression(connection: sqlite3.Connection, query: str) -> str | None:
    """The FTS5 expression for a query; None when it holds no word.

    Every word is quoted and any of them may match. Words that stand together are searched as a phrase as well, which
    lifts pages that have them together: `DATABASE_URL` → `"database" OR "url" OR "database url"`.
    """
    runs = [run for chunk in query[:MAX_CHARACTERS].split() if (run := _words(chunk))]
    words = [word for run in runs for word in run]
    kept = list(dict.fromkeys(word for word in words if word not in STOP_WORDS)) or list(dict.fromkeys(words))
    kept = kept[:MAX_TERMS]
    phrases = [" ".join(run[:MAX_TERMS]) for run in runs if len(run) > 1]
    allowed = set(kept)
    phrases += [f"{one} {two}" for one, two in pairwise(words) if {one, two} <= allowed]
    terms = dict.fromkeys([*_known(connection, kept), *phrases[: 2 * MAX_TERMS]])
    return " OR ".join(f'"{term}"' for term in terms) or None


def rank(connection: sqlite3.Connection, match: str, limit: int) -> list[RankedPage]:
    """The best pages first; those that are equally good by path (pages are numbered in that order)."""
    best, by_sections = _by_sections(connection.execute(_SECTIONS, (match, SECTIONS)))
    by_text = [page for page, _ in sorted(connection.execute(_PAGES, (match, PAGES)), key=lambda row: row[::-1])]
    fused: dict[int, float] = defaultdict(float)
    for pages in (by_sections, by_text):
        for place, page in enumerate(pages, start=1):
            fused[page] += 1 / (FUSION + place) / BEST
    ordered = sorted(fused.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return [
        RankedPage(page, best.get(page) or _best_section(connection, match, page), round(score, 4))
        for page, score in ordered
    ]


def _words(chunk: str) -> list[str]:
    """The words of a chunk without spaces: letters, digits and marks, so nothing in them is FTS5 syntax."""
    composed = unicodedata.normalize("NFC", chunk).lower()
    words = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in composed).split()
    return [word for word in words if unicodedata.category(word[0])[0] != "M"]  # a mark on its own is no word


def _known(connection: sqlite3.Connection, words: Iterable[str]) -> list[str]:
    """The words as the documents have them: as typed, or completed, or the nearest spellings, or left out."""
    known: list[str] = []
    completed = 0
    end = time.thread_time() + MAX_SECONDS  # not by the clock: what is found must not depend on who else is busy
    for word in words:
        if connection.execute("SELECT 1 FROM page WHERE page MATCH ? LIMIT 1", (f'"{word}"',)).fetchone():
            known.append(word)
        elif completed < MAX_COMPLETED and time.thread_time() < end:
            completed += 1
            folded = _without_marks(word)
            known += _starting_with(connection, folded) or nearest(connection, folded)
    return known


def _without_marks(word: str) -> str:
    """As the index folds words: without diacritics."""
    letters = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in letters if unicodedata.category(c) != "Mn"))


def _starting_with(connection: sqlite3.Connection, word: str) -> list[str]:
    # Whole words rather than FTS5's own `word*`, which would look for a beginning of stems: deploym* finds no "deploy".
    return [term for (term,) in connection.execute(_STARTING_WITH, (word, word + _LAST, MAX_STARTING, COMPLETIONS))]


def _by_sections(rows: Iterable[Sequence[float]]) -> tuple[dict[int, int], list[int]]:
    """Each page's best section, and the pages by their best section plus a quarter of the next two."""
    best: dict[int, int] = {}
    scores: dict[int, list[float]] = defaultdict(list)
    for section, page, score in sorted(rows, key=lambda row: (row[2], row[0])):
        best.setdefault(int(page), int(section))
        scores[int(page)].append(-score)
    totals = {page: each[0] + sum(each[1:3]) / 4 for page, each in scores.items()}
    return best, sorted(totals, key=lambda page: (-totals[page], page))


def _best_section(connection: sqlite3.Connection, match: str, page: int) -> int:
    """For a page that is found by its whole text only; every word of it stands in some section."""
    row = connection.execute(_BEST_SECTION_OF_PAGE, (match, page, page)).fetchone()
    return int(row[0])
