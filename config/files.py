"""Files at rest: nobody but the user that Porthole runs as may read them."""

import logging
import os
import stat
from pathlib import Path
from typing import Any

log = logging.getLogger("porthole.files")

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def close_to_others(data_dir: Path) -> None:
    """What this process makes from now on is its user's alone, DATA_DIR first. Raises OSError."""
    os.umask(OTHERS)
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)


def what_guards(data_dir: Path, database: dict[str, Any]) -> list[Path]:
    """DATA_DIR, which nobody passes to what is in it, and the SQLite database, which may be elsewhere."""
    if database["ENGINE"] != "django.db.backends.sqlite3":
        return [data_dir]
    name = str(database["NAME"])  # with what SQLite keeps beside it
    return [data_dir, *(Path(name + end) for end in ("", "-wal", "-shm", "-journal") if Path(name + end).exists())]


def narrow(data_dir: Path, database: dict[str, Any]) -> None:
    """Takes from others what they may do with what is our own, also inside DATA_DIR. A line in the log for each."""
    for path in dict.fromkeys([*what_guards(data_dir, database), *sorted(data_dir.iterdir())]):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode) or not status.st_mode & OTHERS or not _may_narrow(status):
            continue
        path.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS)
        log.warning("%s was open to other users of this machine, and is not any more", path)


def open_to_others(data_dir: Path, database: dict[str, Any]) -> Path | None:
    """The first that another user owns or may use, which `narrow` leaves alone."""
    paths = ((path, path.stat()) for path in what_guards(data_dir, database))
    return next((path for path, status in paths if status.st_uid != os.geteuid() or status.st_mode & OTHERS), None)


def _may_narrow(status: os.stat_result) -> bool:
    """Not what another user owns, nor a folder that everybody shares, such as /tmp."""
    return status.st_uid == os.geteuid() and not status.st_mode & stat.S_ISVTX
