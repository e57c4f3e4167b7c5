"""A web proxy on loopback (CONNECT, RFC 9110 §9.3.6), which knows the way to one server under any name."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

REFUSAL = (
    b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="proxy"\r\n'
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)


class ProxyFake:
    """It wants a user name. `asked`: targets that it was asked for; `authorizations`: what it was told of who asks."""

    def __init__(self, port: int) -> None:
        """`port` of the server on loopback that every target leads to."""
        self._port = port
        self.asked: list[str] = []
        self.authorizations: list[str] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(5)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            head = b""
            while b"\r\n\r\n" not in head and (more := client.recv(65536)):
                head += more
            lines = head.decode("latin-1").split("\r\n")
            self.asked.append(lines[0])
            told = [line for line in lines if line.lower().startswith("proxy-authorization:")]
            self.authorizations += told
            if not told:
                client.sendall(REFUSAL)
                return
            with socket.create_connection(("127.0.0.1", self._port)) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_relay, args=(server, client), daemon=True)
                back.start()
                _relay(client, server)
                back.join(10)


def _relay(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
