"""What every fake platform is: a server of HTTP on loopback that answers whatever comes, and remembers it."""

import ssl
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    at: float = field(default_factory=time.monotonic, compare=False)


class SlidingMinute:
    """So many calls in any minute, and no more. `limit`: None for no limit; `most`: that there were in one so far."""

    def __init__(self) -> None:
        self.limit: int | None = None
        self.reset()

    def reset(self) -> None:
        self.most = self.refused = 0
        self._accepted: deque[float] = deque()

    def refuses_for(self) -> float:
        """Seconds until another call is accepted. 0: this one is."""
        now = time.monotonic()
        while self._accepted and self._accepted[0] <= now - 60:
            self._accepted.popleft()
        if self.limit is not None and len(self._accepted) >= self.limit:
            self.refused += 1
            return self._accepted[0] + 60 - now
        self._accepted.append(now)
        self.most = max(self.most, len(self._accepted))
        return 0.0


class LoopbackFake:
    """A fake's server. `respond` says what is sent: status, body, headers; `delay`: after so many seconds."""

    def __init__(self, port: int = 0, delay: float = 0, tls: ssl.SSLContext | None = None) -> None:
        self.delay = delay
        self.minute = SlidingMinute()
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
        if self.fake.delay:
            time.sleep(self.fake.delay)
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
    request_queue_size = 128  # with 5, of many probes at once most knock again a second later
    tls: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In the connection's own thread: whoever is slow to agree on TLS holds up nobody else."""
        if self.tls is None:
            return super().finish_request(request, client_address)
        with self.tls.wrap_socket(request, server_side=True) as encrypted:
            return super().finish_request(encrypted, client_address)

    def handle_error(self, *_: object) -> None:
        pass
