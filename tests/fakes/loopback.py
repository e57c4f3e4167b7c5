"""What every fake platform is: a server of HTTP on loopback that answers whatever comes, and remembers it."""

import ssl
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]


class LoopbackFake:
    """A fake's server. `respond` says what is sent: status, body, headers."""

    def __init__(self, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self._strangers: list[Request] = []
        self._failures: dict[str, str] = {}
        self._lock, self._released = threading.Lock(), threading.Event()
        self._server = _Server(("127.0.0.1", port), type("Handler", (_Handler,), {"fake": self}))
        self._server.tls = tls
        self.port = self._server.server_port
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def respond(self, request: Request, headers: Any, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def fail(self, path: str, kind: str) -> None:
        self._failures[path] = kind

    def heal(self) -> None:
        self._failures.clear()
        self._released.set()
        self._released = threading.Event()

    def strangers(self) -> list[Request]:
        """Requests that named an id which was not listed before. Real platforms answer some of these too."""
        return list(self._strangers)


class _Handler(BaseHTTPRequestHandler):
    fake: LoopbackFake
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body that waits for its headers' acknowledgement comes 40 ms late

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        request = Request(self.command, parts.path, dict(parse_qsl(parts.query)))
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, body, headers = self.fake.respond(request, self.headers, sent)
        try:
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # whoever asked has hung up
            self.close_connection = True

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    tls: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In the connection's own thread: whoever is slow to agree on TLS holds up nobody else."""
        if self.tls is None:
            return super().finish_request(request, client_address)
        with self.tls.wrap_socket(request, server_side=True) as encrypted:
            return super().finish_request(encrypted, client_address)

    def handle_error(self, *_: object) -> None:
        pass
