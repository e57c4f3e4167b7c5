"""A file's bytes in pieces that fit into an answer."""

from base64 import b64encode
from bisect import bisect_right
from dataclasses import dataclass

from apps.web.characters import json_growth
from apps.web.exceptions import InvalidInput

# What a piece may come to as JSON. The answer, with the file's path and shas, stays under 128 KiB.
MAX_ESCAPED = 120 * 1024
TWO_BYTES = b'"\\\b\f\n\r\t'
SIX_BYTES = bytes(set(range(0x20)) - set(TWO_BYTES))


@dataclass(frozen=True, slots=True)
class Chunk:
    encoding: str
    content: str
    next_offset: int | None


def chunk_of(data: bytes, offset: int, max_bytes: int) -> Chunk:
    """The piece of `data` from `offset` (bytes) whose content is at most `max_bytes` long, encoded.

    The encoding is that of the whole, so it is the same for every piece. `max_bytes` is at least 4: one character.
    Raises InvalidInput (out_of_range).
    """
    if offset > len(data):
        raise _out_of_range(f"The file has {len(data)} bytes.")
    if not is_text(data):
        end = min(len(data), offset + max_bytes // 4 * 3)
        return Chunk("base64", b64encode(data[offset:end]).decode("ascii"), _next(data, end))
    if _is_inside_a_character(data, offset):
        start = _boundary(data, offset)
        raise _out_of_range(f"The offset is inside a character, which starts at {start}.")
    window = data[offset : offset + max_bytes]
    end = _boundary(data, offset + _fitting(window))
    return Chunk("utf-8", data[offset:end].decode("utf-8"), _next(data, end))


def escaped_length(text: bytes) -> int:
    """How long UTF-8 text is inside a JSON string."""
    two = len(text) - len(text.translate(None, TWO_BYTES))
    six = len(text) - len(text.translate(None, SIX_BYTES))
    return len(text) + two + 5 * six + json_growth(text)


def _fitting(window: bytes) -> int:
    """How many bytes of the window fit into MAX_ESCAPED."""
    if escaped_length(window) <= MAX_ESCAPED:
        return len(window)
    return bisect_right(range(len(window) + 1), MAX_ESCAPED, key=lambda end: escaped_length(window[:end])) - 1


def is_text(data: bytes) -> bool:
    if b"\0" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_inside_a_character(data: bytes, offset: int) -> bool:
    return offset < len(data) and data[offset] & 0xC0 == 0x80


def _boundary(data: bytes, offset: int) -> int:
    """The nearest place at or before `offset` where a character starts."""
    while _is_inside_a_character(data, offset):
        offset -= 1
    return offset


def _next(data: bytes, end: int) -> int | None:
    return end if end < len(data) else None


def _out_of_range(sentence: str) -> InvalidInput:
    return InvalidInput.because("offset", sentence, "out_of_range")
