"""A repository's host that takes connections and says nothing, and callers who make refs up: nobody else waits."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from tests.faults.git_servers import GitServer, git_server, silent_host
from tests.patience import patience
from tests.sources.git.origins import Origin

SILENT = [f"https://silent.example/{number}.git" for number in range(4)]
SPEAKING = "https://speaking.example/shop.git"

pytestmark = [pytest.mark.process, pytest.mark.soak]


@pytest.fixture
def speaking(tmp_path):
    origin = Origin(tmp_path / "origin")
    origin.commit({"a": "1"})
    return origin


def slowest_probe(server: GitServer, until) -> float:
    """The longest that /healthz took, asked again and again until `until()`."""
    slowest = 0.0
    while not until():
        started = time.monotonic()
        assert server.server.call("/healthz", method="GET").status == 200
        slowest = max(slowest, time.monotonic() - started)
        time.sleep(0.05)
    return slowest


def test_sixteen_callers_of_a_silent_host_hold_up_nobody(databases, tmp_path, speaking):
    with silent_host() as port:
        remotes = dict.fromkeys(SILENT, f"http://127.0.0.1:{port}/a.git") | {SPEAKING: f"file://{speaking.folder}"}
        with git_server(databases, tmp_path / "data", remotes) as server, ThreadPoolExecutor(16) as pool:
            *silent, _ = server.apps
            calls = [pool.submit(server.call, "list_files", silent[number % 4]) for number in range(16)]
            slowest = slowest_probe(server, lambda: all(call.done() for call in calls))
            for call in calls:
                status, answer, headers = call.result()
                assert (status, answer["code"]) == (503, "unavailable")
                assert 1 <= int(headers["retry-after"]) <= 60
            assert slowest < patience(0.5)
            # It is remembered, for every repository of that host, and for no other host.
            started = time.monotonic()
            assert [server.call("list_files", app)[0] for app in silent] == [503] * 4
            assert time.monotonic() - started < patience(0.5)


def test_refs_that_are_made_up_are_fetched_only_so_often(databases, tmp_path, speaking):
    with git_server(databases, tmp_path / "data", {SPEAKING: f"file://{speaking.folder}"}) as server:
        (shop,) = server.apps
        assert server.call("list_files", shop)[0] == 200
        answers = [server.call("list_files", shop, ref=f"made-up-{number}") for number in range(12)]
        statuses = [status for status, _, _ in answers]
        assert statuses[:6] == [422] * 6
        assert 503 in statuses
        assert all(int(headers["retry-after"]) <= 10 for status, _, headers in answers if status == 503)
        assert server.call("list_files", shop)[0] == 200


def test_a_server_without_git_starts_and_says_so_once(databases, tmp_path):
    (tmp_path / "bin").mkdir()
    remotes = dict.fromkeys(SILENT, "file:///a")
    with git_server(databases, tmp_path / "data", remotes, PATH=str(tmp_path / "bin")) as server:
        for app in server.apps:
            status, answer, headers = server.call("list_files", app)
            assert (status, answer["code"], headers["retry-after"]) == (503, "unavailable", "10")
        told = ended(server)
    assert len([line for line in told if "There is no git on PATH" in line]) == 1
    assert not [line for line in told if "was not fetched" in line or "Traceback" in line]


def ended(server: GitServer) -> list[str]:
    """Everything the server said, once it has ended."""
    server.server.process.terminate()
    with suppress(AssertionError):  # the end of what it says
        server.server.line(lambda line: False)
    return server.server.said
