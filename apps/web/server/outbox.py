"""What a client is yet to be sent. Stands for its socket where gunicorn writes an answer, and never waits."""

import errno
import os
import socket
from collections import deque
from typing import Any, BinaryIO, NoReturn

FULL = 64 * 1024  # bytes that are worth a system call before the answer is whole
MAX_PIECE = 1024 * 1024


class FilePiece:
    """A part of an open file, which may be closed meanwhile. Costs no memory."""

    def __init__(self, file: BinaryIO, offset: int, count: int) -> None:
        self._descriptor = os.dup(file.fileno())
        self._offset, self._count = offset, count

    def send(self, to: socket.socket) -> bool:
        """Whether it has been sent whole."""
        sent = os.sendfile(to.fileno(), self._descriptor, self._offset, min(self._count, MAX_PIECE))
        if not sent:
            raise OSError("A file became shorter while it was sent.")
        self._offset += sent
        self._count -= sent
        return not self._count

    def close(self) -> None:
        os.close(self._descriptor)


class Outbox:
    def __init__(self, to: socket.socket) -> None:
        self._socket = to
        self._pieces: deque[bytearray | FilePiece] = deque()

    @property
    def memory(self) -> int:
        """Bytes that are held."""
        return sum(len(piece) for piece in self._pieces if isinstance(piece, bytearray))

    def sendall(self, data: bytes) -> None:
        if not (self._pieces and isinstance(self._pieces[-1], bytearray)):
            self._pieces.append(bytearray())
        piece = self._pieces[-1]
        assert isinstance(piece, bytearray)  # noqa: S101  (for mypy: see above)
        piece += data
        if len(piece) >= FULL:
            self.flush()

    def sendfile(self, file: BinaryIO, offset: int = 0, count: int = 0) -> None:
        self._pieces.append(FilePiece(file, offset, count))

    def gettimeout(self) -> float:
        """What gunicorn asks before it writes a refusal."""
        return 0.0

    def shutdown(self, how: int) -> NoReturn:
        """What gunicorn does where an answer breaks off: what is left of it is dropped, and the loop closes."""
        raise OSError(errno.ENOTCONN, "The answer broke off.")

    def flush(self) -> bool:
        """Whether everything is sent; the socket takes no more now otherwise. Raises OSError when it is gone."""
        while self._pieces:
            try:
                is_sent = self._send(self._pieces[0])
            except BlockingIOError:
                return False
            if is_sent:
                self._forget(self._pieces.popleft())
        return True

    def close(self) -> None:
        while self._pieces:
            self._forget(self._pieces.popleft())

    def _send(self, piece: bytearray | FilePiece) -> bool:
        if isinstance(piece, FilePiece):
            return piece.send(self._socket)
        del piece[: self._socket.send(piece)]
        return not piece

    def _forget(self, piece: Any) -> None:
        if isinstance(piece, FilePiece):
            piece.close()
