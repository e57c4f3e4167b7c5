"""Stamps: what was fetched when, a small file for each ref in its generation of a mirror."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path

from apps.sources.git.refs import full_sha, is_valid_ref

# In seconds.
FRESH_FOR = 60.0
STALE_AFTER = 3 * FRESH_FOR

now: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True)
class Stamp:
    """What is known of one ref: its full name at the remote, its commit, and when (Unix time) that was last so."""

    ref: str
    name: str
    commit: str
    fetched_at: float
    tried_at: float
    failed: bool = False

    @property
    def is_fresh(self) -> bool:
        # A clock that was set back makes ages negative: then nothing is fresh.
        return 0 <= now() - self.tried_at < FRESH_FOR

    @property
    def is_stale(self) -> bool:
        """The last refresh failed, or nobody asked for so long that this says little about today."""
        return self.failed or now() - self.fetched_at > STALE_AFTER


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:40]


def stamp_path(generation: Path, ref: str) -> Path:
    return generation / "stamps" / f"{digest(ref)}.json"


def read_stamp(generation: Path, ref: str) -> Stamp | None:
    stamp = _parse(stamp_path(generation, ref))
    return stamp if stamp and stamp.ref == ref else None


def stamps_of(generation: Path) -> list[Stamp]:
    return [stamp for path in generation.glob("stamps/*.json") if (stamp := _parse(path))]


def last_fetched(generation: Path) -> float:
    """When something was fetched into it last (Unix time)."""
    return max((stamp.fetched_at for stamp in stamps_of(generation)), default=0.0)


def write_stamp(generation: Path, stamp: Stamp) -> None:
    path = stamp_path(generation, stamp.ref)
    # Readers do not hold the lock: they see the old stamp or the new one.
    new = path.with_suffix(".new")
    new.write_text(json.dumps(asdict(stamp)))
    new.replace(path)


def _parse(path: Path) -> Stamp | None:
    """None also for what is damaged, in whatever way: a ref without a stamp is only fetched again."""
    try:
        values = json.loads(path.read_bytes())
        stamp = Stamp(**values)
        if not all(isinstance(getattr(stamp, field.name), _TYPES[field.type]) for field in fields(Stamp)):
            return None
        return stamp if full_sha(stamp.commit) and is_valid_ref(stamp.ref) else None
    except (OSError, ValueError, TypeError, RecursionError):
        return None


_TYPES: dict[object, type | tuple[type, ...]] = {str: str, float: (int, float), bool: bool}
