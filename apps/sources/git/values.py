"""What repositories are asked with, and what they answer."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

EntryType = Literal["file", "directory", "symlink", "submodule"]
Span = tuple[int, int]  # from a byte to before another


@dataclass(frozen=True, slots=True)
class Location:
    """Where a repository is: an https URL, or LOCAL_CHECKOUT.

    `key` names the organization and the connection. There is one mirror for each key and URL.
    """

    url: str
    default_branch: str | None
    key: str


class Entry(NamedTuple):
    """One name in a directory. `size` is in bytes: null for what is no file or link, and for a file left remote.

    A tuple, since listings have thousands: a frozen dataclass takes five times as long to make and to take apart.
    """

    path: str
    name: str
    type: EntryType
    size: int | None
    sha: str


@dataclass(frozen=True, slots=True)
class FileChunk:
    """A piece of a file. `size` and `next_offset` count the file's bytes; lines are counted from 1, of text only."""

    path: str
    sha: str
    size: int
    encoding: str
    content: str
    is_truncated: bool
    next_offset: int | None
    start_line: int | None
    next_line: int | None
    total_lines: int | None
    redaction_count: int
