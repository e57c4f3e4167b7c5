"""Words that mean the same to people of the field: the list that comes with Porthole, and what operators add to it."""

import sqlite3
import threading
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from apps.sources.docs.spelling import distance
from apps.sources.docs.words import words_in

OWN = Path(__file__).with_name("synonyms.txt")
MAX_GROUPS = 2000
MAX_TERMS = 32  # in a group
MAX_WORDS = 3  # in a term
MAX_CHARACTERS = 64  # of a word
LEAST_CORRECTED = 7  # letters of a word that is taken for one of the list; in shorter ones a slip makes another word

Groups = tuple[tuple[str, ...], ...]  # of terms, each with single spaces between its words

# Porter's stems make a term match in all its forms, just as in the index; `words` tells whether it matches as a whole.
_SCHEMA = """
CREATE VIRTUAL TABLE term USING fts5(
    text, number UNINDEXED, words UNINDEXED, tokenize = "porter unicode61 remove_diacritics 2"
)
"""
_NUMBERS = "SELECT DISTINCT number FROM term WHERE term MATCH ? AND words = ?"


def groups_in(text: str) -> Groups:
    """One group a line, with commas between its terms; a line that begins with # is a comment.

    Raises ValueError with a sentence that names the line and shows nothing of it.
    """
    groups = tuple(
        _group(number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    )
    if len(groups) > MAX_GROUPS:
        raise ValueError(f"there are more than {MAX_GROUPS} groups")
    return groups


def _group(number: int, line: str) -> tuple[str, ...]:
    terms = [words_in(term) for term in line.split(",")]
    if not 2 <= len(terms) <= MAX_TERMS:
        raise ValueError(f"line {number} must have 2 to {MAX_TERMS} terms with commas between them")
    if not all(1 <= len(term) <= MAX_WORDS and max(map(len, term)) <= MAX_CHARACTERS for term in terms):
        raise ValueError(
            f"each term in line {number} must have 1 to {MAX_WORDS} words of at most {MAX_CHARACTERS} letters"
        )
    return tuple(" ".join(term) for term in terms)


class Synonyms:
    """Any number of threads may ask."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.execute(_SCHEMA)
        self._by_length = _by_length(term for group in groups for term in group if " " not in term)
        rows = ((term, n, term.count(" ") + 1) for n, group in enumerate(groups) for term in group)
        self._connection.executemany("INSERT INTO term VALUES (?, ?, ?)", rows)

    def of(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """What else people call what these words are together; most are called nothing else."""
        phrase = " ".join(words)
        with self._lock:
            numbers = self._connection.execute(_NUMBERS, (f'"{phrase}"', len(words))).fetchall()
        return tuple(dict.fromkeys(other for (n,) in sorted(numbers) for other in self._groups[n] if other != phrase))

    def of_misspelt(self, word: str) -> tuple[str, ...]:
        """Of the word of the list that differs by one slip, for words that the documents have neither so nor so."""
        if not LEAST_CORRECTED <= len(word) <= MAX_CHARACTERS:
            return ()
        near = (term for term in self._by_length.get(len(word), ()) if distance(word, term, 1) <= 1)
        meant = next(near, None)
        return (meant, *self.of((meant,))) if meant else ()


def _by_length(words: Iterable[str]) -> dict[int, list[str]]:
    """Those that are as long, or longer or shorter by one letter."""
    by_length: dict[int, list[str]] = {}
    for word in sorted(set(words)):
        for length in (len(word) - 1, len(word), len(word) + 1):
            by_length.setdefault(length, []).append(word)
    return by_length


@lru_cache(maxsize=4)
def synonyms(added: Groups = ()) -> Synonyms:
    """Those that come with Porthole, and those that an operator added."""
    return Synonyms(groups_in(OWN.read_text(encoding="utf-8")) + added)
