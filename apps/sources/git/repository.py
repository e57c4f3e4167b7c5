"""Repositories as they are at one commit: which commit a ref means, and the directories and files in it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache, partial
from operator import itemgetter
from typing import Any

import pygit2
from django.conf import settings
from pygit2.enums import FileMode, ObjectType

from apps.orgs.repositories import LOCAL_CHECKOUT
from apps.sources.git import problems, scans, stamps
from apps.sources.git.chunks import chunk_of, is_binary, lines_of
from apps.sources.git.fetch import BLOB_LIMIT
from apps.sources.git.mirrors import Mirror, unavailable
from apps.sources.git.objects import (
    GitError,
    Open,
    commit_named,
    commit_with,
    committed_at,
    head_branch,
    open_at,
    size_of,
    tree_of,
)
from apps.sources.git.origins import MirrorOrigin, Origin
from apps.sources.git.paths import display_name, parts_of
from apps.sources.git.problems import TYPES
from apps.sources.git.refs import HEAD, full_sha, is_ref, names_of, short_sha
from apps.sources.git.secret_files import is_secret
from apps.sources.git.stamps import last_fetched
from apps.sources.git.values import Entry, EntryType, FileChunk, Location
from apps.web.exceptions import InvalidInput

# A directory of some 200,000 names, with those that lead to it. More would take the memory of the whole process.
MAX_TREE_BYTES = 8 * 1024 * 1024
# For all sizes of a page. To learn that of a file costs a look at every delta which it is made of, one by one.
SIZES_SECONDS = 2.0

Listing = tuple[Entry, ...]
# An entry of a directory: where it belongs (whether it is none, its name as shown and as it is), its type and its id.
Placed = tuple[bool, str, bytes, EntryType, pygit2.Oid]


class Repository:
    """A repository at one commit. Nothing of a working tree is ever read, only what is committed.

    `open` opens it, and is called where something is read that is not kept in memory. Raises Unavailable, GitError.
    """

    def __init__(
        self,
        open: Open,
        commit_sha: str,
        ref: str,
        *,
        fetched_at: float,
        is_stale: bool,
        origin: Origin,
    ) -> None:
        self.ref = ref
        self.commit_sha = commit_sha
        self.fetched_at = _time(fetched_at)
        self.is_stale = is_stale
        self._open = cache(open)
        self._origin = origin
        self._tree_bytes = 0  # that were read on the way to a directory

    @property
    def committed_at(self) -> datetime:
        """When the commit was made. Raises Unavailable."""
        with _readable(self._origin):
            return committed_at(self._open, self.commit_sha)

    def list(self, path: str, start: int = 0, count: int | None = None) -> Listing:
        """What is in a directory, or so many entries of it: directories first, then by name (code points).

        Raises InvalidInput (path_not_found, not_a_directory, too_large) and Unavailable.
        """
        with _readable(self._origin):
            return self._origin.page(
                self.commit_sha, path, start, count, lambda: self._page(parts_of(path), start, count)
            )

    def _page(self, parts: tuple[str, ...], start: int, count: int | None) -> Listing:
        tree = self._root()
        for position, part in enumerate(parts):
            entry = self._entry(tree, part, parts[:position])
            if entry.filemode != FileMode.TREE:
                if position < len(parts) - 1:  # nothing can follow
                    raise problems.nothing_at(parts[:position])
                raise problems.not_a_directory(entry)
            tree = self._tree(entry.id)
        prefix = "".join(f"{part}/" for part in parts)
        found = sorted(map(_placed, tree), key=itemgetter(0, 1, 2))[start : None if count is None else start + count]
        return tuple(self._all_described(prefix, found))

    def read(
        self, path: str, offset: int, max_bytes: int, *, start_line: int | None = None, lines: int | None = None
    ) -> FileChunk:
        """A piece of a file, or the text of a symbolic link: where it leads, not what is there.

        It begins at a line where `start_line` is given, else at the byte `offset`; only lines of the former count.

        Raises InvalidInput (path_not_found, is_directory, not_a_directory, secret_file, too_large, out_of_range)
        and Unavailable.
        """
        parts = parts_of(path)
        if not parts:
            raise problems.is_directory()
        with _readable(self._origin):
            entry = self._find(parts)
            _check_readable_type(entry, path)
            data = self._content(entry.id)
        shown, redaction_count = data, 0
        if not is_binary(data):  # the whole file: a chunk may begin inside a credential
            shown, redaction_count = scans.redacted(str(entry.id), data, self._origin.kept_scans())
        if start_line is None:
            piece = chunk_of(shown, offset, max_bytes)
        else:
            piece = lines_of(shown, start_line, lines, max_bytes)
        return FileChunk(
            path="/".join(parts),
            sha=str(entry.id),
            size=len(data),
            is_truncated=piece.next_offset is not None,
            redaction_count=redaction_count,
            **asdict(piece),
        )

    def _find(self, parts: tuple[str, ...]) -> Any:
        tree = self._root()
        for position, part in enumerate(parts[:-1]):
            entry = self._entry(tree, part, parts[:position])
            if entry.filemode != FileMode.TREE:
                raise problems.nothing_at(parts[:position])
            tree = self._tree(entry.id)
        return self._entry(tree, parts[-1], parts[:-1])

    def _root(self) -> pygit2.Tree:
        self._tree_bytes = 0
        return self._tree(tree_of(self._open, self.commit_sha))

    def _tree(self, oid: pygit2.Oid) -> pygit2.Tree:
        self._tree_bytes += size_of(self._open(), oid) or 0
        if self._tree_bytes > MAX_TREE_BYTES:
            raise problems.too_large_directory()
        tree = self._open().get(oid)
        if not isinstance(tree, pygit2.Tree):
            raise GitError("A tree names something as a directory that is none.")
        return tree

    def _entry(self, tree: pygit2.Tree, name: str, parents: tuple[str, ...]) -> Any:
        try:
            return tree[name]
        except KeyError:
            raise problems.nothing_at(parents) from None

    def _all_described(self, prefix: str, found: Sequence[Placed]) -> Iterator[Entry]:
        deadline = time.monotonic() + SIZES_SECONDS
        for _, name, _, type, oid in found:
            size = self._size(oid) if type in ("file", "symlink") else None
            yield Entry(prefix + name, name, type, size, str(oid))
            if time.monotonic() > deadline:
                raise problems.too_large_directory()

    def _size(self, oid: pygit2.Oid) -> int | None:
        """None for what was left at the remote (see fetch.BLOB_LIMIT). Raises GitError for what was lost."""
        size = size_of(self._open(), oid)
        if size is None and not self._origin.lacks_only_what_was_filtered():
            raise GitError("A file is missing.")
        return size

    def _content(self, oid: pygit2.Oid) -> bytes:
        size = self._size(oid)
        # The remote was asked to leave these away. One that does not, and the checkout, have them all the same.
        if size is None or size >= BLOB_LIMIT:
            raise problems.too_large_file()
        kind, data = self._open().odb.read(oid)
        if kind != ObjectType.BLOB:
            raise GitError("A tree names something as a file that is none.")
        content: bytes = data
        return content


def open_repository(location: Location, ref: str | None, *, pinned_commit: str | None = None) -> Repository:
    """The repository at `ref`: a branch, a tag, HEAD or a commit's sha; None is the application's branch, or HEAD.

    `pinned_commit` is the commit of a cursor: exactly that is read, whatever `ref` has become.
    Raises InvalidInput (no_repository, ref_not_found, bad_cursor) and Unavailable.
    """
    requested = ref if ref is not None else location.default_branch or HEAD
    if not is_ref(requested):  # it goes no further
        raise problems.missing_ref(requested, location.default_branch, is_default=ref is None)
    opener = _open_checkout if location.url == LOCAL_CHECKOUT else _open_mirror
    with _readable(Origin()):
        return opener(location, requested, ref is None, pinned_commit)


def _open_mirror(location: Location, requested: str, is_default: bool, pinned_commit: str | None) -> Repository:
    mirror = Mirror(location.url, location.key)
    known = mirror.known(requested)
    sha = pinned_commit or full_sha(requested) or (short_sha(requested) if known is None else None)
    if sha and (generation := mirror.generation()):
        repository = mirror.open(generation)
        if commit := commit_with(repository, sha):
            # A branch that was named may have moved since; a commit that was named is what it is.
            is_stale = known is not None and known[1].is_stale and not full_sha(requested)
            return Repository(
                lambda: repository,
                commit,
                requested,
                fetched_at=known[1].fetched_at if known else last_fetched(generation),
                is_stale=is_stale,
                origin=MirrorOrigin(mirror, generation),
            )
    try:
        latest = mirror.latest(pinned_commit or requested, None if pinned_commit else known)
    except problems.NoRepository:
        raise
    except InvalidInput:
        if pinned_commit:
            raise problems.bad_cursor() from None
        raise problems.missing_ref(requested, location.default_branch, is_default=is_default) from None
    return Repository(
        partial(mirror.open, latest.generation),
        latest.commit,
        requested,
        fetched_at=latest.fetched_at,
        is_stale=latest.is_stale,
        origin=MirrorOrigin(mirror, latest.generation),
    )


def _open_checkout(location: Location, requested: str, is_default: bool, pinned_commit: str | None) -> Repository:
    """Read in place: pygit2 knows worktrees and detached heads, a mirror of it would only be older than it.

    Only commits are read, so uncommitted work does not show.
    """
    if settings.PORTHOLE_ENV != "local" or not (settings.BASE_DIR / ".git").exists():
        raise problems.no_repository("This application's repository is the server's own checkout, and there is none")
    repository = open_at(settings.BASE_DIR)
    name, commit = requested, _in_checkout(repository, requested)
    if commit is None and is_default:  # a checkout need not have the application's branch
        name, commit = head_branch(repository) or HEAD, commit_named(repository, HEAD)
    if pinned_commit:
        commit = commit_with(repository, pinned_commit)
    if commit is None:
        if pinned_commit:
            raise problems.bad_cursor()
        raise problems.missing_ref(HEAD if is_default else requested, location.default_branch, is_default=is_default)
    return Repository(lambda: repository, commit, name, fetched_at=stamps.now(), is_stale=False, origin=Origin())


def _in_checkout(repository: pygit2.Repository, requested: str) -> str | None:
    for name in names_of(requested):
        if commit := commit_named(repository, name):
            return commit
    sha = full_sha(requested) or short_sha(requested)
    return commit_with(repository, sha) if sha else None


@contextmanager
def _readable(origin: Origin) -> Iterator[None]:
    """What is damaged, or hostile beyond what the rules above cover, could not be read; that is all anybody is told."""
    try:
        yield
    except (GitError, OSError):
        origin.mend()
        raise unavailable() from None


def _check_readable_type(entry: Any, path: str) -> None:
    match TYPES.get(entry.filemode, "file"):
        case "directory":
            raise problems.is_directory()
        case "submodule":
            raise problems.is_submodule("is_directory")
        case _ if path.endswith("/"):
            raise problems.not_a_directory(entry)
        case _ if is_secret(path):
            raise problems.secret_file()


def _placed(entry: Any) -> Placed:
    type, raw_name = TYPES.get(entry.filemode, "file"), entry.raw_name
    return type != "directory", display_name(raw_name), raw_name, type, entry.id


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
