"""Whether a generation of a mirror is as git wrote it: packs are written once, so anything else is damage.

libgit2 maps packs into memory, and a mapped file that is truncated ends the process (SIGBUS). So sizes are compared
before anything is opened; checksums only where something could not be read.
"""

import json
import os
from hashlib import sha1
from pathlib import Path

from apps.sources.git.objects import GitError, open_at

RECORD = "packs.json"
MAX_WHOLE = 10_000
CHECKSUM_BYTES = 20

# Files whose checksum was found to be right: path, size, time of change, inode.
_whole: set[tuple[str, int, int, int]] = set()


class Damaged(Exception):
    """A generation has not, or not any more, what was fetched into it."""


def record(generation: Path) -> None:
    """Write down which packs there are and how large they are. For whoever holds the mirror's lock, after a fetch."""
    sizes = {path.name: path.stat().st_size for path in generation.glob("objects/pack/pack-*.*") if _is_read(path)}
    new = generation / f"{RECORD}.new"
    new.write_text(json.dumps(sizes))
    new.replace(generation / RECORD)


def check(generation: Path) -> None:
    """Raises Damaged unless every pack that was recorded is there in its full size."""
    for path, size in _recorded(generation).items():
        try:
            if os.stat(path).st_size != size:
                raise Damaged(f"{path} has another size.")
        except OSError:
            raise Damaged(f"{path} is gone.") from None


def has_whole_indexes(generation: Path) -> bool:
    """Whether what is not in the generation was never sent: nothing is lost, and no index is damaged."""
    return _is_whole(generation, {".idx"})


def is_intact(generation: Path) -> bool:
    """Whether it can be opened and everything has the checksum that git gave it. Reads all of it, but only once."""
    try:
        open_at(generation)
    except GitError:
        return False
    return _is_whole(generation, {".idx", ".pack"})


def _is_whole(generation: Path, suffixes: set[str]) -> bool:
    try:
        check(generation)
        paths = [Path(path) for path in _recorded(generation)]
        return all(_has_its_checksum(path) for path in paths if path.suffix in suffixes)
    except (Damaged, OSError):
        return False


def _recorded(generation: Path) -> dict[str, int]:
    """Sizes by path. Texts: this is done for each answer, and a Path takes longer to make than to look at."""
    try:
        sizes = json.loads((generation / RECORD).read_bytes())
        return {f"{generation}/objects/pack/{name}": int(size) for name, size in sizes.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        raise Damaged("Nothing tells which packs there should be.") from None


def _is_read(path: Path) -> bool:
    return path.suffix in {".pack", ".idx"}


def _has_its_checksum(path: Path) -> bool:
    """Packs and their indexes end with the SHA-1 of everything before."""
    found = path.stat()
    key = (str(path), found.st_size, found.st_mtime_ns, found.st_ino)
    if key in _whole:
        return True
    digest, left = sha1(usedforsecurity=False), found.st_size - CHECKSUM_BYTES
    with path.open("rb") as file:
        while left > 0 and (piece := file.read(min(left, 1024 * 1024))):
            digest.update(piece)
            left -= len(piece)
        if left != 0 or file.read() != digest.digest():
            return False
    if len(_whole) >= MAX_WHOLE:
        _whole.clear()
    _whole.add(key)
    return True
