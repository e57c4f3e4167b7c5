"""The load: connections that each send their next request as soon as they have read the answer to the one before.

    python -m benchmarks.load

A process of its own, on a core of its own. Each line of its input is a job as JSON: {port, request, seconds,
connections}, the request as base64. Each line of its output is what came of one: answers, seconds, latencies in
milliseconds, its own CPU seconds, and how many answers were no 200.
"""

import base64
import json
import selectors
import socket
import sys
import time
from typing import Any

READ = 256 * 1024
LENGTH = b"content-length:"
PATIENCE = 30.0  # seconds without any answer


class Client:
    """One connection: sends, reads one answer by its Content-Length, and sends again."""

    def __init__(self, port: int, request: bytes) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request, self.latencies, self.failures = request, list[float](), 0
        self.buffer, self.wanted, self.began = b"", 0, 0.0

    def send(self) -> None:
        self.buffer, self.wanted = b"", 0
        self.began = time.perf_counter()
        self.socket.sendall(self.request)

    def read(self) -> bool:
        """Whether an answer has come to its end."""
        chunk = self.socket.recv(READ)
        if not chunk:
            raise ConnectionError("The server has closed a connection that was to be kept.")
        self.buffer += chunk
        if not self.wanted:
            self.wanted = total_length(self.buffer)
        if not self.wanted or len(self.buffer) < self.wanted:
            return False
        self.latencies.append(time.perf_counter() - self.began)
        self.failures += not self.buffer.startswith(b"HTTP/1.1 200")
        return True

    def finish(self) -> None:
        """Waits for the answer that is on its way: a server that is left alone with one writes of it in its log."""
        while not self.read():
            pass
        self.socket.close()


def total_length(buffer: bytes) -> int:
    """Bytes of the whole answer; 0 until its head has come."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return 0
    head = buffer[:end].lower()
    start = head.find(LENGTH)
    if start < 0:
        raise ValueError("An answer without Content-Length: " + head.decode("latin-1"))
    return end + 4 + int(head[start + len(LENGTH) :].partition(b"\r\n")[0])


def run(port: int, request: bytes, seconds: float, connections: int) -> dict[str, Any]:
    clients = [Client(port, request) for _ in range(connections)]
    selector = selectors.DefaultSelector()
    cpu, began = time.process_time(), time.perf_counter()
    for client in clients:
        selector.register(client.socket, selectors.EVENT_READ, client)
        client.send()
    _until(began + seconds, selector)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    latencies = sorted(latency * 1000 for client in clients for latency in client.latencies)
    for client in clients:
        client.finish()
    selector.close()
    return {
        "answers": len(latencies), "seconds": took, "latencies": latencies, "cpu": cpu,
        "failures": sum(client.failures for client in clients),
    }  # fmt: skip


def _until(end: float, selector: selectors.BaseSelector) -> None:
    while time.perf_counter() < end:
        ready = selector.select(PATIENCE)
        if not ready:
            raise TimeoutError("The server does not answer.")
        for key, _ in ready:
            if key.data.read():
                key.data.send()


def main() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(run(**job | {"request": base64.b64decode(job["request"])})), flush=True)


if __name__ == "__main__":
    main()
