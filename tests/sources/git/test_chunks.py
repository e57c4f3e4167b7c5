"""A file's bytes in pieces that fit into an answer."""

import re
from base64 import b64decode
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.git.chunks import MAX_ESCAPED, chunk_of, escaped_length, lines_of
from apps.web.exceptions import InvalidInput
from apps.web.render import encode
from tests.examples import examples

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=2000).map(str.encode)


def pieces(data, max_bytes):
    offset = 0
    while offset is not None:
        piece = chunk_of(data, offset, max_bytes)
        yield piece
        assert piece.next_offset is None or piece.next_offset > offset
        offset = piece.next_offset


@examples()
@given(st.one_of(st.binary(max_size=3000), texts), st.integers(4, 1100))
def test_the_pieces_together_are_the_file(data, max_bytes):
    found = list(pieces(data, max_bytes))
    assert len({piece.encoding for piece in found}) == 1
    assert all(len(piece.content.encode()) <= max_bytes for piece in found)
    decode = b64decode if found[0].encoding == "base64" else str.encode
    assert b"".join(decode(piece.content) for piece in found) == data


@examples()
@given(texts)
def test_the_escaped_length_is_what_the_renderer_writes(text):
    assert escaped_length(text) == len(encode(text.decode())) - 2


@pytest.mark.parametrize(
    "character",
    [b"\x01", b'"', "🚀\x1f".encode(), "\U000e0041".encode()],
)
def test_what_grows_as_json_is_cut_earlier(character):
    data = character * (70_000 // len(character))
    found = list(pieces(data, 65536))
    assert all(len(encode(piece.content)) - 2 <= MAX_ESCAPED for piece in found)
    assert b"".join(piece.content.encode() for piece in found) == data


def test_one_bad_byte_anywhere_makes_the_whole_file_base64():
    assert chunk_of(b"a" * 5000 + b"\xff", 0, 1024).encoding == "base64"
    assert chunk_of(b"a" * 5000 + b"\0", 0, 1024).encoding == "base64"
    assert chunk_of(b"a" * 5000, 0, 1024).encoding == "utf-8"


def test_the_end_is_an_empty_piece_and_beyond_it_is_out_of_range():
    piece = chunk_of(b"abc", 3, 1024)
    assert (piece.content, piece.next_offset) == ("", None)
    assert chunk_of(b"", 0, 1024).content == ""
    with pytest.raises(InvalidInput) as refusal:
        chunk_of(b"abc", 4, 1024)
    assert refusal.value.problems[0].as_json() == {
        "loc": ["body", "offset"], "msg": "The file has 3 bytes: offset is at most that.", "type": "out_of_range",
    }  # fmt: skip


def test_an_offset_inside_a_character_is_told_where_that_starts():
    with pytest.raises(InvalidInput) as refusal:
        chunk_of("a🚀b".encode(), 3, 1024)
    assert refusal.value.problems[0].msg == "The offset is inside a character: pass 1, where that starts."


def test_a_piece_ends_before_a_character_that_does_not_fit():
    piece = chunk_of(b"a" * 1022 + "🚀".encode(), 0, 1024)
    assert (piece.content, piece.next_offset) == ("a" * 1022, 1022)


# By lines

LINES = re.compile(rb"[^\n]*\n|[^\n]+")
lined = st.lists(st.sampled_from(["", "a", "é🚀", "x" * 30, "\r", "\x01" * 9, "\u2028"])).map("\n".join).map(str.encode)
texts_with_lines = texts.map(lambda data: data.replace(b"\0", b""))  # a file with that is no text
files_of_lines = st.one_of(lined, texts_with_lines, st.just(b""), lined.map(lambda data: data.replace(b"\n", b"\r\n")))


def walk(data, sizes):
    """All pieces of a text by lines, each with its own bounds; where a line is longer than one, its rest by offset."""
    line, offset = 1, 0
    while True:
        lines, max_bytes = next(sizes)
        piece = chunk_of(data, offset, max_bytes) if line is None else lines_of(data, line, lines, max_bytes)
        yield line, lines, piece
        line, offset = piece.next_line, piece.next_offset
        if offset is None:
            return


@examples(60)
@given(files_of_lines, st.lists(st.tuples(st.none() | st.integers(1, 5), st.integers(4, 200)), min_size=1))
def test_lines_and_offsets_give_the_same_bytes(data, sizes):
    together = b""
    for line, lines, piece in walk(data, cycle(sizes)):
        content = piece.content.encode()
        if line is not None and data:
            assert piece.start_line == line == data[: len(together)].count(b"\n") + 1
            assert lines is None or content.count(b"\n") <= lines
            assert content.endswith(b"\n") or b"\n" not in content or piece.next_offset is None
        assert piece.total_lines == len(LINES.findall(data))
        together += content
        assert (piece.next_line is not None) == (piece.next_offset is not None and content.endswith(b"\n"))
    assert together == data == b"".join(piece.content.encode() for piece in pieces(data, sizes[0][1]))


@examples(60)
@given(files_of_lines, st.integers(1, 40), st.integers(1, 40))
def test_a_line_is_the_one_that_git_counts(data, line, lines):
    expected = LINES.findall(data)
    if line > max(1, len(expected)):
        with pytest.raises(InvalidInput):
            lines_of(data, line, lines, 65536)
        return
    piece = lines_of(data, line, lines, 65536)
    assert piece.content.encode() == b"".join(expected[line - 1 : line - 1 + lines])
    assert piece.next_line == (line + lines if line + lines <= len(expected) else None)


def test_what_is_no_text_has_no_lines():
    with pytest.raises(InvalidInput) as refusal:
        lines_of(b"\xff\n", 1, None, 1024)
    assert refusal.value.problems[0].as_json()["loc"] == ["body", "startLine"]
    piece = chunk_of(b"\xff\n", 0, 1024)
    assert (piece.start_line, piece.next_line, piece.total_lines) == (None, None, None)


def test_a_line_that_alone_is_longer_leads_on_inside_it():
    piece = lines_of(b"ab\n" + b"x" * 20 + b"\ncd", 2, 1, 8)
    assert (piece.content, piece.start_line, piece.next_line, piece.next_offset) == ("x" * 8, 2, None, 11)


def test_a_file_of_line_breaks_only_is_looked_at_a_few_times():
    class Counted(bytes):
        """Counts the bytes that searches look at."""

        seen = 0

        def count(self, what, start=0, end=None):
            Counted.seen += (len(self) if end is None else end) - start
            return super().count(what, start, len(self) if end is None else end)

    data = Counted(b"\n" * 2**20)
    assert lines_of(data, 2**20 - 70_000, 60_000, 65536).start_line == 2**20 - 70_000
    assert Counted.seen <= 5 * 2**20
