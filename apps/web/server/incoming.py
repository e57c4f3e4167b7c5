"""What a client has sent so far, and whether a whole request is there. gunicorn's parser has the last word on both."""

import re

from apps.web.body import MAX_BODY

MAX_LINE = 8 * 1024 + 2  # of the request: beyond it gunicorn.conf.py's limit_request_line refuses
MAX_HEAD = 64 * 1024
MAX_CHUNKED_BODY = 2 * MAX_BODY  # with what frames the chunks
# The parser refuses a line that ends with LF alone, so nothing more needs to be waited for.
END_OF_HEAD = re.compile(rb"\r\n\r\n|(?<!\r)\n")
FRAMING = re.compile(rb"\n(content-length|transfer-encoding|expect)[ \t]*:[ \t]*([^\r\n]*?)[ \t]*(?=\r)", re.IGNORECASE)
LENGTH = re.compile(rb"[0-9]{1,18}")
CHUNK_SIZE = re.compile(rb"[0-9a-fA-F]{1,8}(?=[ \t;]|\Z)")


class Incoming:
    """One request. Call `is_complete` after each `feed`: nothing is looked at twice."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = bytearray(data)
        self.is_too_long = False  # the head: it never gets to the parser
        self.is_cut = False  # the body is longer than anybody reads: the rest stays on the socket
        self.expects_continue = False
        self._searched = 0
        self._head_length = 0
        self._length: int | None = None  # of head and body, where that is known; else they are chunks
        self._next_chunk = 0

    def feed(self, data: bytes) -> None:
        self.data += data

    def is_complete(self) -> bool:
        """Whether the parser needs no more bytes, be it to refuse what has come."""
        if not self._head_length and not self._read_head():
            return False
        if self._length is None:
            return self._has_all_chunks()
        return self.is_cut or len(self.data) >= self._length

    def _read_head(self) -> bool:
        end = END_OF_HEAD.search(self.data, self._searched)
        if end is None:
            self._searched = max(0, len(self.data) - 3)
            self.is_too_long = len(self.data) > MAX_HEAD
            if len(self.data) <= MAX_LINE or b"\n" in self.data[: MAX_LINE + 1]:
                return False
        self._head_length = end.end() if end else len(self.data)
        self._read_framing()
        return True

    def _read_framing(self) -> None:
        fields: dict[bytes, list[bytes]] = {}
        for name, value in FRAMING.findall(self.data, 0, self._head_length):
            fields.setdefault(name.lower(), []).append(value)
        lengths, codings = fields.get(b"content-length", []), fields.get(b"transfer-encoding", [])
        self.expects_continue = [value.lower() for value in fields.get(b"expect", [])] == [b"100-continue"]
        self._next_chunk = self._length = self._head_length
        if codings and not lengths and codings[0].lower() == b"chunked":
            self._length = None
        elif len(lengths) == 1 and not codings and LENGTH.fullmatch(lengths[0]):
            self._length += int(lengths[0])
            self.is_cut = int(lengths[0]) > MAX_BODY

    def _has_all_chunks(self) -> bool:
        while (end := self.data.find(b"\r\n", self._next_chunk)) >= 0:
            size = CHUNK_SIZE.match(self.data, self._next_chunk, end)
            if size is None:
                return True
            if not int(size[0], 16):
                if self.data.find(b"\r\n\r\n", end) >= 0:  # after it, or after the trailers
                    return True
                break
            self._next_chunk = end + 2 + int(size[0], 16) + 2
        self.is_cut = max(len(self.data), self._next_chunk) - self._head_length > MAX_CHUNKED_BODY
        return self.is_cut
