"""Secrets that commands take: from a file, never from the command line, which other users of the machine can read."""

import sys
from pathlib import Path

from django.core.management.base import CommandError


def secret_in(file: str, limit: int) -> str:
    """The text in a file, or on standard input for `-`: `limit` characters, and a few more where it is too long.

    Raises CommandError; what was read is in no message.
    """
    try:
        if file == "-":
            return sys.stdin.read(limit + 2)
        with Path(file).open(encoding="utf-8") as opened:
            return opened.read(limit + 2)
    except (OSError, UnicodeDecodeError):
        raise CommandError(f"{file} cannot be read as text.") from None
