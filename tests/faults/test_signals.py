"""What gunicorn does on signals while clients call: nobody loses an answer, and no old code runs beside new code."""

import json
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.config.server import LOCAL, Connection, Server, gunicorn, request_bytes
from tests.patience import patience

CLIENTS = 20


@pytest.fixture(scope="module")
def env(data_dir: Path) -> dict[str, str]:
    return LOCAL | {"DATA_DIR": str(data_dir), "RATE_LIMITS": "off", "LOCAL_DEV_ORG": "acme"}


class Clients:
    """Each calls over and over, with a connection for each call, until nobody listens any more."""

    def __init__(self, server: Server) -> None:
        self.port, self.outcomes = server.port, Counter[str]()
        self.are_busy = threading.Event()
        self.threads = [threading.Thread(target=self.call) for _ in range(CLIENTS)]

    def call(self) -> None:
        outcome = ""
        while outcome != "nobody listens":
            outcome = self.outcome()
            self.outcomes[outcome] += 1
            if self.outcomes["answered"] > 5 * CLIENTS:
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


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigterm_under_load_loses_no_answer(env: dict[str, str], workers: str) -> None:
    with gunicorn(env | {"WEB_CONCURRENCY": workers}) as server:
        clients = Clients(server)
        for thread in clients.threads:
            thread.start()
        assert clients.are_busy.wait(patience())
        server.process.send_signal(signal.SIGTERM)
        for thread in clients.threads:
            thread.join(patience())
        assert server.process.wait(patience()) == 0
    print(clients.outcomes)  # noqa: T201  (pytest -rP shows it)
    assert set(clients.outcomes) == {"answered", "nobody listens"}
    assert all(json.loads(line) for line in server.lines())


def test_sigterm_waits_for_nobody_who_asks_nothing(env: dict[str, str]) -> None:
    """Whoever is connected has two seconds to ask, not the whole deadline of a request."""
    with gunicorn(env, "--graceful-timeout", "86400") as server:
        with server.connect() as quiet, server.connect() as late:
            server.process.send_signal(signal.SIGTERM)
            server.line(lambda line: "Handling signal: term" in line)
            late.send(request_bytes())
            answer = late.answer()
            assert (answer.status, answer.headers["connection"]) == (200, "close")
            assert quiet.is_closed()
        assert server.process.wait(patience()) == 0


def test_sighup_changes_nothing_and_says_what_to_do(env: dict[str, str]) -> None:
    with gunicorn(env) as server:
        before = children(server.process.pid)
        server.process.send_signal(signal.SIGHUP)
        said = json.loads(server.line(lambda line: "SIGHUP is ignored" in line))
        assert (said["level"], said["logger"]) == ("warning", "gunicorn.error")
        assert "Restart" in said["message"]
        assert server.call().status == 200
        assert children(server.process.pid) == before


def children(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()
