"""A database that is locked, full, damaged or away: 503 at every surface, in its own shape, and one line in the log."""

import json
import resource
import shutil
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.config.server import LOCAL, Answer, Server, free_port, gunicorn
from tests.faults.people import PUBLIC_URL, Person, ask, is_unavailable, prepare
from tests.patience import patience

IN_TIME = 5.0  # seconds
LAST_USES = "SELECT count(*) FROM oauthmcp_authorization WHERE last_used_at IS NULL"


@pytest.fixture(scope="module")
def data(databases: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    (folder / "static").mkdir()  # with names only, which is what pages need
    shutil.copy(databases / "organizations.sqlite3", folder / "porthole.sqlite3")
    return folder


@pytest.fixture(scope="module")
def person(data: Path) -> Person:
    return prepare(data)


@pytest.fixture(scope="module")
def server(data: Path, person: Person) -> Iterator[Server]:
    with serve(DATA_DIR=str(data)) as server:
        yield server


@contextmanager
def serve(**env: str) -> Iterator[Server]:
    with gunicorn(LOCAL | {"LOCAL_DEV_ORG": "acme", "PUBLIC_URL": PUBLIC_URL} | env) as server:
        yield server


@contextmanager
def a_long_writer(data: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(data / "porthole.sqlite3", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


@contextmanager
def a_full_disk(server: Server) -> Iterator[None]:
    """No file of the server can grow."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    limits = {int(pid): resource.prlimit(int(pid), resource.RLIMIT_FSIZE) for pid in children}
    for pid, (_, hard) in limits.items():
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        for pid, limit in limits.items():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, limit)


def ask_all(server: Server, requests: dict[str, dict[str, Any]]) -> dict[str, Answer]:
    with ThreadPoolExecutor(len(requests)) as pool:
        return dict(zip(requests, pool.map(lambda request: ask(server, request), requests.values()), strict=True))


def others(answers: dict[str, Answer]) -> dict[str, tuple[int, bytes]]:
    """What is not what it should be."""
    wrong = {name: answer for name, answer in answers.items() if not is_unavailable(name, answer)}
    return {name: (answer.status, answer.body) for name, answer in wrong.items()}


def lines_of(server: Server) -> list[dict[str, Any]]:
    """What it has logged until now."""
    server.call("/healthz", method="GET", x_request_id="the-end")
    server.line(lambda line: "the-end" in line)
    lines, server.said[:] = [line for line in server.said if line.startswith("{")], []
    return [json.loads(line) for line in lines]


@pytest.mark.soak
def test_uses_of_tokens_wait_for_no_writer_and_are_written_when_it_has_ended(
    server: Server, data: Path, person: Person
) -> None:
    calls = {token: {"target": "/api/v1/tools/get_account", "token": token} for token in person.tokens}
    started = time.monotonic()
    with a_long_writer(data) as connection:
        assert {answer.status for answer in ask_all(server, calls).values()} == {200}
        assert time.monotonic() - started < patience(IN_TIME) / 3
        connection.execute("ROLLBACK")
        deadline = time.monotonic() + patience()
        while connection.execute(LAST_USES).fetchone() != (0,):
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.soak
def test_what_must_write_waits_for_a_long_writer_in_time_and_is_unavailable(
    server: Server, data: Path, person: Person
) -> None:
    with a_long_writer(data):
        started = time.monotonic()
        answers = ask_all(server, person.writes())
        assert time.monotonic() - started < patience(IN_TIME) / 3
    assert others(answers) == {}


def test_what_must_write_to_a_full_disk_is_unavailable_and_the_rest_is_read(
    server: Server, data: Path, person: Person
) -> None:
    reads = {name: request for name, request in person.reads().items() if name != "consent"}  # a session keeps that
    writes = {name: request for name, request in person.requests().items() if name not in reads}
    before = {name: answer.status for name, answer in ask_all(server, reads).items()}
    with a_full_disk(server):
        answers = ask_all(server, writes)
        assert others(answers) == {}
        assert {name: answer.status for name, answer in ask_all(server, reads).items()} == before
    assert ask(server, writes["registration"]).status == 201


@pytest.mark.parametrize("fault", ["damaged", pytest.param("away", marks=pytest.mark.soak)])
def test_everything_is_unavailable_without_a_database_and_a_request_is_a_line(
    fault: str, data: Path, person: Person, tmp_path: Path
) -> None:
    url = f"postgresql://porthole@127.0.0.1:{free_port()}/porthole"
    if fault == "damaged":
        (tmp_path / "damaged.sqlite3").write_bytes(b"no database" * 4096)
        url = f"sqlite:///{tmp_path}/damaged.sqlite3"
    with serve(DATA_DIR=str(data), DATABASE_URL=url) as server:
        lines_of(server)
        answers = ask_all(server, person.requests())
        assert others(answers) == {}
        assert server.call("/readyz", method="GET").status == 503
        errors = [line for line in lines_of(server) if line["level"] != "info"]
        ids = [line.get("requestId") for line in errors if line["logger"] == "porthole.errors"]
        assert sorted(filter(None, ids)) == sorted(answer.headers["x-request-id"] for answer in answers.values())
        assert [line for line in errors if "exception" in line] == []
