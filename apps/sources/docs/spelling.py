"""Words that people mistyped → the words of the documents that they meant, found without reading the whole vocabulary.

Two words that differ by at most k slips become equal when at most k letters of each are left out (as in SymSpell).
So the index holds, for the beginning of every word, what is left of it; a word is looked up by what is left of its own.
"""

import sqlite3
from collections.abc import Iterator
from itertools import combinations

HEAD = 7  # letters of a word of which some are left out: a longer beginning makes the table larger and the search exact
SHORTEST = 4  # letters; below that a slip makes another word
LONG = 8  # letters from which on two slips are corrected
LONGEST = 64
MAX_CANDIDATES = 600  # words that are looked at for one that was typed
MAX_COMPARED = 60  # of these, the ones that are compared letter by letter: those on the most pages

SCHEMA = """
CREATE TABLE word (term TEXT PRIMARY KEY, pages INTEGER, head TEXT) WITHOUT ROWID;
CREATE TABLE spelling (form TEXT, head TEXT, PRIMARY KEY (form, head)) WITHOUT ROWID;
"""
_INDEX = "CREATE INDEX word_by_head ON word (head, pages) WHERE head IS NOT NULL"
_CANDIDATES = """
SELECT word.pages, word.term
FROM (SELECT DISTINCT head FROM spelling WHERE form IN ({})) AS near JOIN word ON word.head = near.head
WHERE length(word.term) BETWEEN ? AND ?
LIMIT ?
"""


def add_spellings(connection: sqlite3.Connection) -> None:
    """Fill `spelling` from the terms of `word`. Words with a digit in them are completed, never corrected."""
    connection.create_function("head_of", 1, _head_of, deterministic=True)
    connection.execute("UPDATE word SET head = head_of(term) WHERE length(term) >= ?", (SHORTEST - 1,))
    connection.execute(_INDEX)
    heads = [head for (head,) in connection.execute("SELECT DISTINCT head FROM word WHERE head IS NOT NULL")]
    rows = ((form, head) for head in heads for form in _forms(head, 1 if len(head) < LONG - 2 else 2))
    connection.executemany("INSERT INTO spelling VALUES (?, ?)", rows)


def nearest(connection: sqlite3.Connection, word: str) -> list[str]:
    """At most two words that differ by one slip (two in long words), the nearest and then the commonest first."""
    if not SHORTEST <= len(word) <= LONGEST or not word.isalpha():
        return []
    slips = 1 if len(word) < LONG else 2
    forms = list(_forms(word[:HEAD], slips))
    query = _CANDIDATES.format(",".join("?" * len(forms)))
    found = connection.execute(query, (*forms, len(word) - slips, len(word) + slips, MAX_CANDIDATES))
    letters = set(word)
    # Each slip brings in or removes at most two kinds of letters.
    alike = [(-pages, term) for pages, term in found if len(letters.symmetric_difference(term)) <= 2 * slips]
    distances = [(distance(word, term, slips), pages, term) for pages, term in sorted(alike)[:MAX_COMPARED]]
    return [term for slipped, _, term in sorted(distances)[:2] if slipped <= slips]


def distance(one: str, two: str, limit: int) -> int:
    """How many letters to add, drop, change or swap with their neighbour; limit + 1 when it is more than that."""
    above: list[int] = []
    before = [j if j <= limit else limit + 1 for j in range(len(two) + 1)]
    for i, a in enumerate(one, start=1):
        row = [limit + 1] * (len(two) + 1)
        if i <= limit:
            row[0] = i
        for j in range(max(1, i - limit), min(len(two), i + limit) + 1):  # further off, it is over the limit anyway
            b = two[j - 1]
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, above[j - 2] + 1)
            row[j] = cost
        if min(row) > limit:
            return limit + 1
        above, before = before, row
    return min(before[-1], limit + 1)


def _head_of(term: str) -> str | None:
    return term[:HEAD] if term.isalpha() else None


def _forms(head: str, slips: int) -> Iterator[str]:
    """What is left of it without up to `slips` letters. The first is taken as right: it nearly always is."""
    # A set: leaving out either of two equal neighbours leaves the same.
    yield from {
        "".join(letter for place, letter in enumerate(head) if place not in left_out)
        for count in range(slips + 1)
        for left_out in combinations(range(1, len(head)), count)
    }
