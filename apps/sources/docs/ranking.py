"""A query → pages in order, each with its best section; none where no page has enough of what was asked for."""

import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from apps.sources.docs.query import STOP_WORDS, Query, any_of
from apps.sources.docs.relevance import Relevance, rarity
from apps.sources.docs.words import words_in

SECTIONS = 300  # the best sections and pages that are ranked
PAGES = 100
FUSION = 20  # the c of reciprocal rank fusion: weight / (c + rank) from each list
SECOND = 0.5  # the weight of what was not found by the query's own words alone, so that these come first

# Sections with any of the words, each counted for each word: the commonest words of a query are left out beyond that.
MAX_POSTINGS = 2000
MAX_SECOND_POSTINGS = 1500

FEEDBACK_SECTIONS = 5  # the best ones, whose strongest words make another query
FEEDBACK_WORDS = 8
FEEDBACK_CHARACTERS = 4000  # of a section
MAX_ASKED = 12  # words: a longer query says enough by itself

# The floors, as shares of the query's words.
ENOUGH = 0.42  # of the best page; where it has less, nothing is answered
SHARE = 0.1  # of each other page, of what the best one has
LOOKED_AT = 10  # pages, at least, among which the best one is looked for

# (section, page, rank): bm25 is negative, and the better the lower.
_SECTIONS = """
SELECT found.id, section_info.page, found.rank
FROM (SELECT rowid AS id, rank FROM section WHERE section MATCH ? ORDER BY rank LIMIT ?) AS found
JOIN section_info ON section_info.id = found.id
"""
_HEADINGS = ("title trail", "title headings")  # columns of sections, and of pages
_PAGES = "SELECT rowid, rank FROM page WHERE page MATCH ? ORDER BY rank LIMIT ?"
_BEST_SECTION_OF_PAGE = """
SELECT rowid FROM section
WHERE section MATCH ?
    AND rowid BETWEEN (SELECT first_section FROM page_info WHERE id = ?)
    AND (SELECT last_section FROM page_info WHERE id = ?)
ORDER BY rank, rowid LIMIT 1
"""
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM section WHERE section MATCH ? LIMIT ?)"
_TEXT = "SELECT substr(title || ' ' || trail || ' ' || body, 1, ?) FROM section WHERE rowid = ?"


@dataclass(frozen=True, slots=True)
class RankedPage:
    page: int
    section: int
    score: float  # 1: first in every list


@dataclass(frozen=True, slots=True)
class Found:
    """What one expression finds, the best first: sections, pages by their sections, and pages by their whole text."""

    sections: Sequence[int]
    by_sections: Sequence[int]
    by_text: Sequence[int]
    best: Mapping[int, int]  # section of each page in `by_sections`
    weight: float


def rank(connection: sqlite3.Connection, query: Query, limit: int) -> list[RankedPage]:
    """The best pages first; those that are equally good by path (pages are numbered in that order)."""
    if (match := query.expression) is None:
        return []
    found = list(_by_words(connection, query))
    best = {page: section for each in reversed(found) for page, section in each.best.items()}
    found += _by_feedback(connection, query, found[0].sections[:FEEDBACK_SECTIONS])
    pages = (
        RankedPage(page, section, score)
        for page, score in _fused(found)
        if (section := best.get(page) or _best_section(connection, match, page))
    )
    return _relevant(connection, query, list(islice(pages, max(limit, LOOKED_AT))))[:limit]


def _by_words(connection: sqlite3.Connection, query: Query) -> Iterator[Found]:
    """By its own words; and by these and their synonyms, where there are any."""
    if query.own:
        yield _found(connection, query.own, 1, query.heading)
    if query.synonyms:
        yield _found(connection, (*query.own, *query.synonyms), SECOND)


def _by_feedback(connection: sqlite3.Connection, query: Query, sections: Sequence[int]) -> Iterator[Found]:
    """By its own words and the strongest ones of the best sections."""
    if query.is_exact or len(query.words) > MAX_ASKED:
        return
    if strongest := _strongest_words(connection, sections):
        yield _found(connection, (*query.own, *strongest), SECOND)


