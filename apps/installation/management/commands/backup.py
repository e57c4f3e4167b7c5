"""Writes a backup of the database, while the server runs."""

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from apps.installation import keys
from apps.installation.backups.dump import dump
from apps.installation.backups.file import BadBackup, Reader
from apps.web.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    when_stopped = "There is no backup of it."
    takes_earlier_tables = True  # whoever upgrades makes one first
    help = (
        "Writes everything that is in the database to one file. Keys are not in it: keep SECRET_KEY and "
        "ENCRYPTION_KEYS elsewhere."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="The file, or a folder in which it gets a name; - for standard output.")

    def handle(self, *, file: str, **options: Any) -> None:
        try:
            if file == "-":
                said, rows = self.stderr, dump(sys.stdout.buffer)
            else:
                path = _path(file)
                said, rows = self.stdout, _write(path)
                said.write(f"{path} ({path.stat().st_size:,} bytes)")
        except BadBackup as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"The backup cannot be written: {error.strerror}.") from None
        said.write(f"{sum(rows.values()):,} rows of {len(rows)} tables. Keys are not among them: keep elsewhere")
        for setting, prints in keys.fingerprints().items():
            said.write("".join(f"  {setting} {found}\n" for found in prints), ending="")


def _path(file: str) -> Path:
    path = Path(file)
    if path.is_dir():
        return path / f"porthole-{timezone.now():%Y%m%dT%H%M%SZ}.backup"
    if path.exists() and not _is_backup(path):
        raise CommandError(f"{path} is there already and is no backup: name another file.")
    return path


def _is_backup(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return bool(Reader(file).header)
    except BadBackup:
        return False


def _write(path: Path) -> dict[str, int]:
    """Under its name only once it is whole, and readable for its owner alone."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600
    try:
        with os.fdopen(number, "wb") as file:
            rows = dump(file)
            file.flush()
            os.fsync(number)
        os.replace(name, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise
    return rows
