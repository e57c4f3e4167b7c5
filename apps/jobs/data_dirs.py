"""Which DATA_DIR this is: an id in a file of it, so that workers know what lies beside them."""

import os
import tempfile
import uuid
from pathlib import Path

NAME = "data-dir-id"


def id_of(folder: Path) -> str:
    """32 hexadecimal digits, made where there are none. A copy of the folder is another one. Raises OSError.

    The file tells its own inode: a copy has the text, but another inode. Machines that share the folder see the same.
    """
    path = folder / NAME
    return _read(path) or _make(path) or id_of(folder)


def _read(path: Path) -> str | None:
    try:
        with path.open() as file:
            words = file.read().split()
            inode = os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return None
    if len(words) == 2 and words[1] == str(inode):
        return words[0]
    path.unlink(missing_ok=True)
    return None


def _make(path: Path) -> str | None:
    """None: another process was quicker."""
    made = uuid.uuid4().hex
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f"{NAME}-") as file:
        file.write(f"{made} {os.fstat(file.fileno()).st_ino}\n")
        file.flush()
        try:
            os.link(file.name, path)  # the same inode, and never half a file
        except FileExistsError:
            return None
    return made
