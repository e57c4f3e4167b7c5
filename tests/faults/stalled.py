"""Clients that never come to an end, and what others notice of them."""

import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from tests.config.server import TOOL, Answer, request_bytes
from tests.patience import patience

COUNT = 200
DRIP = 0.1  # seconds between two bytes
PAUSE = 0.05  # seconds between two probes: clients go on stalling meanwhile
LARGE = request_bytes("/api/v1/openapi.json", method="GET", token=None, body=b"")

Kind = Callable[[int], tuple[bytes, bytes]]


def silent(number: int) -> tuple[bytes, bytes]:
    """What the client sends at once, and what it sends byte by byte."""
    return b"", b""


def dripping(number: int) -> tuple[bytes, bytes]:
    """Half of them their head, half their body."""
    whole = request_bytes(body=b"{}".ljust(1000))
    start = 20 if number % 2 else whole.index(b"{")
    return whole[:start], whole[start:]


def slow_reader(number: int) -> tuple[bytes, bytes]:
    """Asks for far more than fits into buffers, and reads none of it."""
    return LARGE * 20, b""


def connect(port: int) -> socket.socket:
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(patience())
    client.connect(("127.0.0.1", port))
    return client


@contextmanager
def stalled(port: int, kind: Kind, *, count: int = COUNT, host: str = "localhost") -> Iterator[None]:
    """Holds so many of them, for as long as the block takes."""
    with ExitStack() as stack:
        drips = []
        for number in range(count):
            client = stack.enter_context(connect(port))
            at_once, slowly = kind(number)
            client.sendall(at_once.replace(b"Host: localhost", b"Host: " + host.encode()))
            drips.append((client, iter(slowly)))
        is_over = threading.Event()
        dripper = threading.Thread(target=drip, args=(drips, is_over))
        dripper.start()
        try:
            yield
        finally:
            is_over.set()
            dripper.join()


def drip(clients: list[tuple[socket.socket, Iterator[int]]], is_over: threading.Event) -> None:
    while not is_over.wait(DRIP):
        for client, rest in clients:
            byte = next(rest, None)
            if byte is None:
                continue
            try:
                client.send(bytes([byte]))
            except OSError:
                continue  # the server has ended it


def probe(call: Callable[..., Answer], count: int = 40) -> dict[str, tuple[float, float]]:
    """The median and the worst time of so many calls each, in seconds, over two seconds or more."""
    times: dict[str, list[float]] = {TOOL: [], "/healthz": []}
    for _ in range(count):
        for target, taken in times.items():
            started = time.monotonic()
            answer = call(target=target, method="POST" if target == TOOL else "GET")
            taken.append(time.monotonic() - started)
            assert answer.status == 200
        time.sleep(PAUSE)
    return {target: (statistics.median(taken), max(taken)) for target, taken in times.items()}
