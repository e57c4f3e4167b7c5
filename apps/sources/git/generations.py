"""One generation of a mirror: which refs it has, whether their commits are there."""

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
    """The newest commit that is known of a ref, and the repository that has it."""

    generation: Path
    commit: str
    is_stale: bool


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


def commit_in(generation: Path, name: str) -> str | None:
    try:
        return commit_named(open_at(generation), name)
    except GitError as damage:
        raise FetchFailed(f"The mirror is damaged: {damage}") from None
