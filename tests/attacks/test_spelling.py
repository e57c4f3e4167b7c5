"""Queries that are made to be slow: words nobody wrote, against as many words as large documentation has."""

import random
import time
from pathlib import Path

import pytest

from apps.sources.docs.corpus import Docs
from tests.selection import RUN
from tests.sources.docs.test_corpus import write

WORDS = 60_000
QUERIES = 1000 if RUN == "soak" else 60
MOST = 0.05  # seconds of this thread for one query
SYLLABLES = (
    *("con", "de", "pro", "re", "ment", "tion", "ing", "er", "a", "ble", "un", "dis", "ex", "per", "ver", "sub", "ly"),
    *("ness", "ous", "trans", "form", "ser", "vice", "data", "ba", "se"),
)


def vocabulary(beginning: str) -> list[str]:
    """Words of two to six syllables and that beginning: many differ by a letter or two."""
    rng = random.Random(1)
    words: set[str] = set()
    while len(words) < WORDS:
        words.add(beginning + "".join(rng.choices(SYLLABLES, k=rng.randint(2, 6))))
    return sorted(words)


def hostile_queries(beginning: str, words: list[str]) -> list[str]:
    """Each of at most 512 characters and 32 words, unknown: mistyped, begun and not finished, or very long."""
    rng = random.Random(2)
    makers = [
        lambda: mistyped(rng, mistyped(rng, rng.choice(words))),
        lambda: rng.choice(words)[: rng.randint(1, 7)],
        lambda: beginning + "".join(rng.choices(SYLLABLES, k=rng.randint(5, 25)))[:60],
        lambda: beginning + "".join(rng.choices("condetrsi", k=rng.randint(4, 15))),
    ]
    return [" ".join(rng.choice(makers)() for _ in range(32))[:512] for _ in range(1000)]


def mistyped(rng: random.Random, word: str) -> str:
    place = rng.randrange(1, len(word))
    return word[:place] + rng.choice("aeiortzq") + word[place + rng.randint(0, 1) :]


@pytest.mark.parametrize("beginning", ["", "c", "trans"] if RUN == "soak" else ["trans"])
def test_no_query_keeps_a_thread_for_long(tmp_path: Path, beginning: str) -> None:
    words = vocabulary(beginning)
    searched = Docs((write(tmp_path / "docs", {f"{n}.md": " ".join(words[n::60]) for n in range(60)}),), tmp_path)
    searched.pages()
    slowest = max(seconds(searched, query) for query in hostile_queries(beginning, words)[:QUERIES])

    assert slowest < MOST


def seconds(searched: Docs, query: str) -> float:
    """Of this thread. The best of a few: a busy machine can make anything slow once, and nothing fast."""
    taken = []
    for _ in range(5):
        started = time.thread_time()
        searched.search(query, 20)
        taken.append(time.thread_time() - started)
        if taken[-1] < MOST:
            break
    return min(taken)
