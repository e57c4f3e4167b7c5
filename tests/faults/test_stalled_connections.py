"""Clients that stall, straight at gunicorn: nobody else waits for them, and the log stays JSON."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.config.server import LOCAL, Answer, Server, gunicorn, request_bytes
from tests.faults.stalled import Kind, dripping, probe, silent, slow_reader, stalled
from tests.patience import patience

LARGE_FILE = os.urandom(4 * 1024 * 1024)
HEALTHZ = {"target": "/healthz", "method": "GET", "token": None, "body": b""}
# Every request for /hang waits in its thread until the test has written to a pipe.
HANGING = """
exec(open("config/gunicorn.conf.py").read().replace("__file__", "'config/x'"))
def post_worker_init(worker):
    worker.patience, application = PATIENCE, worker.wsgi
    def hang(environ, start_response):
        if environ["PATH_INFO"] == "/hang":
            open("FIFO").close()
        return application(environ, start_response)
    worker.wsgi = hang
PATIENCE = SECONDS
"""


@pytest.fixture(scope="module")
def env(data_dir: Path) -> dict[str, str]:
    return LOCAL | {"DATA_DIR": str(data_dir), "RATE_LIMITS": "off", "LOCAL_DEV_ORG": "acme"}


@pytest.fixture(scope="module")
def server(env: dict[str, str]) -> Iterator[Server]:
    """As it is served, with a large file. Whatever happens to it, each line of its log is JSON."""
    (Path(env["DATA_DIR"]) / "static" / "large.bin").write_bytes(LARGE_FILE)
    with gunicorn(env) as server:
        yield server
    assert [line for line in server.lines() if not is_json(line)] == []


def config(folder: Path, *, seconds: float = 10) -> tuple[str, str]:
    """gunicorn.conf.py, with /hang, and with so many seconds for a request."""
    os.mkfifo(folder / "fifo")
    file = folder / "hanging.py"
    file.write_text(HANGING.replace("FIFO", str(folder / "fifo")).replace("SECONDS", str(seconds)))
    return "-c", str(file)


def is_json(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def steady(answer: Answer) -> dict[str, str]:
    """The headers that are the same in every answer."""
    return {name: value for name, value in answer.headers.items() if name not in ("date", "x-request-id")}


@pytest.mark.soak
@pytest.mark.parametrize("kind", [silent, slow_reader, pytest.param(dripping, marks=pytest.mark.soak)])
def test_200_stalled_clients_delay_nobody_by_more_than_a_second(server: Server, kind: Kind) -> None:
    with stalled(server.port, kind):
        times = probe(server.call)
    print(kind.__name__, times)  # noqa: T201  (pytest -rP shows it)
    assert max(worst for _, worst in times.values()) < patience(1 / 3)  # a second, and more on a busy machine


@pytest.mark.soak
def test_a_client_has_one_deadline_for_its_whole_request(env: dict[str, str], tmp_path: Path) -> None:
    """Bytes that come one by one do not move it."""
    with gunicorn(env, *config(tmp_path, seconds=1)) as server, server.connect() as connection:
        with stalled(server.port, dripping, count=2), server.connect() as quiet:
            connection.send(b"POST /api/v1/tools/list_apps HTTP/1.1\r\n")
            answer = connection.answer()
            assert (answer.status, answer.headers["connection"]) == (408, "close")
            assert connection.is_closed()
            assert quiet.is_closed()  # it was told nothing: it had asked nothing


def test_liveness_is_answered_while_every_thread_hangs(env: dict[str, str], tmp_path: Path) -> None:
    with gunicorn(env, *config(tmp_path)) as server:
        usual = server.call(**HEALTHZ)
        with ExitStack() as stack:
            for _ in range(6):  # more than there are threads
                connection = stack.enter_context(server.connect())
                connection.send(request_bytes("/hang", method="GET", token=None, body=b""))
            for method in ("GET", "HEAD", "GET"):
                answer = server.call(**HEALTHZ | {"method": method}, host="load.balancer", x_request_id="still-alive")
                assert (answer.status, answer.headers["x-request-id"]) == (200, "still-alive")
                assert steady(answer) == steady(usual)
                assert answer.body == (usual.body if method == "GET" else b"")
                said = json.loads(server.line(lambda line: "still-alive" in line))
                assert (said["logger"], said["method"], said["path"]) == ("porthole.access", method, "/healthz")
            with (tmp_path / "fifo").open("w"), server.connect() as waiting:  # whoever opened it goes on
                waiting.send(request_bytes())
                assert waiting.answer().status == 200


@pytest.mark.soak
def test_who_waits_longest_goes_when_there_are_too_many(env: dict[str, str]) -> None:
    with gunicorn(env, "--worker-connections", "50") as server:
        with server.connect() as first, stalled(server.port, silent, count=200):
            assert server.call().status == 200
            assert first.is_closed()


@pytest.mark.parametrize("size", [1, 7])
def test_a_request_may_come_in_pieces_of_any_size(server: Server, size: int) -> None:
    """Also what is sent in chunks, and what follows in the same breath."""
    chunks = b"1;x\r\n{\r\n1\r\n}\r\n0\r\nA: b\r\n\r\n"
    both = request_bytes(content_length=None, transfer_encoding="chunked", body=chunks) + request_bytes()
    with server.connect() as connection:
        for start in range(0, len(both), size):
            connection.send(both[start : start + size])
        assert [connection.answer().status for _ in range(2)] == [411, 200]


def test_a_client_that_expects_100_gets_it_before_its_body_or_a_refusal(server: Server) -> None:
    with server.connect() as connection:
        connection.send(request_bytes(body=b"", content_length="2", expect="100-continue"))
        assert connection.answer().status == 100
        connection.send(b"{}")
        assert connection.answer().status == 200
    with server.connect() as connection:
        connection.send(request_bytes(body=b"", content_length="2000000", expect="100-continue"))
        assert connection.answer().status == 413


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /healthz HTTP/1.1\nHost: a\n", 400),
        (b"GET /" + b"a" * 9000, 414),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000, 431),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\ncontent-length: 8\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_head_that_can_never_be_right_is_refused_before_its_deadline(
    server: Server, head: bytes, status: int
) -> None:
    with server.connect() as connection:
        connection.send(head)
        assert connection.answer().status == status


@pytest.mark.soak
def test_a_slow_reader_gets_all_of_a_large_file(server: Server) -> None:
    """The loop sends it, after the thread has gone on to others."""
    with server.connect() as connection:
        ask = request_bytes("/static/large.bin", method="GET", token=None, body=b"")
        connection.send(ask + request_bytes())
        assert all(server.call().status == 200 for _ in range(20))
        assert connection.answer().body == LARGE_FILE
        assert connection.answer().status == 200
