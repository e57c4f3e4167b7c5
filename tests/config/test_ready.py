"""The image's health check, against a server that is ready, one that is not, and none."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from config import ready


class Readyz(BaseHTTPRequestHandler):
    status, said = 200, b"ok\n"

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/readyz" else 404)
        self.end_headers()
        self.wfile.write(self.said)

    def log_message(self, *args: object) -> None: ...


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Readyz]]:
    handler = type("Handler", (Readyz,), {})
    with HTTPServer(("127.0.0.1", 0), handler) as served:
        monkeypatch.setenv("PORT", str(served.server_address[1]))
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield handler
        served.shutdown()
        thread.join()


def test_a_server_that_is_ready_is_healthy(server: type[Readyz], capsys: pytest.CaptureFixture[str]) -> None:
    ready.main()
    assert capsys.readouterr().out == "ok\n"


def test_a_server_that_is_not_ready_says_why(server: type[Readyz]) -> None:
    server.status, server.said = 503, b"the database does not answer\n"
    with pytest.raises(SystemExit, match=r"\Athe database does not answer\Z"):
        ready.main()


@pytest.mark.usefixtures("server")
def test_nothing_that_answers_is_not_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "1")  # nobody's: it takes root, and nothing of ours listens there
    with pytest.raises(SystemExit, match=r"\Ano answer: "):
        ready.main()
