"""A PostgreSQL server of one's own that can be made to stand still."""

import importlib.util
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

from tests.config.server import BASE_DIR

ORGANIZATION = """
import django
django.setup()
from django.core.management import call_command
from apps.orgs.models import Organization
call_command("migrate", verbosity=0)
Organization.objects.create(slug="acme", name="Acme")
"""


class PostgreSQL:
    def __init__(self, url: str) -> None:
        self.url = url
        folder = Path(unquote(urlsplit(url).netloc.partition("@")[2]))
        self.main = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        self._stopped: list[int] = []

    def processes(self) -> list[int]:
        """One for each connection, and those that the server keeps for itself."""
        return [int(pid) for pid in Path(f"/proc/{self.main}/task/{self.main}/children").read_text().split()]

    def stop(self, pids: list[int]) -> None:
        """They stand still, with their connections open, until `go_on`."""
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        self._stopped += pids

    def go_on(self) -> None:
        while self._stopped:
            os.kill(self._stopped.pop(), signal.SIGCONT)


@contextmanager
def postgresql() -> Iterator[PostgreSQL]:
    with _program().server() as url:
        server = PostgreSQL(url)
        try:
            yield server
        finally:
            server.go_on()


def _program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("postgres", BASE_DIR / "bin" / "postgres.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)
    spec.loader.exec_module(module)
    return module
