"""What people type → the words that are looked for, each with what else may stand for it."""

import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

from apps.sources.docs.spelling import nearest
from apps.sources.docs.synonyms import MAX_WORDS, Synonyms
from apps.sources.docs.words import without_marks, words_in

MAX_CHARACTERS = 512
MAX_TERMS = 32
MAX_HEADING = 10  # words
MAX_SYNONYMS = 16
MAX_COMPLETED = 6  # words the documents lack that are completed or corrected; further ones are left out
MAX_SECONDS = 0.02  # of this thread's time in which they are; words that are left then are left out as well
MAX_STARTING = 10_000  # words with the same beginning that are looked at
COMPLETIONS = 8

# How much of a word is found where something else stands for it.
CLOSE = 0.9  # a longer word, a synonym, or a spelling that is surely meant
DISTANT = 0.4  # another word of the documents, which looks alike

STOP_WORDS = frozenset(
    """
    a about again already also always am an and any are as at be been being but by can come comes completely could
    did directly do does doing easily exactly for from get go goes had happen happens has have having he her here
    him his how i if in into is it its just know let many me much my need needs no not now of on only or our out
    over quickly really she should simply so some still straight such than that the their them then there these they
    this those through to too up us use using very want was we were what when where which while who whom why will
    with would you your
    """.split()  # noqa: SIM905 (a list would be 170 lines)
)
_NAME = re.compile(r"\w[_.:-]+\w|[a-z][A-Z]")  # DATABASE_URL, package-lock.json, maxRedirections

_STARTING_WITH = """
SELECT term FROM (SELECT term, pages FROM word WHERE term > ? AND term < ? LIMIT ?)
ORDER BY pages DESC, term LIMIT ?
"""
_LAST = "\U0010ffff"


@dataclass(slots=True)
class Word:
    """A word as it was typed. `found_as`: the terms that stand for it, with the share of it that each is worth."""

    typed: str
    is_known: bool
    found_as: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Query:
    words: tuple[Word, ...]
    own: tuple[str, ...]  # what was typed, or what stands for it where the documents lack it
    synonyms: tuple[str, ...]  # what else it is called
    heading: str | None  # all that was typed, where that may be what a heading says
    is_exact: bool  # one word, or one name such as DATABASE_URL, that the documents have: nothing explains it better

    @property
    def expression(self) -> str | None:
        """What every hit has something of; None: there is nothing to look for."""
        return any_of((*self.own, *self.synonyms))

    @property
    def marked(self) -> str | None:
        """What is shown of a hit: the words without the phrases that only bring pages together which have them so."""
        return any_of([term for word in self.words for term in word.found_as])


def any_of(terms: Sequence[str]) -> str | None:
    """As FTS5 wants it. Every term is quoted, so no text is syntax."""
    return " OR ".join(f'"{term}"' for term in dict.fromkeys(terms)) or None


def read_query(connection: sqlite3.Connection, text: str, synonyms: Synonyms) -> Query:
    """Any of the words may match. Those that stand together are looked for as a phrase as well, which lifts pages that
    have them together: `DATABASE_URL` → "database", "url", "database url".
    """
    chunks = [(chunk, run) for chunk in text[:MAX_CHARACTERS].split() if (run := words_in(chunk))]
    words = [word for _, run in chunks for word in run]
    kept = list(dict.fromkeys(word for word in words if word not in STOP_WORDS)) or list(dict.fromkeys(words))
    kept = kept[:MAX_TERMS]
    phrases = [" ".join(run[:MAX_TERMS]) for _, run in chunks if len(run) > 1]
    allowed = set(kept)
    phrases += [f"{one} {two}" for one, two in pairwise(words) if {one, two} <= allowed]
    found = {word.typed: word for word in _found(connection, kept)}
    others = list(islice(_synonyms(chunks, found, synonyms), MAX_SYNONYMS))
    own = [term for word in found.values() for term in ([word.typed] if word.is_known else word.found_as)]
    own += phrases[: 2 * MAX_TERMS]
    is_exact = min(len(chunks), len(kept)) == 1 and all(word.is_known for word in found.values())
    heading = " ".join(words) if 2 < len(words) <= MAX_HEADING else None
    return Query(tuple(found.values()), tuple(dict.fromkeys(own)), tuple(others), heading, is_exact)


def _found(connection: sqlite3.Connection, words: Sequence[str]) -> Iterator[Word]:
    """The words as the documents have them: as typed, or completed, or the nearest spellings, or not at all."""
    completed = 0
    end = time.thread_time() + MAX_SECONDS  # not by the clock: what is found must not depend on who else is busy
    for typed in words:
        if connection.execute("SELECT 1 FROM page WHERE page MATCH ? LIMIT 1", (f'"{typed}"',)).fetchone():
            yield Word(typed, True, {typed: 1.0})
        elif completed < MAX_COMPLETED and time.thread_time() < end:
            completed += 1
            yield Word(typed, False, _meant(connection, without_marks(typed)))
        else:
            yield Word(typed, False)


def _meant(connection: sqlite3.Connection, word: str) -> dict[str, float]:
    if longer := _starting_with(connection, word):
        return dict.fromkeys(longer, CLOSE)
    return {term: CLOSE if _is_surely_meant(word, term) else DISTANT for term in nearest(connection, word)}


def _is_surely_meant(typed: str, term: str) -> bool:
    """In a short word, a letter in another's place makes another word: bread is not break."""
    return sorted(typed) == sorted(term) or len(typed) >= 8 or (len(typed) >= 6 and len(typed) != len(term))


def _starting_with(connection: sqlite3.Connection, word: str) -> list[str]:
    # Whole words rather than FTS5's own `word*`, which would look for a beginning of stems: deploym* finds no "deploy".
    return [term for (term,) in connection.execute(_STARTING_WITH, (word, word + _LAST, MAX_STARTING, COMPLETIONS))]


def _synonyms(chunks: Sequence[tuple[str, list[str]]], found: dict[str, Word], synonyms: Synonyms) -> Iterator[str]:
    """Each once; also noted with the words that it stands for."""
    seen = set()
    for run in dict.fromkeys(_runs(chunks)):
        if len(run) == 1 and run[0] not in found:
            continue  # a stop word
        others = synonyms.of(run)
        if not others and len(run) == 1 and not found[run[0]].found_as:
            others = synonyms.of_misspelt(run[0])
        for other in others:
            for word in run:
                if word in found:
                    found[word].found_as.setdefault(other, CLOSE)
            if other not in seen:
                seen.add(other)
                yield other


def _runs(chunks: Sequence[tuple[str, list[str]]]) -> Iterator[tuple[str, ...]]:
    """One to three words that follow each other, and no part of a name: the lock of package-lock.json is no lock."""
    words: list[str] = []
    starts, ends = set(), set()
    for chunk, run in chunks:
        first, after = len(words), len(words) + len(run)
        starts |= {first} if _NAME.search(chunk) else set(range(first, after))
        ends |= {after} if _NAME.search(chunk) else set(range(first + 1, after + 1))
        words += run
    for length in range(1, MAX_WORDS + 1):
        for start in sorted(starts):
            if start + length in ends:
                yield tuple(words[start : start + length])
