"""Manifests that commands take as arguments."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import BinaryIO

from django.core.management.base import CommandError

from apps.platforms.manifest.problems import MAX_FOUND, ManifestError
from apps.platforms.manifest.reader import Manifest, read_manifest
from apps.platforms.manifest.yaml_stream import MAX_BYTES, MIB


def manifest_in(file: str) -> Manifest:
    """The manifest in a file, or on standard input for `-`. Raises CommandError with what is wrong."""
    try:
        with _opened(file) as opened:
            return read_manifest(opened)
    except ManifestError as error:
        raise CommandError("\n".join([f"Nothing was changed: {_found(error)} in {file}.", *error.problems])) from None
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from None


def _found(error: ManifestError) -> str:
    if error.count == 1:
        return "1 problem"
    count = f"{error.count} problems or more" if error.count >= MAX_FOUND else f"{error.count} problems"
    told = len(error.problems)
    return count if told == error.count else f"{count} (the first {told} are told)"


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    """A file that can be read twice. What cannot (standard input, a pipe) is copied to a temporary file."""
    with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as opened:
        if file != "-" and opened.seekable():
            yield opened
            return
        with tempfile.TemporaryFile() as copy:
            _copy(opened, copy)
            yield copy


def _copy(source: BinaryIO, target: BinaryIO) -> None:
    """Copies no more than shows that it is too much."""
    while target.tell() <= MAX_BYTES and (piece := source.read(MIB)):
        target.write(piece)
