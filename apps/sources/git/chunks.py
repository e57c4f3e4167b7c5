"""A file's bytes in pieces that fit into an answer."""

from base64 import b64encode
from bisect import bisect_right
from dataclasses import dataclass

from apps.sources.git.lines import behind_breaks, line_count
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
    start_line: int | None = None
    next_line: int | None = None
    total_lines: int | None = None


def chunk_of(data: bytes, offset: int, max_bytes: int) -> Chunk:
    """The piece of `data` from `offset` (bytes) whose content is at most `max_bytes` long, encoded.

    The encoding is that of the whole, so it is the same for every piece. `max_bytes` is at least 4: one character.
    Raises InvalidInput (out_of_range).
    """
    if offset > len(data):
        raise _out_of_range("offset", f"The file has {len(data)} bytes: offset is at most that.")
    if not is_text(data):
        end = min(len(data), offset + max_bytes // 4 * 3)
        return Chunk("base64", b64encode(data[offset:end]).decode("ascii"), _next(data, end))
    if _is_inside_a_character(data, offset):
        start = _boundary(data, offset)
        raise _out_of_range("offset", f"The offset is inside a character: pass {start}, where that starts.")
    return _text(data, offset, _end(data, offset, max_bytes))


def lines_of(data: bytes, start_line: int, lines: int | None, max_bytes: int) -> Chunk:
    """The piece of `data` from the line `start_line` (from 1) on: at most `lines` of them, and `max_bytes` of content.

    It ends where a line ends, unless one line alone is longer. Only text has lines. Raises InvalidInput (out_of_range).
    """
    if not is_text(data):
        raise _out_of_range("startLine", "This file is no text, so it has no lines: read it by offset.")
    start = behind_breaks(data, start_line - 1, 0, len(data))
    if start is None or start == len(data) > 0:
        raise _out_of_range(
            "startLine", f"The file's last line is {max(1, line_count(data))}: startLine is at most that."
        )
    end = _end(data, start, max_bytes)
    if lines is not None:
        end = behind_breaks(data, lines, start, end) or end
    if end < len(data):
        end = data.rfind(b"\n", start, end) + 1 or end
    return _text(data, start, end)


def _text(data: bytes, start: int, end: int) -> Chunk:
    """With the lines that it begins in and is followed by: the latter only where a line starts there."""
    before, inside = data.count(b"\n", 0, start), data.count(b"\n", start, end)
    is_followed = end < len(data) and data[end - 1 : end] == b"\n"
    return Chunk(
        "utf-8",
        data[start:end].decode("utf-8"),
        _next(data, end),
        start_line=before + 1 if start < len(data) else None,
        next_line=before + inside + 1 if is_followed else None,
        total_lines=line_count(data),
    )


def _end(data: bytes, start: int, max_bytes: int) -> int:
    """Where a piece that begins at `start` must end at the latest: before a character."""
    return _boundary(data, start + _fitting(data[start : start + max_bytes]))


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


def is_binary(data: bytes) -> bool:
    """As git has it: whatever encoding the rest is in, text has no NUL."""
    return b"\0" in data


def is_text(data: bytes) -> bool:
    """Whether it can be answered as text: in UTF-8."""
    if is_binary(data):
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


def _out_of_range(field: str, sentence: str) -> InvalidInput:
    return InvalidInput.because(field, sentence, "out_of_range")
