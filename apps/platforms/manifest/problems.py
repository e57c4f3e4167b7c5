"""What is wrong with a manifest: where in the file, in which order it is told, and how much of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_FOUND = 10_000
MAX_TOLD = 200
# A place in the file, such as ("projects", 0, "apps", 1) for projects[0].apps[1].
Path = tuple[str | int, ...]
# The lists of an entry in the order in which what is wrong in them is told, where it is on one line.
LISTS = (
    "connections", "projects", "secrets", "templates",
    "environments", "variables", "apps", "domains", "previews", "deployments",
)  # fmt: skip


class ManifestError(ValueError):
    """A file that is no manifest. `problems` are lines such as `line 12: projects[0].name: must be …`.

    They never repeat what the file says: a secret may have slipped in at any place. There are `count` problems, of
    which the first are told; at MAX_FOUND we stop looking.
    """

    def __init__(self, problems: list[str], count: int | None = None) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
        self.count = len(problems) if count is None else count


class TooManyProblems(Exception):
    """MAX_FOUND have been found."""


@dataclass(slots=True)
class Problems:
    found: list[tuple[int, tuple[tuple[int, int], ...], str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.found)

    def add(self, line: int, path: Path, leaf: str, sentence: str, is_last: bool = False) -> None:
        """Raises TooManyProblems. `is_last` is for what is told after all else on its line."""
        order = ((len(LISTS), 0),) if is_last else tuple(_order(path))
        self.found.append((line, order, f"line {line}: {place(path, leaf)}: {sentence}"))
        if len(self.found) >= MAX_FOUND:
            raise TooManyProblems

    def error(self) -> ManifestError:
        self.found.sort(key=lambda problem: problem[:2])
        return ManifestError([said for _, _, said in self.found[:MAX_TOLD]], len(self.found))


def place(path: Path, leaf: str = "") -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"{text}.{leaf}".strip(".")


def _order(path: Path) -> Iterator[tuple[int, int]]:
    for key, index in zip(path[::2], path[1::2], strict=False):
        yield LISTS.index(str(key)), int(index)
