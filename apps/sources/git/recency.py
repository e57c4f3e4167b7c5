"""Which refs were asked for lately, so that workers keep those fresh: a small file for each in its mirror's folder."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from apps.sources.git import stamps
from apps.sources.git.refs import full_sha, is_valid_ref
from apps.sources.git.stamps import digest

LATELY = 30 * 60.0  # seconds
PRECISION = 60.0  # seconds: any finer, and most reads would be writes too


@dataclass(frozen=True, slots=True)
class Asked:
    """A ref of the mirror of `url` and `key` (mirrors.Mirror)."""

    url: str
    key: str
    ref: str


def note(folder: Path, asked: Asked) -> None:
    """A commit that is named by its sha stays what it is, so nothing is noted. Nor where the disk takes nothing."""
    if full_sha(asked.ref):
        return
    path = folder / "asked" / f"{digest(asked.ref)}.json"
    with suppress(OSError):
        if _age(path) < PRECISION:
            return
        path.parent.mkdir(mode=0o700, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(asdict(asked)))
        os.utime(new, (stamps.now(), stamps.now()))
        new.replace(path)


def asked_lately(mirrors: Path) -> Iterator[Asked]:
    """Of all mirrors of a DATA_DIR. What nobody asks for any more is forgotten."""
    for path in mirrors.glob("*/asked/*.json"):
        with suppress(OSError):
            if _age(path) >= LATELY:
                path.unlink()
            elif found := _parse(path):
                yield found


def _age(path: Path) -> float:
    """In seconds; of a clock that was set back, or without a file, for ever."""
    try:
        age = stamps.now() - path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")
    return age if age >= 0 else float("inf")


def _parse(path: Path) -> Asked | None:
    try:
        asked = Asked(**json.loads(path.read_bytes()))
    except (ValueError, TypeError, RecursionError):
        return None
    return (
        asked if all(isinstance(value, str) for value in asdict(asked).values()) and is_valid_ref(asked.ref) else None
    )
