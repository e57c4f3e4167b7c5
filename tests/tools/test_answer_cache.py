"""The cache of answers: as many bytes as it may have, those that were asked for last, whoever asks."""

import random
import sys
import threading
import tracemalloc
from datetime import UTC, datetime, timedelta

from apps.tools.answer_cache import OVERHEAD, Answer, AnswerCache

NOW = datetime(2026, 5, 4, tzinfo=UTC)
KIB = 1024


def answer(text: str = "", size: int = 0, versions: tuple[int, ...] = (1,), until: datetime | None = None) -> Answer:
    return Answer(versions, until, text.encode() + b"x" * size, b"}")


def keep(cache: AnswerCache, owner: str, *questions: str, size: int = KIB) -> None:
    for question in questions:
        cache.keep(owner, question, answer(size=size - OVERHEAD - 1 - len(question)))


def kept(cache: AnswerCache, owner: str, *questions: str) -> list[str]:
    return [question for question in questions if cache.get(owner, question, (1,), NOW)]


def test_an_answer_is_right_for_its_versions_and_before_its_end() -> None:
    cache = AnswerCache(64 * KIB)
    one = answer("one", until=NOW)
    cache.keep("org", "q", one)
    assert cache.get("org", "q", (1,), NOW - timedelta.resolution) is one
    assert cache.get("org", "q", (1,), NOW) is None
    assert cache.get("org", "q", (2,), NOW - timedelta.resolution) is None
    assert cache.get("org", "other", (1,), NOW - timedelta.resolution) is None
    assert cache.get("other", "q", (1,), NOW - timedelta.resolution) is None


def test_what_was_asked_for_longest_ago_makes_room() -> None:
    cache = AnswerCache(8 * KIB)
    keep(cache, "org", *"abcdefgh")
    assert kept(cache, "org", "a") == ["a"]
    keep(cache, "org", "i", "j")
    assert kept(cache, "org", *"abcdefghij") == [*"adefghij"]
    assert cache.size == 8 * KIB


def test_the_new_answer_takes_the_place_of_the_old_one() -> None:
    cache = AnswerCache(8 * KIB)
    for _ in range(3):
        keep(cache, "org", "a")
        assert cache.size == KIB
    cache.keep("org", "a", answer(versions=(2,)))
    assert kept(cache, "org", "a") == []


def test_who_asks_ten_thousand_questions_takes_no_more_than_a_share_from_others() -> None:
    cache = AnswerCache(16 * KIB)
    keep(cache, "quiet", *"abcdefghijkl")
    keep(cache, "loud", *(str(number) for number in range(10_000)))
    assert len(kept(cache, "quiet", *"abcdefghijkl")) >= 11
    assert kept(cache, "loud", "9999") == ["9999"]
    assert cache.size <= 16 * KIB


def test_many_organizations_share_it_by_who_asked_last() -> None:
    cache = AnswerCache(8 * KIB)
    for number in range(20):
        keep(cache, f"org{number}", "a")
    assert [number for number in range(20) if kept(cache, f"org{number}", "a")] == list(range(12, 20))


def test_what_is_too_large_is_not_kept_and_nothing_where_none_may_be() -> None:
    for cache in (AnswerCache(0), AnswerCache(8 * KIB)):
        keep(cache, "org", "a", size=3 * KIB)
        assert (kept(cache, "org", "a"), cache.size) == ([], 0)


def test_it_takes_about_as_much_memory_as_it_says() -> None:
    cache = AnswerCache(256 * KIB)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for number in range(2_000):
        cache.keep(f"org{number % 50}", f"question {number}", answer(str(number), size=1_000))
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert 0.5 * cache.size < taken < 1.1 * cache.max_bytes


def test_many_threads_at_once_get_what_they_asked_for_and_never_too_much() -> None:
    cache, wrong = AnswerCache(32 * KIB), []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(2_000):
            owner, question, version = f"org{chance.randrange(5)}", str(chance.randrange(40)), chance.randrange(3)
            found = cache.get(owner, question, (version,), NOW)
            text = f"{owner} {question} {version} "
            if found is None:
                cache.keep(owner, question, answer(text, size=chance.randrange(900), versions=(version,)))
            elif not found.head.startswith(text.encode()):
                wrong.append(found)
            if cache.size > cache.max_bytes + 2 * KIB:  # another may be making room just now
                wrong.append(found)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert wrong == []
    assert 0 < cache.size <= cache.max_bytes
    every = [(f"org{n}", str(q), (v,)) for n in range(5) for q in range(40) for v in range(3)]
    found = [(q, a) for owner, q, v in every if (a := cache.get(owner, q, v, NOW))]
    assert sum(len(q) + len(a.head) + len(a.tail) + OVERHEAD for q, a in found) == cache.size
