"""A process that reads one mirror, or refreshes it, as its arguments say: `python -m tests.faults.reading read`.

The repository's every commit carries one number in all its files: an answer in which there are two is torn.
What a process says is a line of JSON. It begins when it is told to, by a line.
"""

import json
import os
import sys
import threading
import time
from collections import Counter

import django

from apps.sources.git import mirrors, stamps
from apps.sources.git.mirrors import Mirror
from apps.sources.git.repository import Repository, open_repository
from apps.sources.git.values import Location
from apps.web.exceptions import Unavailable
from tests.patience import patience

THREADS = 8
BRANCH = "main"
KEY = "org_1:"
LINES = 300


def files_of(number: int) -> dict:
    """What the commit of this number has: it in every line of two files, and as names in a folder."""
    text = f"{number}\n" * LINES
    return {"a.txt": text, "b.txt": text, "names": {f"{place}-{number}": "" for place in range(20)}}


def numbers_in(repository: Repository) -> set[int]:
    """All that an answer tells."""
    found = set[int]()
    for path in ("a.txt", "b.txt"):
        chunk = repository.read(path, 0, 65536)
        found |= {int(line) for line in chunk.content.splitlines()}
        assert chunk.content.count("\n") == LINES, path
    entries = repository.list("names")
    assert len(entries) == 20, len(entries)
    return found | {int(entry.name.partition("-")[2]) for entry in entries}


class Reading:
    """What the threads of a process have been told."""

    def __init__(self, url: str) -> None:
        self.location = Location(url, BRANCH, KEY)
        self.mirror = Mirror(url, KEY)
        self.answers = 0
        self.errors, self.wrong = Counter[str](), Counter[str]()
        self.numbers, self.generations = set[int](), set[str]()
        self.guard = threading.Lock()

    def read_until(self, end: float) -> None:
        newest = 0
        while time.monotonic() < end:
            newest = max(newest, self.read(newest))

    def read(self, newest: int) -> int:
        """The number that was told, 0 for none. `newest`: what this thread was told before."""
        try:
            repository = open_repository(self.location, None)
            numbers = numbers_in(repository)
        except Exception as error:  # whatever it is, it is counted
            with self.guard:
                self.errors[f"{type(error).__name__}: {error}"[:200]] += 1
            return 0
        generation = self.mirror.generation()
        with self.guard:
            self.answers += 1
            self.numbers |= numbers
            self.generations.add(generation.name if generation else "none")
            self.wrong["torn"] += len(numbers) != 1
            self.wrong["older than before"] += min(numbers) < newest
            self.wrong["stale"] += repository.is_stale
        return max(numbers)

    def told(self) -> dict[str, object]:
        return {
            "answers": self.answers, "errors": self.errors, "wrong": +self.wrong, "numbers": len(self.numbers),
            "generations": sorted(self.generations),
        }  # fmt: skip


def read(url: str, seconds: float) -> None:
    os.nice(10)  # 64 threads leave what fetches some turns
    reading, end = Reading(url), time.monotonic() + seconds
    threads = [threading.Thread(target=reading.read_until, args=(end,)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(reading.told())


def refresh(url: str, seconds: float) -> None:
    """Again and again. What is said is how often it has failed."""
    refresh_always()
    mirror, end, failures = Mirror(url, KEY), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        mirror.refresh(BRANCH)
        known = mirror.known(BRANCH)
        failures += known is None or known[1].failed
        time.sleep(0.02)
    say({"failures": failures})


def refresh_always() -> None:
    """Nothing is ever fresh, and packs are few: there is another generation every few seconds."""
    stamps.FRESH_FOR, stamps.STALE_AFTER = 0.0, 180.0
    mirrors.MAX_PACKS = int(os.environ.get("MAX_PACKS", "4"))


def fetch(url: str, number: float) -> None:
    """What the next caller does, until this number or a later one is told; where there is nothing, it is waited for."""
    refresh_always()
    mirror, failures, told, end = Mirror(url, KEY), 0, 0, time.monotonic() + patience()
    while told < number and time.monotonic() < end:
        mirror.refresh(BRANCH)
        told = number_at(url)
        known = mirror.known(BRANCH)
        failures += known is None or known[1].failed
    settle()
    say({"number": told, "failures": failures})


def look(url: str, _: float) -> None:
    """Which number is told, for each line that comes."""
    stamps.FRESH_FOR = 1e9  # nothing is fetched for it
    for _line in sys.stdin:
        try:
            say({"number": number_at(url)})
        except Unavailable as error:
            say({"error": str(error)})


def number_at(url: str) -> int:
    (number,) = numbers_in(open_repository(Location(url, BRANCH, KEY), None))
    return number


def settle() -> None:
    """Nothing runs behind any more."""
    while mirrors._single_flight._running:
        time.sleep(0.02)


def say(what: object) -> None:
    print(json.dumps(what), flush=True)  # noqa: T201


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    say("ready")
    sys.stdin.readline()
    {"read": read, "refresh": refresh, "fetch": fetch, "look": look}[sys.argv[1]](sys.argv[2], float(sys.argv[3]))
