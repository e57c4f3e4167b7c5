"""The pages that an index holds, by address, and the files below a directory."""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from apps.sources.docs.index import stored_in

_ROWS = """
SELECT page_info.doc_id, page_info.root, page_info.path, page_info.address, page_info.title,
    substr(section.body, 1, 400)
FROM page_info LEFT JOIN section ON section.rowid = page_info.first_section
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """A page. `address` comes after /docs/; `root` is the position of its directory in DOCS_DIRS."""

    id: str
    root: int
    prefix: str  # of the addresses of all pages of this directory
    path: str
    address: str
    title: str
    summary: str  # how it begins, as plain text


class Contents:
    """The pages of an index. `version` is another one as soon as a page is."""

    def __init__(self, version: str, entries: Sequence[Entry]) -> None:
        self.version = version
        self.entries = sorted(entries, key=lambda entry: entry.address)
        self.by_id = {entry.id: entry for entry in entries}
        self.by_file = {(entry.root, entry.path): entry for entry in entries}
        self._by_address = {entry.address: entry for entry in entries}
        self._by_name = {entry.prefix + entry.path: entry for entry in entries}

    def find(self, address: str) -> Entry | None:
        """The page at this address, whether or not there is a slash at its end where that tells no two apart."""
        other = address.removesuffix("/") if address.endswith("/") else f"{address}/"
        return self._by_address.get(address) or self._by_address.get(other)

    def find_file(self, name: str) -> Entry | None:
        """The page whose file has this name, with its ending."""
        return self._by_name.get(name)


def read_contents(connection: sqlite3.Connection, prefixes: Sequence[str]) -> Contents:
    """Raises sqlite3.Error. `prefixes`: of the addresses in each directory."""
    entries = [
        Entry(id, root, prefixes[root], path, prefixes[root] + address, title, summary or "")
        for id, root, path, address, title, summary in connection.execute(_ROWS)
    ]
    return Contents(stored_in(connection).fingerprint, entries)


def read_inside(directory: Path, path: str, limit: int) -> bytes | None:
    """A file below a directory; None where there is none, or where it is elsewhere, larger, or no file."""
    try:
        root = os.path.realpath(directory)
        real = os.path.realpath(os.path.join(root, path))  # an absolute path replaces the root, and is refused
        if not Path(real).is_relative_to(root):
            return None
        # Not blocking: what became a pipe meanwhile must not keep anybody waiting.
        handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ValueError):  # ValueError: NUL
        return None
    with os.fdopen(handle, "rb") as opened:
        status = os.fstat(handle)
        if not S_ISREG(status.st_mode) or status.st_size > limit:
            return None
        return opened.read(limit)
