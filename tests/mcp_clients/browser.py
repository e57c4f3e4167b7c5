"""What a program opens when it opens "the browser": a script that hands the address to the robot."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.oauthmcp.clients.server import Person
from tests.patience import patience

MOST = 16_384  # bytes of an address


@dataclass
class Browser:
    """Readable once it is sent somewhere."""

    person: Person
    script: Path
    addresses: int

    def fileno(self) -> int:
        return self.addresses

    def let_in(self) -> None:
        """Goes there, and back to where the program listens."""
        address = os.read(self.addresses, MOST).decode().strip()
        landed = requests.get(self.person.allow(address), timeout=patience())
        assert landed.status_code == 200, landed.text


@contextmanager
def browser_of(person: Person, home: Path) -> Iterator[Browser]:
    pipe, script = home / "addresses", home / "browser"
    pipe.unlink(missing_ok=True)  # of a program that is started once more
    os.mkfifo(pipe)
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" > "{pipe}"\n')
    script.chmod(0o700)
    addresses = os.open(pipe, os.O_RDWR)  # also for writing: then neither side waits for the other to open it
    try:
        yield Browser(person, script, addresses)
    finally:
        os.close(addresses)
