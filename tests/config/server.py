"""Real processes for tests: commands with an environment of their own, and gunicorn on a free loopback port."""

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.patience import patience

BASE_DIR = Path(__file__).resolve().parent.parent.parent
TOOL = "/api/v1/tools/list_apps"
SECRET_KEY = "K3y-0f-the-tests: long enough and with enough different characters"
GUNICORN = ("-m", "gunicorn", "-c", "config/gunicorn.conf.py", "config.wsgi")

PRODUCTION = {
    "PORTHOLE_ENV": "production",
    "SECRET_KEY": SECRET_KEY,
    "PUBLIC_URL": "https://porthole.example.com",
}
PREVIEW = PRODUCTION | {"PORTHOLE_ENV": "preview"}
LOCAL = {"PORTHOLE_ENV": "local"}


def environment(values: dict[str, str]) -> dict[str, str]:
    """Only what is given, and what any process needs: nothing of the tests' own settings."""
    kept = ("PATH", "HOME", "LANG", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ} | values


def start(*arguments: str, env: dict[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=BASE_DIR, env=environment(env), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip


def run(*arguments: str, env: dict[str, str]) -> tuple[int, str]:
    """Exit status and everything it said."""
    return finish(start(*arguments, env=env))


def finish(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Exit status (below zero: it did not end by itself) and everything it said."""
    try:
        output, errors = process.communicate(timeout=patience())
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with the workers that a server has started
        output, errors = process.communicate()
    return process.returncode, output + errors


def free_port() -> int:
    """A port that is free on both loopback families."""
    for _ in range(20):
        with socket.create_server(("127.0.0.1", 0)) as first:
            port: int = first.getsockname()[1]
            if not has_ipv6():
                return port
            try:
                with socket.create_server(("::1", port), family=socket.AF_INET6):
                    return port
            except OSError:
                continue
    raise AssertionError("no free port")


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """One connection, byte by byte as the test wants it."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.socket = socket.create_connection((host, port), timeout=patience())
        self.reader = self.socket.makefile("rb")

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.reader.close()
        self.socket.close()

    def send(self, content: bytes) -> None:
        self.socket.sendall(content)

    def end_of_sending(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def answer(self, *, is_head: bool = False) -> Answer:
        status_line = self.reader.readline()
        assert status_line.startswith((b"HTTP/1.1 ", b"HTTP/1.0 ")), status_line
        headers = {}
        while (line := self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        length = 0 if is_head else int(headers.get("content-length", "0"))
        return Answer(int(status_line.split()[1]), headers, self.reader.read(length))

    def is_closed(self) -> bool:
        """Whether the other side has ended it, without another byte."""
        try:
            return self.reader.read(1) == b""
        except ConnectionResetError:
            return True


def wait_until_open(port: int) -> None:
    """Until a program that others wrote listens there."""
    deadline = time.monotonic() + patience()
    while True:
        try:
            return Connection(port).__exit__(None, None, None)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "nobody listens"
            time.sleep(0.05)


def request_bytes(
    target: str = TOOL,
    *,
    method: str = "POST",
    body: bytes = b"{}",
    token: str | None = "porthole-local-dev",
    host: str = "localhost",
    **headers: str | None,
) -> bytes:
    """A request as bytes. A header given as None is left out; underscores stand for hyphens."""
    sent: dict[str, str | None] = {
        "Host": host,
        "Authorization": f"Bearer {token}" if token is not None else None,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
    }
    sent |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    lines = [f"{method} {target} HTTP/1.1"] + [f"{name}: {value}" for name, value in sent.items() if value is not None]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


@dataclass
class Server:
    """A gunicorn that serves, and what it says."""

    port: int
    process: "subprocess.Popen[str]"
    said: list[str] = field(default_factory=list)
    _lines: "queue.Queue[str | None]" = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        self._ear = threading.Thread(target=self._listen, daemon=True)
        self._ear.start()

    def close(self) -> None:
        """Call it when the process has ended."""
        assert self.process.stderr
        assert self.process.stdout
        self._ear.join(patience())
        self.process.stderr.close()
        self.process.stdout.close()

    def _listen(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def line(self, is_it: Callable[[str], bool]) -> str:
        """The next line it says, from now on, that is the one."""
        deadline = time.monotonic() + patience()
        while True:
            try:
                line = self._lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError("It did not say it:\n" + "\n".join(self.said)) from None
            assert line is not None, "It ended:\n" + "\n".join(self.said)
            self.said.append(line)
            if is_it(line):
                return line

    def lines(self) -> list[str]:
        """Everything it has ever said. Call it when it has ended."""
        while (line := self._lines.get(timeout=patience())) is not None:
            self.said.append(line)
        self._lines.put(None)
        return self.said

    def connect(self, host: str = "127.0.0.1") -> Connection:
        return Connection(self.port, host)

    def call(self, target: str = TOOL, *, address: str = "127.0.0.1", **headers: Any) -> Answer:
        """One request on a connection of its own."""
        with self.connect(address) as connection:
            connection.send(request_bytes(target, **headers))
            return connection.answer(is_head=headers.get("method") == "HEAD")

    def kill(self) -> None:
        """Ends it and all that it has started, unless they have ended."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.close()


@contextmanager
def workers(servers: list[Server]) -> Iterator[list[Server]]:
    """Those of `manage.py worker`, once they have begun; killed in the end."""
    try:
        for server in servers:
            server.line(lambda line: "The worker has begun" in line)
        yield servers
    finally:
        for server in servers:
            server.kill()


@contextmanager
def gunicorn(env: dict[str, str], *arguments: str, app: str = GUNICORN[-1]) -> Iterator[Server]:
    """Serves until the end of the block."""
    port = free_port()
    process = start(
        *GUNICORN[:-1], app, "--log-level", "info", *arguments, env={"WEB_CONCURRENCY": "1", "PORT": str(port)} | env
    )
    server = Server(port, process)
    try:
        server.line(lambda line: "Booting worker" in line)  # by now the sockets are as gunicorn.conf.py wants them
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(patience())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        server.close()


# What migrating makes goes with the process: nobody need collect it before, which takes a quarter of the time.
DATABASES = """
import gc
gc.disable()
import django
django.setup()
from django.core.management import call_command
from django.db import connection
from apps.orgs.models import Organization
call_command("migrate", verbosity=0)
connection.cursor().execute("VACUUM INTO %s", ["EMPTY"])
Organization.objects.create(slug="acme", name="Acme")
Organization.objects.create(slug="demo", name="Demo")
connection.cursor().execute("VACUUM INTO %s", ["ORGANIZATIONS"])
"""


def make_databases(folder: Path) -> None:
    """Files with every table: empty.sqlite3, and organizations.sqlite3, which has acme and demo."""
    made = folder.with_suffix(".new")
    made.mkdir()
    script = DATABASES
    for name in ("empty", "organizations"):
        script = script.replace(f'"{name.upper()}"', repr(str(made / f"{name}.sqlite3")))
    env = LOCAL | {"DATA_DIR": str(made), "DJANGO_SETTINGS_MODULE": "config.settings"}
    status, said = run("-c", script, env=env)
    assert status == 0, said
    made.rename(folder)
