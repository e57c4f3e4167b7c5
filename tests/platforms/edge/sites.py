"""Sites on loopback that answer well, badly, slowly or not at all."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

Behaviour = Callable[[socket.socket, Event], None]


@contextmanager
def site(behaviour: Behaviour, context: ssl.SSLContext | None = None, backlog: int = 512) -> Iterator[int]:
    """The port of a server, each connection of which gets `behaviour`. The event tells that the test has ended."""
    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as listening:
        over, threads = Event(), []

        def serve(connection: socket.socket) -> None:
            with suppress(OSError), connection:
                connection.settimeout(10)
                if context is not None:
                    connection = context.wrap_socket(connection, server_side=True)
                with connection:
                    behaviour(connection, over)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    threads.append(Thread(target=serve, args=(connection,), daemon=True))
                    threads[-1].start()

        acceptor = Thread(target=accept, daemon=True)
        acceptor.start()
        try:
            yield listening.getsockname()[1]
        finally:
            over.set()
            listening.shutdown(socket.SHUT_RDWR)
            acceptor.join(5)
            for thread in threads:
                thread.join(5)


def request_of(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data and (more := connection.recv(65536)):
        data += more
    return data


def answering(answer: bytes, asked: list[bytes] | None = None) -> Behaviour:
    def behave(connection: socket.socket, over: Event) -> None:
        request = request_of(connection)
        if asked is not None:
            asked.append(request)
        connection.sendall(answer)

    return behave


def status(code: int, headers: str = "", body: bytes = b"hello") -> bytes:
    return f"HTTP/1.1 {code} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{headers}\r\n".encode() + body


def silent(connection: socket.socket, over: Event) -> None:
    over.wait(10)


def reading_then_silent(connection: socket.socket, over: Event) -> None:
    request_of(connection)
    over.wait(10)


def hanging_up(connection: socket.socket, over: Event) -> None:
    request_of(connection)


def endless(sent: list[int]) -> Behaviour:
    """A body without an end; `sent` counts its bytes."""

    def behave(connection: socket.socket, over: Event) -> None:
        request_of(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while not over.is_set():
            sent.append(connection.send(b"x" * 8192))

    return behave


def endless_headers(connection: socket.socket, over: Event) -> None:
    request_of(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not over.is_set():
        connection.sendall(b"X-More: " + b"x" * 8000 + b"\r\n")
