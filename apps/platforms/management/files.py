"""Manifests that commands take as arguments."""

import sys
from pathlib import Path

from django.core.management.base import CommandError

from apps.platforms.manifest.reader import Manifest, ManifestError, read_manifest
from apps.platforms.manifest.yaml_tree import MAX_BYTES


def manifest_in(file: str) -> Manifest:
    """The manifest in a file, or on standard input for `-`. Raises CommandError with everything that is wrong."""
    try:
        return read_manifest(_content(file))
    except ManifestError as error:
        count = len(error.problems)
        found = "1 problem" if count == 1 else f"{count} problems"
        raise CommandError("\n".join([f"Nothing was changed: {found} in {file}.", *error.problems])) from None


def _content(file: str) -> bytes:
    try:
        if file == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(file).open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
