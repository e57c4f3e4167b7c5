"""How much of the disk mirrors may take: what nobody has read for the longest time is removed."""

import logging
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from apps.sources.git import stamps
from apps.sources.git.single_flight import LockTimeout, file_lock

logger = logging.getLogger(__name__)

USED = "used"  # in a mirror's folder: its time of change says when it was read last
PRECISION = 60.0  # seconds: any finer, and most reads would be writes too
FILLED = 0.9  # of the budget is left, so that not every fetch removes something


@dataclass(frozen=True, slots=True)
class Taken:
    """A mirror's folder, how many bytes it takes on the disk, and when (Unix time) it was read last."""

    folder: Path
    size: int
    used_at: float


def note_use(folder: Path) -> None:
    """Nowhere where the disk takes nothing."""
    path = folder / USED
    with suppress(OSError):
        try:
            age = stamps.now() - path.stat().st_mtime
        except FileNotFoundError:
            age = PRECISION
        if not 0 <= age < PRECISION:
            path.touch()
            os.utime(path, (stamps.now(), stamps.now()))


def keep_within(mirrors: Path, budget: int, *, but: Path | None = None) -> int:
    """Removes mirrors, the longest unread first, until all take no more than `budget` bytes; how many those were.

    Not `but`, and none that is being fetched into.
    """
    taken = sorted(map(_taken, _folders(mirrors)), key=lambda mirror: mirror.used_at)
    total, removed = sum(mirror.size for mirror in taken), 0
    if total <= budget:
        return 0
    for mirror in taken:
        if total <= budget * FILLED:
            break
        if mirror.folder != but and remove(mirror.folder):
            total, removed = total - mirror.size, removed + 1
    if removed:
        logger.info("Mirrors were removed to stay within MIRRORS_GIB.", extra={"fields": {"removed": removed}})
    if total > budget:
        logger.warning("Mirrors take more than MIRRORS_GIB, and none of them can be removed now.")
    return removed


def remove(folder: Path, *, seconds: float = 0) -> bool:
    """Removes a mirror, unless it is fetched into for longer than `seconds`; whether it is gone.

    Who reads it meanwhile has its files open, or finds nothing and fetches it anew.
    """
    try:
        with file_lock(folder / "lock", seconds=seconds):
            gone = Path(tempfile.mkdtemp(prefix="gone-", dir=folder.parent))
            try:
                folder.rename(gone / folder.name)
            except OSError:
                gone.rmdir()
                raise
    except FileNotFoundError:
        return True
    except (LockTimeout, OSError):
        return False
    shutil.rmtree(gone, ignore_errors=True)
    return True


def remove_leftovers(mirrors: Path) -> None:
    """Of whoever was killed while removing."""
    for leftover in mirrors.glob("gone-*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _folders(mirrors: Path) -> list[Path]:
    return [path.parent for path in mirrors.glob("*/lock")]


def _taken(folder: Path) -> Taken:
    """Blocks, not lengths: a mirror has many small files."""
    size = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.lstat(f"{path}/{name}").st_blocks * 512
    try:
        used_at = (folder / USED).stat().st_mtime
    except OSError:
        used_at = 0.0
    return Taken(folder, size, used_at)
