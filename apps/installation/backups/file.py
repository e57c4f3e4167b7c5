r"""The file of a backup: gzip, and in it lines of text that are written and read one after the other.

The first is JSON and tells what follows (`Header`). Then come the rows of each table in the text format of
PostgreSQL's COPY (values between tabs, `\N` for null), each table ended by a line `\.`. The last is JSON: how many
rows each table has, and the SHA-256 of all before it. There are no names of files in it, so none can lead anywhere.
"""

import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import orjson

FORMAT = 1
END = b"\\.\n"
MAX_LINE = 32 * 1024 * 1024  # bytes: many times what the largest row has
# Rows shrink to a third or a tenth. What grows beyond this was made to fill somebody's memory or disk.
MAX_EXPANSION, FREE_EXPANSION = 300, 64 * 1024 * 1024
LEVEL = 4  # of gzip: two thirds of the time that the usual 9 takes, and hardly more bytes
BUFFER = 256 * 1024


class BadBackup(Exception):
    """What was read is no whole backup, or none that this version can read. Its text is a sentence for operators."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """`tables` has the columns of each table, in the order in which they come; `keys` fingerprints, by setting."""

    porthole_backup: int = FORMAT
    made_at: str
    vendor: str
    migrations: list[list[str]]
    keys: dict[str, list[str]]
    tables: dict[str, list[str]]


class Writer:
    """Writes a backup to a file that need not be seekable."""

    def __init__(self, target: BinaryIO, header: Header) -> None:
        self._gzip = gzip.GzipFile(fileobj=target, mode="wb", compresslevel=LEVEL, filename="", mtime=0)
        self._digest = hashlib.sha256()
        self._buffer = bytearray()
        self.rows: dict[str, int] = {}
        self._write(orjson.dumps(asdict(header)) + b"\n")

    def table(self, name: str, lines: Iterator[bytes]) -> None:
        """`lines` are whole rows, one or more at a time."""
        count = 0
        for piece in lines:
            if len(piece) > MAX_LINE:
                raise BadBackup(f"A row of {name} is larger than a backup takes.")
            count += piece.count(b"\n")
            self._write(piece)
        self.rows[name] = count
        self._write(END)

    def finish(self) -> None:
        self._flush()
        self._gzip.write(orjson.dumps({"rows": self.rows, "sha256": self._digest.hexdigest()}) + b"\n")
        self._gzip.close()

    def _write(self, content: bytes) -> None:
        self._buffer += content
        if len(self._buffer) >= BUFFER:
            self._flush()

    def _flush(self) -> None:
        self._digest.update(self._buffer)
        self._gzip.write(self._buffer)
        self._buffer.clear()


class Reader:
    """Reads a backup, as often as wanted, with no more in memory than a row. Everything raises BadBackup."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._allowed = FREE_EXPANSION + MAX_EXPANSION * source.seek(0, os.SEEK_END)
        self._start()

    def verify(self) -> dict[str, int]:
        """Reads all of it once, and returns how many rows each table has."""
        self._start()
        counts = {name: sum(1 for _ in rows) for name, rows in self.tables()}
        found = self._digest.hexdigest()
        last = self._json(self._line())
        if last.get("rows") != counts or last.get("sha256") != found or self._read_line():
            raise BadBackup("The backup is damaged: it does not hold what it says.")
        return counts

    def tables(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Each table's rows, with the line ends. Read those of one before asking for the next."""
        self._start()
        for name in self.header.tables:
            yield name, self._rows()

    def _rows(self) -> Iterator[bytes]:
        while (line := self._line()) != END:
            yield line

    def _start(self) -> None:
        self._source.seek(0)
        self._lines = io.BufferedReader(gzip.GzipFile(fileobj=self._source, mode="rb"), BUFFER)
        self._digest, self._size = hashlib.sha256(), 0
        self.header = _header(self._json(self._line()))

    def _line(self) -> bytes:
        line = self._read_line()
        self._digest.update(line)
        self._size += len(line)
        if not line.endswith(b"\n"):
            raise BadBackup("The backup is damaged: it ends too early." if len(line) < MAX_LINE else TOO_LARGE)
        if self._size > self._allowed:
            raise BadBackup(TOO_LARGE)
        return line

    def _read_line(self) -> bytes:
        try:
            return self._lines.readline(MAX_LINE)
        except EOFError:
            raise BadBackup("The backup is damaged: it ends too early.") from None
        except (gzip.BadGzipFile, zlib.error):
            raise BadBackup("This is no backup of Porthole, or it is damaged.") from None

    @staticmethod
    def _json(line: bytes) -> dict[str, Any]:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            value = None
        if not isinstance(value, dict):
            raise BadBackup("This is no backup of Porthole, or it is damaged.")
        return value


TOO_LARGE = "This is no backup of Porthole: it grows beyond all measure when it is read."


def _header(value: dict[str, Any]) -> Header:
    format = value.get("porthole_backup")
    if not isinstance(format, int):
        raise BadBackup("This is no backup of Porthole, or it is damaged.")
    if format > FORMAT:
        raise BadBackup("This backup was made by a newer version of Porthole: restore it with that version.")
    try:
        header = Header(**value)
    except TypeError:
        header = None
    if header is None or not _is_well_formed(header):
        raise BadBackup("This is no backup of Porthole, or it is damaged.")
    return header


def _is_well_formed(header: Header) -> bool:
    lists = [*header.migrations, *header.keys.values(), *header.tables.values()] if _are_containers(header) else [None]
    return (
        isinstance(header.made_at, str)
        and header.vendor in ("sqlite", "postgresql")
        and all(isinstance(words, list) and all(isinstance(word, str) for word in words) for words in lists)
        and all(len(migration) == 2 for migration in header.migrations)
    )


def _are_containers(header: Header) -> bool:
    return isinstance(header.migrations, list) and isinstance(header.keys, dict) and isinstance(header.tables, dict)
