"""What gunicorn does on signals while clients call: nobody loses an answer, and no old code runs beside new code."""

import json
import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.config.server import LOCAL, Connection, Server, free_port, gunicorn, request_bytes, start
from tests.patience import patience


@pytest.fixture(scope="module")
def env(data_dir: Path) -> dict[str, str]:
    return LOCAL | {"DATA_DIR": str(data_dir), "RATE_LIMITS": "off", "LOCAL_DEV_ORG": "acme"}


class Clients:
    """Each calls over and over, with a connection for each call, until nobody listens any more."""

    def __init__(self, server: Server, count: int = 20) -> None:
        self.port, self.outcomes = server.port, Counter[str]()
        self.are_busy = threading.Event()
        self.threads = [threading.Thread(target=self.call) for _ in range(count)]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()
        assert self.are_busy.wait(patience())

    def join(self) -> None:
        for thread in self.threads:
            thread.join(patience())

    def call(self) -> None:
        outcome = ""
        while outcome != "nobody listens":
            outcome = self.outcome()
            self.outcomes[outcome] += 1
            if self.outcomes["answered"] > 5 * len(self.threads):
                self.are_busy.set()

    def outcome(self) -> str:
        try:
            connection = Connection(self.port)
        except ConnectionRefusedError:
            return "nobody listens"
        except OSError as error:
            return f"not connected: {error}"
        with connection:
            try:
                connection.send(request_bytes())
                return "answered" if connection.answer().status == 200 else "refused"
            except (OSError, AssertionError) as error:
                return f"lost: {error!r}"


@pytest.mark.parametrize("workers", ["2", pytest.param("1", marks=pytest.mark.soak)])
def test_sigterm_under_load_loses_no_answer(env: dict[str, str], workers: str) -> None:
    with gunicorn(env | {"WEB_CONCURRENCY": workers}) as server:
        clients = Clients(server)
        clients.start()
        server.process.send_signal(signal.SIGTERM)
        clients.join()
        assert server.process.wait(patience()) == 0
    print(clients.outcomes)  # noqa: T201  (pytest -rP shows it)
    assert set(clients.outcomes) == {"answered", "nobody listens"}
    assert all(json.loads(line) for line in server.lines())


@pytest.mark.soak
def test_sigterm_waits_for_nobody_who_asks_nothing(env: dict[str, str]) -> None:
    """Whoever is connected has two seconds to ask, not the whole deadline of a request."""
    with gunicorn(env, "--graceful-timeout", "86400") as server:
        with server.connect() as quiet, server.connect() as late:
            server.process.send_signal(signal.SIGTERM)
            server.line(lambda line: "Handling signal: term" in line)
            ways: list[str] = []
            while "close" not in ways:  # its worker may hear of it a moment later
                late.send(request_bytes())
                answer = late.answer()
                assert answer.status == 200
                ways.append(answer.headers["connection"])
            assert quiet.is_closed()
        assert server.process.wait(patience()) == 0


SLOW_TO_BEGIN = """
exec(open("config/gunicorn.conf.py").read().replace("__file__", "'config/x'"))
def post_fork(server, worker):
    __import__("time").sleep(1)
"""


@pytest.mark.soak
def test_a_worker_that_only_begins_hears_sigterm_too(env: dict[str, str], tmp_path: Path) -> None:
    config = tmp_path / "config.py"
    config.write_text(SLOW_TO_BEGIN)
    with script(env, config, "--graceful-timeout", "86400") as server:
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(patience()) == 0


@pytest.mark.soak
@pytest.mark.parametrize("time", range(6))
def test_ctrl_c_ends_it_at_once(env: dict[str, str], time: int) -> None:
    """To all processes, as from a terminal: workers hear of it twice. Several times, since it hung now and then."""
    with gunicorn(env | {"WEB_CONCURRENCY": "2"}) as server:
        with server.connect() as connection:
            connection.send(request_bytes(connection="close"))
            assert connection.answer().status == 200
        os.killpg(server.process.pid, signal.SIGINT)
        assert server.process.wait(patience()) == 0
    assert "SIGKILL" not in "".join(server.lines())


def test_sighup_changes_nothing_and_says_what_to_do(local_server: Server) -> None:
    before = children(local_server.process.pid)
    local_server.process.send_signal(signal.SIGHUP)
    said = json.loads(local_server.line(lambda line: "SIGHUP is ignored" in line))
    assert (said["level"], said["logger"]) == ("warning", "gunicorn.error")
    assert "Restart" in said["message"]
    assert local_server.call().status == 200
    assert children(local_server.process.pid) == before


CODE = """
exec(open("config/gunicorn.conf.py").read().replace("__file__", "'config/x'"))
def post_worker_init(worker):
    application = worker.wsgi
    def marked(environ, start_response):
        return application(environ, lambda status, headers: start_response(status, [*headers, ("X-Code", "THIS")]))
    worker.wsgi = marked
"""


@pytest.mark.soak
def test_sigusr2_and_then_sigterm_bring_new_code_without_losing_an_answer(env: dict[str, str], tmp_path: Path) -> None:
    """As docs/running.md describes it."""
    code = tmp_path / "code.py"
    code.write_text(CODE.replace("THIS", "old"))
    with script(env, code) as server:
        assert server.call().headers["x-code"] == "old"
        clients = Clients(server, 2)
        clients.start()
        code.write_text(CODE.replace("THIS", "new"))
        server.process.send_signal(signal.SIGUSR2)
        listening = json.loads(server.line(lambda line: "Listening at" in line))
        server.line(lambda line: "Booting worker" in line)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(patience()) == 0
        assert {server.call().headers["x-code"] for _ in range(20)} == {"new"}
        os.kill(int(re.findall(r"\((\d+)\)", listening["message"])[0]), signal.SIGTERM)
        clients.join()
    assert set(clients.outcomes) == {"answered", "nobody listens"}


@contextmanager
def script(env: dict[str, str], config: Path, *more: str) -> Iterator[Server]:
    """The gunicorn that the documentation names: one that was started with -m cannot start itself once more."""
    port = free_port()
    program = str(Path(sys.executable).with_name("gunicorn"))
    arguments = (program, "-c", str(config), "--log-level", "info", *more, "config.wsgi")
    server = Server(port, start(*arguments, env={"WEB_CONCURRENCY": "1", "PORT": str(port)} | env))
    try:
        server.line(lambda line: "Booting worker" in line)
        yield server
    finally:
        server.kill()


def children(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()
