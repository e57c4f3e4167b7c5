"""The other side of a mirror: git asks it for refs, with credentials, where it is now; how it behaved is remembered."""

import os
import time
from pathlib import Path

from apps.sources.git.fetch import (
    AccessDenied,
    Command,
    FetchFailed,
    Moved,
    RefMissing,
    Silent,
    fetch_command,
    remove_leftovers,
    run,
)
from apps.sources.git.remotes import Source, forget_moved, note_moved, source_of
from apps.sources.git.waiting import Host

FETCH_LIMIT = 60.0  # seconds that a fetch may take when nobody waits, or nobody waits any more

# Of this process: where git runs now, and since when (monotonic).
_git_since: dict[Path, float] = {}


class Upstream:
    """The repository that is mirrored in `folder`. `key` is the mirror's."""

    def __init__(self, url: str, key: str, folder: Path, host: Host) -> None:
        self._url, self._key, self._folder, self._host = url, key, folder, host
        # The mirror's lock while it is held: a git that outlives its process, which was killed, keeps others away.
        self.lock: int | None = None

    def git_runs_for(self) -> float:
        """In seconds; 0 where it does not run."""
        since = _git_since.get(self._folder)
        return time.monotonic() - since if since is not None else 0.0

    def fetch(self, names: list[str], local: str, generation: Path) -> str:
        """Fetch the first of these refs that it has as `local`, and say which. Where it has moved, there.

        Raises RefMissing, FetchFailed.
        """
        source = self._source()
        try:
            return self._fetch_one_of(names, local, generation, source)
        except Moved:
            moved = source.moved_to()
            if moved is None:
                raise
        note_moved(self._folder, moved)
        return self._fetch_one_of(names, local, generation, self._source())

    def _source(self) -> Source:
        return source_of(self._url, self._key, self._folder)

    def _fetch_one_of(self, names: list[str], local: str, generation: Path, source: Source) -> str:
        remove_leftovers(generation)  # of a git that was killed: its locks would fail this one
        for name in names:
            command = fetch_command(source.remote, name, local, path=os.environ.get("PATH", os.defpath))
            try:
                with source.noting():
                    self._run(command, generation)
            except RefMissing:
                continue
            except FetchFailed as failure:
                remove_leftovers(generation)
                if isinstance(failure, AccessDenied | Moved):
                    forget_moved(self._folder)
                raise
            return name
        raise RefMissing("The repository has no such ref.")

    def _run(self, command: Command, generation: Path) -> None:
        """Run git, and remember how its host behaved. Raises RefMissing, FetchFailed."""
        _git_since[self._folder] = time.monotonic()
        try:
            run(command, generation, seconds=FETCH_LIMIT, lock=self.lock)
        except (RefMissing, AccessDenied, Moved):
            self._host.was_heard()
            raise
        except Silent:
            self._host.was_silent()
            raise
        else:
            self._host.was_heard()
        finally:
            del _git_since[self._folder]
