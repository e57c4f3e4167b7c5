"""The index file: which documents go into it, and the SQLite FTS5 tables they become."""

import hashlib
import logging
import os
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from stat import S_ISREG
from tempfile import mkstemp

from apps.orgs.ids import derived_id
from apps.sources.docs import spelling
from apps.sources.docs.addresses import addresses_of
from apps.sources.docs.chunks import MARKDOWN, PLAIN, Page, parse

FORMAT = 3  # raise it when the tables or the chunking change: part of the file's name, so versions never share one
MAX_FILES = 20_000
MAX_BYTES = 2 * 1024 * 1024
MAX_PATH = 512

logger = logging.getLogger(__name__)

# `page` is contentless: it ranks whole pages and its text is never read back. `word` has the words as written
# (not stemmed), for completing and correcting what people type; the temporary tables only serve to collect it.
_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA temp_store = MEMORY;
CREATE TABLE meta (fingerprint TEXT, pages INTEGER, roots TEXT);
CREATE TABLE page_info (
    id INTEGER PRIMARY KEY, doc_id TEXT, path TEXT, title TEXT, first_section INTEGER, last_section INTEGER,
    root INTEGER, address TEXT
);
CREATE TABLE section_info (id INTEGER PRIMARY KEY, page INTEGER, heading TEXT, anchor TEXT);
CREATE VIRTUAL TABLE section USING fts5(
    title, trail, words, body, tokenize = "porter unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE page USING fts5(
    title, headings, words, body, content = '', tokenize = "porter unicode61 remove_diacritics 2"
);
INSERT INTO section (section, rank) VALUES ('rank', 'bm25(6.0, 4.0, 3.0, 1.0)');
INSERT INTO page (page, rank) VALUES ('rank', 'bm25(8.0, 4.0, 3.0, 1.0)');
CREATE VIRTUAL TABLE temp.written USING fts5(
    text, content = '', detail = none, tokenize = "unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE temp.written_words USING fts5vocab(temp, written, row);
"""
_FINISH = """
INSERT INTO word SELECT term, doc, NULL FROM temp.written_words WHERE length(term) BETWEEN 2 AND 64;
INSERT INTO section (section) VALUES ('optimize');
INSERT INTO page (page) VALUES ('optimize');
"""
TABLES = frozenset({"meta", "page_info", "section_info", "section", "page", "word", "spelling"})


@dataclass(frozen=True, slots=True)
class DocFile:
    """One file to index. `root` is the position of its directory in DOCS_DIRS, `path` is relative to that."""

    root: int
    path: str
    file: Path
    mtime_ns: int
    size: int

    @property
    def doc_id(self) -> str:
        # Paths of the first directory alone make the id; the same path in another one is another document.
        return derived_id("doc", self.path, *([str(self.root)] if self.root else []))


@dataclass(frozen=True, slots=True)
class Found:
    """The documents under some directories, ordered by path."""

    files: Sequence[DocFile]
    is_complete: bool  # False: a directory is there that could not be read

    @property
    def roots(self) -> frozenset[int]:
        """The positions of the directories that hold any."""
        return frozenset(file.root for file in self.files)


@dataclass(frozen=True, slots=True)
class Stored:
    """What an index was built from."""

    fingerprint: str
    pages: int
    roots: frozenset[int]


def scan(roots: Sequence[Path]) -> Found:
    """The documents under the directories; what is missing or unreadable is passed over."""
    files: list[DocFile] = []
    unreadable: list[Path] = []
    for root, directory in enumerate(roots):
        for file in _documents(root, directory, unreadable):
            if len(files) == MAX_FILES:
                return Found(sorted(files, key=_order), not unreadable)
            files.append(file)
    return Found(sorted(files, key=_order), not unreadable)


def fingerprint(files: Sequence[DocFile]) -> str:
    """What changes when a document is added, removed or edited."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.root}\0{file.path}\0{file.mtime_ns}\0{file.size}\n".encode())
    return digest.hexdigest()


def connect(index: Path) -> sqlite3.Connection:
    """Open an index for reading. It is only ever replaced as a whole, so SQLite need not look for changes or lock."""
    uri = f"{index.absolute().as_uri()}?mode=ro&immutable=1"
    # Any thread may close it, because a connection's thread can be gone by then; each is used by one thread only.
    return sqlite3.connect(uri, uri=True, check_same_thread=False)


def stored_in(connection: sqlite3.Connection) -> Stored:
    """Raises sqlite3.Error when this is no index, or a damaged one."""
    row = connection.execute("SELECT fingerprint, pages, roots FROM meta").fetchone()
    if row is None or not all(isinstance(value, kind) for value, kind in zip(row, (str, int, str), strict=True)):
        raise sqlite3.DatabaseError("the index does not tell what it was built from")
    return Stored(row[0], row[1], frozenset(map(int, row[2].split())))


