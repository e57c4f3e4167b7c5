"""Repositories that tests make, and mirrors that fetch from them instead of from the network."""

from concurrent.futures import wait
from pathlib import Path

import pygit2
import pytest
from pygit2.enums import FileMode

from apps.sources.git import mirrors, stamps, upstream
from apps.sources.git.fetch import FetchFailed, Remote
from apps.sources.git.remotes import Source
from tests.patience import patience

SIGNATURE = pygit2.Signature("Ada", "ada@example.com", 1_700_000_000, 0)


class Link(str):
    """The content of a symbolic link: where it leads."""


class Submodule(str):
    """The commit that a submodule is at."""


class Origin:
    """A bare repository that serves what it is told to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repository = pygit2.init_repository(folder, bare=True, initial_head="main")
        self.repository.config["uploadpack.allowFilter"] = True

    def commit(self, files: dict, branch: str = "main") -> str:
        """A commit of exactly these files: content by path, with directories as nested dicts."""
        name = f"refs/heads/{branch}"
        parents = [self.repository.references[name].target] if name in self.repository.references else []
        return str(self.repository.create_commit(name, SIGNATURE, SIGNATURE, "A change", self.tree(files), parents))

    def tree(self, files: dict) -> pygit2.Oid:
        builder = self.repository.TreeBuilder()
        for name, content in files.items():
            builder.insert(name, *self._object(content))
        return builder.write()

    def raw_tree(self, *entries: tuple[bytes, bytes, str]) -> pygit2.Oid:
        """A tree of (mode, name, sha) that git itself would never make."""
        data = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(sha) for mode, name, sha in entries)
        return self.repository.odb.write(pygit2.enums.ObjectType.TREE, data)

    def commit_tree(self, tree: pygit2.Oid, branch: str = "main") -> str:
        return str(self.repository.create_commit(f"refs/heads/{branch}", SIGNATURE, SIGNATURE, "Odd", tree, []))

    def tag(self, name: str, target: str, *, annotated: bool = False) -> None:
        oid = pygit2.Oid(hex=target)
        if annotated:
            kind = self.repository[oid].type
            self.repository.create_tag(name, oid, kind, SIGNATURE, "A release")
        else:
            self.repository.references.create(f"refs/tags/{name}", oid)

    def delete(self, branch: str) -> None:
        self.repository.references.delete(f"refs/heads/{branch}")

    def _object(self, content) -> tuple[pygit2.Oid, FileMode]:
        match content:
            case dict():
                return self.tree(content), FileMode.TREE
            case Link():
                return self.repository.create_blob(content.encode()), FileMode.LINK
            case Submodule():
                return pygit2.Oid(hex=content), FileMode.COMMIT
            case str():
                return self.repository.create_blob(content.encode()), FileMode.BLOB
            case _:
                return self.repository.create_blob(content), FileMode.BLOB


class Network:
    """Which origin answers at which URL, how often git ran, and what time it is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.folder = folder
        self.origins: dict[str, Origin] = {}
        self.runs: list[tuple[str, ...]] = []
        self.time = 1_800_000_000.0
        self._run = upstream.run
        monkeypatch.setattr(upstream, "source_of", self._source_of)
        monkeypatch.setattr(upstream, "run", self._counted_run)
        monkeypatch.setattr(stamps, "now", lambda: self.time)
        mirrors._failures.forget()
        mirrors._missing_refs.forget()

    def origin(self, url: str) -> Origin:
        if url not in self.origins:
            self.origins[url] = Origin(self.folder / f"origin-{len(self.origins)}")
        return self.origins[url]

    def settle(self) -> None:
        """Wait until nothing runs behind the answers."""
        while running := list(mirrors._single_flight._running.values()):
            assert not wait(running, timeout=patience()).not_done

    def _source_of(self, url: str, key: str, folder: Path) -> Source:
        if url not in self.origins:
            raise FetchFailed("secret.internal.example refused the connection")
        return Source(Remote(f"file://{self.origins[url].folder}", None, "file"), None, url)

    def _counted_run(self, command, folder, **options):
        self.runs.append(command.argv)
        self._run(command, folder, **options)
