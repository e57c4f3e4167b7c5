"""A proxy that puts a token on every request, as the suite cannot send one. All else passes as it came."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from tests.patience import patience

# What a proxy says for itself (RFC 9110 §7.6.1). Host and Origin are the client's, and pass.
OWN = ("authorization", "connection", "keep-alive", "transfer-encoding")


@contextmanager
def proxy_to(server: str, token: str) -> Iterator[str]:
    """The address of a proxy to `server`."""

    class Handler(BaseHTTPRequestHandler):
        timeout = patience()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            connection = HTTPConnection(str(urlsplit(server).hostname), urlsplit(server).port, timeout=patience())
            try:
                connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    if name.lower() not in OWN:
                        connection.putheader(name, value)
                connection.putheader("Authorization", f"Bearer {token}")
                connection.endheaders(body)
                self._pass_back(connection)
            finally:
                connection.close()

        do_GET = do_DELETE = do_POST

        def _pass_back(self, connection: HTTPConnection) -> None:
            answer = connection.getresponse()
            body = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in (*OWN, "content-length"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            with suppress(ConnectionError):  # the suite hangs up on answers that it does not read
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        thread = Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{proxy.server_port}"
        finally:
            proxy.shutdown()
            thread.join()
