"""Clients are spread evenly over the workers, whatever happens to one of these."""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.config.server import LOCAL, Connection, Server, gunicorn, request_bytes
from tests.patience import patience

ESTABLISHED = "01"  # /proc/net/tcp


@pytest.fixture
def server(data_dir: Path) -> Iterator[Server]:
    env = LOCAL | {"DATA_DIR": str(data_dir), "RATE_LIMITS": "off", "LOCAL_DEV_ORG": "acme", "WEB_CONCURRENCY": "2"}
    with gunicorn(env) as server:
        server.line(lambda line: "Booting worker" in line)  # the second one
        yield server


def workers(server: Server) -> list[int]:
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    return sorted(map(int, children.read_text().split()))


def clients(server: Server) -> list[int]:
    """How many connections each worker has."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inodes = {line[9] for line in lines if line[1].endswith(f":{server.port:04X}") and line[3] == ESTABLISHED}
    return [len(inodes & sockets_of(worker)) for worker in workers(server)]


def sockets_of(process: int) -> set[str]:
    links = (os.readlink(file) for file in Path(f"/proc/{process}/fd").iterdir() if file.is_symlink())
    return {found[1] for link in links if (found := re.fullmatch(r"socket:\[(\d+)\]", link))}


def come(server: Server, number: int, stack: ExitStack) -> None:
    """So many clients come at once, are answered, and stay."""
    new = [stack.enter_context(Connection(server.port)) for _ in range(number)]
    for connection in new:
        connection.send(request_bytes())
    assert [connection.answer().status for connection in new] == [200] * number


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + patience()
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def are_even(server: Server) -> bool:
    """But for two that a busy machine let be taken by the other."""
    first, second = clients(server)
    return abs(first - second) <= 4


def both_answer(server: Server) -> bool:
    """Whether a worker that has nobody yet takes the next client: it may still be about to begin."""
    with ExitStack() as stack:
        come(server, 1, stack)
        return min(clients(server)) > 0


@pytest.mark.soak
def test_each_worker_has_as_many_clients_also_when_one_began_anew(server: Server) -> None:
    with ExitStack() as stack, ExitStack() as gone:
        come(server, 2, stack)
        come(server, 8, gone)
        assert are_even(server)
        gone.close()
        until(lambda: sum(clients(server)) == 2)
        killed, other = workers(server)
        os.kill(killed, signal.SIGKILL)
        until(lambda: killed not in workers(server) and len(workers(server)) == 2)
        until(lambda: both_answer(server))
        come(server, 10 - sum(clients(server)), stack)
        assert are_even(server)
        assert other in workers(server)


@pytest.mark.soak
def test_a_worker_that_stands_still_keeps_no_client_waiting(server: Server) -> None:
    with ExitStack() as stack:
        come(server, 2, stack)
        still, _ = workers(server)
        os.kill(still, signal.SIGSTOP)
        try:
            come(server, 4, stack)
            assert sum(clients(server)) == 6
        finally:
            os.kill(still, signal.SIGCONT)
