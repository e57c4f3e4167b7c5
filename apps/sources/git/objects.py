"""pygit2, wrapped once: opening a repository without surprises, and finding commits in it."""

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


def open_at(folder: Path) -> pygit2.Repository:
    """The repository, bare or not, of exactly this folder: never of one above it. Raises GitError."""
    return pygit2.Repository(str(folder), RepositoryOpenFlag.NO_SEARCH)


def commit_named(repository: pygit2.Repository, name: str) -> str | None:
    """The sha of the commit that a full ref name (`refs/…`, HEAD) leads to; None if it leads to none."""
    try:
        reference = repository.lookup_reference(name).resolve()
        return _commit_sha(repository[reference.target])
    except (KeyError, ValueError, GitError):
        return None


def commit_with(repository: pygit2.Repository, sha: str) -> str | None:
    """The sha of the one commit here whose sha starts like this, or of the commit that a tag's sha leads to."""
    try:
        return _commit_sha(repository[sha])
    except (KeyError, ValueError, GitError):
        return None


def head_branch(repository: pygit2.Repository) -> str | None:
    """The branch that is checked out; None when HEAD is detached."""
    target: Any = repository.lookup_reference("HEAD").raw_target
    if isinstance(target, bytes) and target.startswith(b"refs/heads/"):
        return target.removeprefix(b"refs/heads/").decode("utf-8", "replace")
    return None


def size_of(repository: pygit2.Repository, oid: pygit2.Oid) -> int | None:
    """How large an object is, without reading it; None when it was left at the remote (see fetch.BLOB_LIMIT)."""
    try:
        size: int = repository.odb.read_header(oid)[1]
    except KeyError:
        return None
    return size


def _commit_sha(found: pygit2.Object) -> str | None:
    return str(found.peel(ObjectType.COMMIT).id)
