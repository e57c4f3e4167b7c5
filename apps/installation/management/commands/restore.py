"""Puts a backup into the database."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.installation import keys
from apps.installation.backups.file import BadBackup, Reader
from apps.installation.backups.load import InUse, load, people_and_organizations


class Command(BaseCommand):
    help = "Replaces everything in the database by what is in a backup, whichever database that was made of."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="The backup; - for standard input.")
        parser.add_argument("--overwrite", action="store_true", help="Delete the users and organizations of now.")

    def handle(self, *, file: str, overwrite: bool, **options: Any) -> None:
        try:
            with _opened(file) as source:
                reader = Reader(source)
                rows = reader.verify()
                if not overwrite:
                    _refuse_to_overwrite()
                load(reader)
        except BadBackup as error:
            raise CommandError(f"Nothing was changed. {error}") from None
        except InUse as error:
            raise CommandError(
                "Nothing was changed: the database does not answer, or somebody else uses it. Stop the server and the "
                f"workers first. ({type(error.__cause__).__name__})"
            ) from None
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from None
        self.stdout.write(
            f"Restored {sum(rows.values()):,} rows of {len(rows)} tables, as they were at {reader.header.made_at}."
        )
        self._tell_of_keys(reader.header.keys)

    def _tell_of_keys(self, needed: dict[str, list[str]]) -> None:
        for setting, fingerprint in keys.missing(needed):
            name = "SECRET_KEY_FALLBACKS" if setting == "SECRET_KEY" else setting
            self.stderr.write(
                f"The key {fingerprint} of {setting} is not here. Add it to {name}, then run rotate_keys; without it "
                + WITHOUT[setting]
            )
        if people := keys.unreadable_second_factors():
            self.stderr.write(f"The second factors of {people} people cannot be read with the keys of now.")
        if platforms := keys.unreadable_credentials():
            self.stderr.write(f"The keys of {platforms} platforms cannot be read with the keys of now.")


WITHOUT = {
    "SECRET_KEY": "people sign in again, and second factors that it protects have to be removed.",
    "ENCRYPTION_KEYS": "platforms whose keys it protects have to be connected again.",
}


def _opened(file: str) -> BinaryIO:
    if file != "-":
        return Path(file).open("rb")
    spool = tempfile.TemporaryFile(dir=settings.DATA_DIR)  # it is read twice  # noqa: SIM115
    shutil.copyfileobj(sys.stdin.buffer, spool)
    return spool


def _refuse_to_overwrite() -> None:
    users, organizations = people_and_organizations()
    if users or organizations:
        raise CommandError(
            f"Nothing was changed: this database has {users} users and {organizations} organizations, which would be "
            "deleted. Add --overwrite if that is what you want."
        )
