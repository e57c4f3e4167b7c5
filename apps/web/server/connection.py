"""One client: its socket, what it has sent, what it is yet to be sent, and until when it may wait."""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from gunicorn.http.parser import RequestParser

from apps.web.server.incoming import Incoming
from apps.web.server.outbox import Outbox

LIVENESS = (b"GET /healthz ", b"HEAD /healthz ", b"GET /healthz?", b"HEAD /healthz?")


class Connection:
    """`sock`, `client` and `server` are what gunicorn calls them: where it writes, the peer's address, our own."""

    def __init__(self, connected: socket.socket, client: Any, server: Any) -> None:
        connected.setblocking(False)
        self.socket = connected
        self.sock = Outbox(connected)
        self.client, self.server = client, server
        self.incoming = Incoming()
        self.has_ended = False  # the client sends nothing more
        self.is_used = False  # it has been answered once
        self.deadline = 0.0

    @property
    def is_silent(self) -> bool:
        return not self.incoming.data

    @property
    def asks_for_liveness(self) -> bool:
        return self.incoming.data.startswith(LIVENESS)

    @property
    def must_close(self) -> bool:
        """Whether there can be no other request after the one that has come."""
        return self.has_ended or self.incoming.is_cut

    def may_wait(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds

    def parser(self, cfg: Any) -> RequestParser:
        """Reads what has come, and then finds the end."""
        return RequestParser(cfg, self._source(), self.client)

    def _source(self) -> Iterator[bytes]:
        yield bytes(self.incoming.data)
        if self.incoming.is_cut:
            raise OSError("The body is longer than what is read.")

    def say(self, content: bytes) -> None:
        """Sends a few bytes, or not: whoever has gone is noticed elsewhere."""
        self.sock.sendall(content)
        with suppress(OSError):
            self.sock.flush()

    def end_sending(self) -> bool:
        """Whether there was still somebody to tell."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            return False
        return True

    def close(self) -> None:
        self.sock.close()
        self.socket.close()
