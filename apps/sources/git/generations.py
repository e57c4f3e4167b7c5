"""The generations of a mirror: which one is read now, which refs it has, whether their commits are there."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from apps.sources.git import stamps
from apps.sources.git.fetch import FetchFailed
from apps.sources.git.objects import GitError, commit_named, commit_with, open_at
from apps.sources.git.stamps import Stamp, stamp_path, stamps_of, write_stamp

CARRY_OVER = 7 * 24 * 3600.0  # seconds
MAX_CARRIED = 20


@dataclass(frozen=True, slots=True)
class ResolvedRef:
    """The newest commit that is known of a ref, the repository that has it, and when (Unix time) that was read."""

    generation: Path
    commit: str
    fetched_at: float
    is_stale: bool


def current_in(folder: Path) -> Path | None:
    """A mirror's generation that is to be read now."""
    try:
        name = (folder / "current").readlink().name
    except OSError:
        return None
    generation = folder / name
    return generation if name.startswith("g-") and os.path.isdir(f"{generation}/objects") else None


def activate(new: Path) -> None:
    """What was built as `new-…` takes the place of the generation before, which stays for those who are in it."""
    folder, before = new.parent, current_in(new.parent)
    target = folder / new.name.replace("new-", "g-", 1)
    new.rename(target)
    link = folder / "next"
    link.unlink(missing_ok=True)
    link.symlink_to(target.name)
    current = folder / "current"
    if current.is_dir() and not current.is_symlink():
        shutil.rmtree(current)
    link.replace(current)
    for old in folder.glob("g-*"):
        if old not in (target, before):
            shutil.rmtree(old, ignore_errors=True)


def refs_in_use(generation: Path) -> list[str]:
    newest = sorted(stamps_of(generation), key=lambda stamp: -stamp.fetched_at)[:MAX_CARRIED]
    return [stamp.ref for stamp in newest if stamps.now() - stamp.fetched_at < CARRY_OVER]


def drop_lost(generation: Path) -> None:
    """Forget refs whose commit is not there: they are fetched when somebody asks for them."""
    repository = open_at(generation)
    for stamp in stamps_of(generation):
        if commit_with(repository, stamp.commit) is None:
            stamp_path(generation, stamp.ref).unlink(missing_ok=True)


def mark_failed(generation: Path, stamp: Stamp) -> None:
    """Raises FetchFailed when that cannot be written."""
    try:
        write_stamp(generation, Stamp(**asdict(stamp) | {"tried_at": stamps.now(), "failed": True}))
    except OSError as error:
        raise FetchFailed(f"A stamp could not be written: {error.strerror}") from None


@contextmanager
def discarding_what_fails(generation: Path, name: str) -> Iterator[None]:
    """Where fetching the ref `name` comes to nothing, what it brought is removed: it may be large, and nobody reads it.

    For whoever holds the mirror's lock.
    """
    packs = generation / "objects" / "pack"
    before = set(packs.iterdir())
    try:
        yield
    except BaseException:
        with suppress(OSError, FetchFailed):
            for new in set(packs.iterdir()) - before:
                new.unlink(missing_ok=True)
            if commit_in(generation, name) is None:
                (generation / name).unlink(missing_ok=True)
        raise


def commit_in(generation: Path, name: str) -> str | None:
    try:
        return commit_named(open_at(generation), name)
    except GitError as damage:
        raise FetchFailed(f"The mirror is damaged: {damage}") from None
