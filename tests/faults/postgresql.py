"""A PostgreSQL server of one's own that can be made to stand still, or killed."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import psycopg

from tests.config.server import BASE_DIR
from tests.patience import patience

# The tables as the models say, which takes a second; migrating takes eight, and the tests themselves do it.
ORGANIZATION = """
import django
django.setup()
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from apps.orgs.models import Organization
settings.MIGRATION_MODULES = dict.fromkeys(apps.app_configs)
call_command("migrate", run_syncdb=True, verbosity=0)
settings.MIGRATION_MODULES = {}
call_command("migrate", fake=True, verbosity=0)
Organization.objects.create(slug="acme", name="Acme")
"""


class PostgreSQL:
    def __init__(self, url: str) -> None:
        self.url = url
        folder = Path(unquote(urlsplit(url).netloc.partition("@")[2]))
        self.main = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        self._stopped: list[int] = []
        self._again: subprocess.Popen[bytes] | None = None
        process = Path(f"/proc/{self.main}")
        self._command = (process / "cmdline").read_bytes().decode().split("\0")[:-1]
        self._owner = {"user": process.stat().st_uid, "group": process.stat().st_gid}
        self._folder = folder

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

    def kill(self) -> None:
        """All of it at once, as where a machine has no memory left."""
        children = self.processes()
        for pid in (self.main, *children):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._reap()
        for pid in children:
            _wait_for_end(pid)

    def start(self) -> None:
        """After `kill`: it reads its log, and goes on with what was committed."""
        is_root = {**self._owner, "extra_groups": []} if os.geteuid() == 0 else {}
        with (self._folder / "log").open("ab") as log:
            self._again = subprocess.Popen(
                self._command, cwd=self._folder, stdout=log, stderr=log, start_new_session=True, **is_root
            )
        self.main = self._again.pid
        deadline = time.monotonic() + patience()
        while True:
            try:
                return psycopg.connect(self.url, connect_timeout=2).close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline, (self._folder / "log").read_text(errors="replace")
                time.sleep(0.05)

    def end(self) -> None:
        """What `start` has started; the first one is not ours."""
        if self._again is not None and self._again.poll() is None:
            self._again.send_signal(signal.SIGQUIT)
            self._again.wait()

    def _reap(self) -> None:
        """Or the next one takes it for alive. The first is a child of ours that bin/postgres.py waits for, in vain."""
        if self._again is not None:
            self._again.wait()
        else:
            os.waitpid(self.main, 0)


def _wait_for_end(pid: int) -> None:
    """Of a process that may be nobody's to wait for: one that is only still listed has ended."""
    deadline = time.monotonic() + patience()
    stat = Path(f"/proc/{pid}/stat")
    with suppress(FileNotFoundError, ProcessLookupError):
        while stat.read_text().rpartition(")")[2].split()[0] != "Z":
            assert time.monotonic() < deadline
            time.sleep(0.005)


@contextmanager
def postgresql(**options: str) -> Iterator[PostgreSQL]:
    """`options` are the server's, such as synchronous_commit="on"."""
    program = _program()
    program.OPTIONS |= options
    with program.server() as url:
        server = PostgreSQL(url)
        try:
            yield server
        finally:
            server.go_on()
            server.end()


def _program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("postgres", BASE_DIR / "bin" / "postgres.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)
    spec.loader.exec_module(module)
    return module
