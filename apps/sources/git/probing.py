"""Whether git can read a repository with the credentials that somebody gives."""

import os
import tempfile
from pathlib import Path

import pygit2

from apps.sources.git.fetch import FetchFailed, ls_remote_command, run
from apps.sources.git.remotes import remote_of

SECONDS = 10.0


def can_read(url: str, authorization: str | None) -> bool:
    """Asks for its HEAD alone; nothing is kept. False also where it does not answer."""
    with tempfile.TemporaryDirectory(prefix="porthole-probe-") as folder:
        pygit2.init_repository(folder, bare=True)
        try:
            command = ls_remote_command(remote_of(url, authorization), path=os.environ.get("PATH", os.defpath))
            run(command, Path(folder), seconds=SECONDS)
        except FetchFailed:
            return False
    return True
