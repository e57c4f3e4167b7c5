"""A git host over TLS on loopback: `git http-backend` behind a web server that wants credentials, and behaves badly.

with GitRemote(tmp_path, authority) as remote:
    remote.origin("acme/shop")          # a bare repository (tests.sources.git.origins.Origin) at this name
    remote.url                          # https://localhost:port
    remote.authorization                # what it takes, or tells what it takes; None: anybody
    remote.behaviour["acme/shop"] = hang | stream | redirect("https://…") | …
    remote.sent                         # (path, Authorization) of every request
"""

import os
import subprocess
import threading
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from ssl import SSLContext
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.sources.git.origins import Origin

Behaviour = Callable[["Handler"], None]


class GitRemote:
    def __init__(self, folder: Path, context: SSLContext, *, api: str | None = None) -> None:
        """`api`: where a fake of the host's API answers; what is below /api/ is passed on to it."""
        self.folder, self.api = folder, api
        self.authorization: str | Callable[[], set[str]] | None = None
        self.behaviour: dict[str, Behaviour] = {}
        self.sent: list[tuple[str, str | None]] = []
        self.over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.remote = self
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"https://localhost:{self._server.server_port}"

    def takes(self, authorization: str | None) -> bool:
        wanted = self.authorization
        return wanted is None or authorization in (wanted() if callable(wanted) else {wanted})

    def origin(self, name: str) -> Origin:
        folder = self.folder / f"{name}.git"
        folder.mkdir(parents=True)
        return Origin(folder)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    remote: GitRemote

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up, or do not believe its certificate, are what is tested."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    server: _Server

    def do_GET(self) -> None:
        remote = self.server.remote
        remote.sent.append((self.path, self.headers["Authorization"]))
        if remote.api and self.path.startswith("/api/"):
            return self._pass_on(remote.api)
        name = urlsplit(self.path).path.partition(".git/")[0].strip("/")
        if behave := remote.behaviour.get(name):
            return behave(self)
        if not remote.takes(self.headers["Authorization"]):
            return self.answer(401, {"WWW-Authenticate": 'Basic realm="git"'})
        return self._git()

    do_POST = do_GET

    def log_message(self, *arguments: object) -> None:
        """Nothing."""

    def answer(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _git(self) -> None:
        """CGI, RFC 3875."""
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        env = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.server.remote.folder), "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": parts.path, "QUERY_STRING": parts.query, "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers["Content-Type"] or "", "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
            "GIT_PROTOCOL": self.headers["Git-Protocol"] or "", "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*", "REMOTE_ADDR": "127.0.0.1",
        }  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        status = int(headers.pop("Status", "200").split()[0])
        self.answer(status, headers, content)

    def _pass_on(self, api: str) -> None:
        """As a web server does that both answer behind: the API tells this server's own address."""
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        connection = HTTPConnection(urlsplit(api).netloc, timeout=10)
        with closing(connection):
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            content = answer.read()
        told = {name: value.replace(api, self.server.remote.url) for name, value in answer.getheaders()}
        self.answer(answer.status, told | {"Content-Length": str(len(content))}, content)


def hang(handler: Handler) -> None:
    """Takes the request, and says nothing."""
    handler.server.remote.over.wait(120)


def stream(handler: Handler) -> None:
    """Answers without end."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
    handler.end_headers()
    handler.wfile.write(b"001e# service=git-upload-pack\n0000")
    while not handler.server.remote.over.is_set():
        handler.wfile.write(b"003f" + b"0" * 40 + b" refs/heads/x0123456789\n" * 200)


def redirect(location: str) -> Behaviour:
    return lambda handler: handler.answer(302, {"Location": location})
