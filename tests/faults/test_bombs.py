"""Repositories that unpack to gigabytes: git is stopped at its limit, and the server reads no object of that size."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.faults import bombs
from tests.faults.git_servers import children_of, git_server, peak_memory

URL = "https://hostile.example/bomb.git"
MIB = 1024 * 1024
GIT_LIMIT = 384 + 16
WORKER_LIMIT = 60  # more than before the call

pytestmark = pytest.mark.process


def descendants(pid: int) -> list[int]:
    children = children_of(pid)
    return children + [found for child in children for found in descendants(child)]


@pytest.mark.soak
@pytest.mark.parametrize(
    ("bomb", "expected"),
    [
        pytest.param(lambda: bombs.large_advertisement(500 * MIB), 503, id="a list of refs"),
        # The same limit ends git here, for seconds of work.
        pytest.param(
            lambda: bombs.serving(*bombs.large_delta(32_000)), 503, id="a delta of 2 GiB", marks=pytest.mark.soak
        ),
        # What git can hold it takes, and then nobody looks at it.
        pytest.param(
            lambda: bombs.serving(*bombs.large_commit(150 * MIB)),
            422,
            id="a message of 150 MiB",
            marks=pytest.mark.soak,
        ),
        pytest.param(
            lambda: bombs.serving(*bombs.large_commit(512 * MIB)),
            503,
            id="a message of 512 MiB",
            marks=pytest.mark.soak,
        ),
    ],
)
def test_neither_git_nor_the_server_takes_more_memory_than_it_may(databases, tmp_path, bomb, expected):
    with bomb() as address, git_server(databases, tmp_path / "data", {URL: address}) as server:
        (app,) = server.apps
        worker = server.worker()
        before, of_git = peak_memory(worker), 0
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(server.call, "list_files", app)
            while not call.done():
                for pid in descendants(worker):
                    with suppress(OSError, ValueError):  # it has ended
                        of_git = max(of_git, peak_memory(pid))
                time.sleep(0.01)
        # The caller may have given up before git did.
        status = call.result()[0]
        assert status in (expected, 503)
        assert server.call("list_files", app)[0] in (expected, 503)
        taken = peak_memory(worker) - before
        assert (of_git <= GIT_LIMIT, taken <= WORKER_LIMIT) == (True, True), f"git {of_git}, worker {taken} MiB more"