def _found(connection: sqlite3.Connection, terms: Sequence[str], weight: float, heading: str | None = None) -> Found:
    match = any_of(_affordable(connection, terms, MAX_POSTINGS if weight == 1 else MAX_SECOND_POSTINGS))
    of_sections, of_pages = (f'{match} OR {{{in_}}} : "{heading}"' if heading else match for in_ in _HEADINGS)
    rows = sorted(connection.execute(_SECTIONS, (of_sections, SECTIONS)), key=lambda row: (row[2], row[0]))
    best, by_sections = _by_sections(rows)
    by_text = [page for page, _ in sorted(connection.execute(_PAGES, (of_pages, PAGES)), key=lambda row: row[::-1])]
    return Found([section for section, _, _ in rows], by_sections, by_text, best, weight)


def _affordable(connection: sqlite3.Connection, terms: Sequence[str], most: int) -> list[str]:
    """The rarest ones: every section with any of them has to be weighed, and common words tell least."""
    words = dict.fromkeys(word for term in terms for word in term.split())
    counts = {w: int(connection.execute(_COUNT, (f'"{w}"', MAX_POSTINGS)).fetchone()[0]) for w in words}
    rows = {term: min(counts[word] for word in term.split()) for term in terms}
    kept: set[str] = set()
    for term in sorted(rows, key=lambda term: (rows[term], " " in term, term)):
        cost = 0 if kept.intersection(term.split()) else rows[term]  # where a word of it is kept, its sections are, too
        if not kept or cost <= most:
            kept.add(term)
            most -= cost
    return [term for term in rows if term in kept]


def _by_sections(rows: Iterable[tuple[int, int, float]]) -> tuple[dict[int, int], list[int]]:
    """Each page's best section, and the pages by their best section plus a quarter of the next two."""
    best: dict[int, int] = {}
    scores: dict[int, list[float]] = defaultdict(list)
    for section, page, score in rows:
        best.setdefault(page, section)
        scores[page].append(-score)
    totals = {page: each[0] + sum(each[1:3]) / 4 for page, each in scores.items()}
    return best, sorted(totals, key=lambda page: (-totals[page], page))


def _fused(found: Sequence[Found]) -> list[tuple[int, float]]:
    """Reciprocal rank fusion: the pages and their scores, the best first."""
    most = sum(2 * each.weight for each in found) / (FUSION + 1)
    scores: dict[int, float] = defaultdict(float)
    for each in found:
        for pages in (each.by_sections, each.by_text):
            for place, page in enumerate(pages, start=1):
                scores[page] += each.weight / (FUSION + place) / most
    return sorted(((page, round(score, 4)) for page, score in scores.items()), key=lambda item: (-item[1], item[0]))


def _best_section(connection: sqlite3.Connection, match: str, page: int) -> int | None:
    """Of a page that was found by its whole text only; None where no section has a word of what was asked for."""
    row = connection.execute(_BEST_SECTION_OF_PAGE, (match, page, page)).fetchone()
    return int(row[0]) if row else None


def _strongest_words(connection: sqlite3.Connection, sections: Sequence[int]) -> list[str]:
    """The words that these sections have often, and the documents seldom."""
    often: dict[str, float] = defaultdict(float)
    for section in sections:
        (text,) = connection.execute(_TEXT, (FEEDBACK_CHARACTERS, section)).fetchone()
        for word, count in Counter(words_in(text)).items():
            if len(word) > 2 and word not in STOP_WORDS and not word.isdigit():
                often[word] += 1 + math.log(count)
    known = ",".join("?" * len(often))
    (pages,) = connection.execute("SELECT pages FROM meta").fetchone()
    rows = connection.execute(f"SELECT term, pages FROM word WHERE term IN ({known})", list(often))  # noqa: S608
    strength = {term: often[term] * rarity(pages, count) for term, count in rows}
    return sorted(strength, key=lambda word: (-strength[word], word))[:FEEDBACK_WORDS]


def _relevant(connection: sqlite3.Connection, query: Query, pages: Sequence[RankedPage]) -> list[RankedPage]:
    """Those that are above the floors."""
    relevance = Relevance(connection, query)
    shares = [relevance.of(page.page, page.section) for page in pages]
    best = max(shares, default=0.0)
    if best < ENOUGH:
        return []
    return [page for page, share in zip(pages, shares, strict=True) if share >= SHARE * best]
