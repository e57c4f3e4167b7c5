"""pygit2, wrapped once: opening a repository without surprises, and finding commits in it.

libgit2 inflates whatever it is asked for, however large. So no object is read before its header was looked at.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import ConfigLevel, ObjectType, RepositoryOpenFlag

# libgit2 would read the machine's and the user's configuration for every repository that is opened, and refuse a
# checkout that another user owns (a bind mount). It runs nothing that a configuration names, and no path that
# reaches it comes from a client, so neither protects anything here.
for _level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL, ConfigLevel.PROGRAMDATA):
    pygit2.settings.search_path[_level] = ""
pygit2.settings.owner_validation = False

GitError = pygit2.GitError
Open = Callable[[], pygit2.Repository]

MAX_COMMIT_BYTES = 1024 * 1024  # of a commit or a tag, with its message
MAX_TAG_CHAIN = 5
TAG_TARGET = re.compile(rb"object ([0-9a-f]{40})\n")
MAX_COMMITS_KNOWN = 1000
LAST_SECOND = 253_402_300_799  # of the year 9999

# Root trees of commits, and when those were made. A sha names its content, in whatever repository it is found.
_commits: dict[str, tuple[str, datetime]] = {}


def open_at(folder: Path) -> pygit2.Repository:
    """The repository, bare or not, of exactly this folder: never of one above it. Raises GitError."""
    return pygit2.Repository(str(folder), RepositoryOpenFlag.NO_SEARCH)


def commit_named(repository: pygit2.Repository, name: str) -> str | None:
    """The sha of the commit that a full ref name (`refs/…`, HEAD) leads to; None if it leads to none."""
    try:
        reference = repository.lookup_reference(name).resolve()
        return _commit_sha(repository, reference.target)
    except (KeyError, ValueError, GitError):
        return None


def commit_with(repository: pygit2.Repository, sha: str) -> str | None:
    """The sha of the one commit here whose sha starts like this, or of the commit that a tag's sha leads to."""
    try:
        return _commit_sha(repository, repository.expand_id(sha))
    except (KeyError, ValueError, GitError):
        return None


def head_branch(repository: pygit2.Repository) -> str | None:
    """The branch that is checked out; None when HEAD is detached."""
    target: Any = repository.lookup_reference("HEAD").raw_target
    if isinstance(target, bytes) and target.startswith(b"refs/heads/"):
        return target.removeprefix(b"refs/heads/").decode("utf-8", "replace")
    return None


def _header(repository: pygit2.Repository, oid: Any) -> tuple[ObjectType, int]:
    """Type and size. Raises KeyError, GitError."""
    try:
        kind, size = repository.odb.read_header(oid)
    except ValueError:  # a type that there is not
        raise GitError("An object's header is damaged.") from None
    return kind, size


def size_of(repository: pygit2.Repository, oid: pygit2.Oid) -> int | None:
    """How large an object is, without reading it; None when it is not there."""
    try:
        size: int = _header(repository, oid)[1]
    except KeyError:
        return None
    return size


def tree_of(open: Open, commit_sha: str) -> pygit2.Oid:
    """The root tree of a commit, whose sha is full. Raises GitError, also when it is not there."""
    return pygit2.Oid(hex=_commit(open, commit_sha)[0])


def committed_at(open: Open, commit_sha: str) -> datetime:
    """When a commit was made, as it says itself: within 1970 to 9999. Raises GitError."""
    return _commit(open, commit_sha)[1]


def _commit(open: Open, commit_sha: str) -> tuple[str, datetime]:
    if commit_sha not in _commits:
        repository, oid = open(), pygit2.Oid(hex=commit_sha)
        try:
            kind, size = _header(repository, oid)
        except KeyError:
            raise GitError("The commit is not there.") from None
        if kind != ObjectType.COMMIT or size > MAX_COMMIT_BYTES:
            raise GitError("This is no commit, or too large a one.")
        if len(_commits) >= MAX_COMMITS_KNOWN:
            _commits.clear()
        commit: Any = repository[oid]
        seconds = min(max(commit.commit_time, 0), LAST_SECOND)
        _commits[commit_sha] = str(commit.tree_id), datetime.fromtimestamp(seconds, UTC)
    return _commits[commit_sha]


def _commit_sha(repository: pygit2.Repository, oid: Any) -> str | None:
    """The commit that an object is, or that a chain of tags leads to. None also where one of them is too large."""
    for _ in range(MAX_TAG_CHAIN):
        kind, size = _header(repository, oid)
        if size > MAX_COMMIT_BYTES:
            return None
        if kind == ObjectType.COMMIT:
            return str(oid)
        target = TAG_TARGET.match(repository.odb.read(oid)[1]) if kind == ObjectType.TAG else None
        if target is None:
            return None
        oid = pygit2.Oid(hex=target[1].decode())
    return None