def build(index: Path, files: Sequence[DocFile]) -> None:
    """Write the index of `files` and put it in place of the old one in one step.

    The caller holds the lock on this index. Raises OSError or sqlite3.Error (disk full, not writable).
    """
    if len(files) == MAX_FILES:
        logger.warning("DOCS_DIRS holds %d documents or more; the ones after that are not searchable.", MAX_FILES)
    for leftover in index.parent.glob(f"{index.name}.*.tmp"):  # of a process that was killed while building
        leftover.unlink(missing_ok=True)
    handle, name = mkstemp(dir=index.parent, prefix=f"{index.name}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with closing(sqlite3.connect(temporary)) as connection:
            _fill(connection, files)
        os.fsync(handle)  # or a power cut could leave the new name on an empty file
        _make_way(index)
        temporary.replace(index)
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def _make_way(index: Path) -> None:
    """A directory of that name is moved aside: a file cannot replace it, and what is in it is not ours to delete."""
    if index.is_dir() and not index.is_symlink():
        index.rename(index.with_name(f"{index.name}.{time.time_ns()}.aside"))


def _path_words(path: str) -> str:
    """The words in a path, without the extension."""
    return " ".join(re.split(r"[\W_]+", str(PurePosixPath(path).with_suffix("")))).strip()


def _order(file: DocFile) -> tuple[str, int]:
    return file.path, file.root


def _documents(root: int, directory: Path, unreadable: list[Path]) -> Iterator[DocFile]:
    """Adds to `unreadable` what is there and cannot be read."""
    real_root = os.path.realpath(directory)
    pending = [directory]
    while pending:
        for entry in _entries(pending.pop(), unreadable):
            # Linked directories are not followed: inside the root they are visited anyway, and could go in circles.
            if entry.is_dir(follow_symlinks=False):
                pending.append(Path(entry.path))
            elif document := _document(root, directory, real_root, entry):
                yield document


def _entries(directory: Path, unreadable: list[Path]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return sorted((e for e in entries if not e.name.startswith(".")), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:  # not ours to read, or a mount that went away
        unreadable.append(directory)
        return []


def _document(root: int, directory: Path, real_root: str, entry: os.DirEntry[str]) -> DocFile | None:
    file = Path(entry.path)
    if file.suffix.lower() not in MARKDOWN | PLAIN or not _stays_inside(real_root, entry):
        return None
    try:
        status = entry.stat()
    except OSError:
        return None
    path = file.relative_to(directory).as_posix()
    if not S_ISREG(status.st_mode) or status.st_size > MAX_BYTES or len(path) > MAX_PATH or not _is_text(path):
        return None
    return DocFile(root, path, file, status.st_mtime_ns, status.st_size)


def _stays_inside(real_root: str, entry: os.DirEntry[str]) -> bool:
    # A linked file may only point into the same directory (as mounted ConfigMaps do), never at the rest of the machine.
    return not entry.is_symlink() or Path(os.path.realpath(entry.path)).is_relative_to(real_root)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:  # a file name that is not UTF-8 cannot be shown in JSON
        return False
    return path.isprintable()


def _fill(connection: sqlite3.Connection, files: Sequence[DocFile]) -> None:
    connection.executescript(_SCHEMA + spelling.SCHEMA)
    pages = 0
    sections = 0
    roots = sorted({file.root for file in files})
    addresses = {root: addresses_of([file.path for file in files if file.root == root]) for root in roots}
    for file in files:
        try:
            with file.file.open("rb") as opened:
                text = opened.read(MAX_BYTES).decode(errors="replace")
        except OSError:
            continue  # removed since the scan: the next check will see that the files changed
        page = parse(file.path, text)
        pages += 1
        _add_page(connection, pages, sections + 1, file, page, addresses[file.root][file.path])
        sections += len(page.sections)
    connection.execute("INSERT INTO meta VALUES (?, ?, ?)", (fingerprint(files), pages, " ".join(map(str, roots))))
    connection.commit()
    connection.executescript(_FINISH)
    spelling.add_spellings(connection)
    connection.commit()


def _add_page(connection: sqlite3.Connection, number: int, first: int, file: DocFile, page: Page, address: str) -> None:
    """A page's rows. Its sections are numbered in one run from `first`, so that a range finds them."""
    words = _path_words(file.path)
    rows = list(enumerate(page.sections, start=first))
    connection.execute(
        "INSERT INTO page_info VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (number, file.doc_id, file.path, page.title, first, rows[-1][0], file.root, address),
    )
    connection.executemany(
        "INSERT INTO section_info VALUES (?, ?, ?, ?)",
        [(id, number, section.heading, section.anchor) for id, section in rows],
    )
    connection.executemany(
        "INSERT INTO section (rowid, title, trail, words, body) VALUES (?, ?, ?, ?, ?)",
        [(id, section.heading or page.title, section.trail, words, section.body) for id, section in rows],
    )
    headings = " ".join(section.heading for section in page.sections if section.heading)
    body = " ".join(section.body for section in page.sections)
    connection.execute(
        "INSERT INTO page (rowid, title, headings, words, body) VALUES (?, ?, ?, ?, ?)",
        (number, page.title, headings, words, body),
    )
    connection.execute(
        "INSERT INTO temp.written (rowid, text) VALUES (?, ?)", (number, f"{page.title} {headings} {words} {body}")
    )
