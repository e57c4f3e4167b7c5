"""A file's bytes in pieces that fit into an answer."""

from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.git.chunks import MAX_ESCAPED, chunk_of, escaped_length
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
    [b"\x01", b"\n", b'"', "é\x02".encode(), "🚀\x1f".encode(), b"\x7f", "\u202e".encode(), "\U000e0041".encode()],
)
def test_what_grows_as_json_is_cut_earlier(character):
    data = character * (200_000 // len(character))
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
        "loc": ["body", "offset"], "msg": "The file has 3 bytes.", "type": "out_of_range",
    }  # fmt: skip


def test_an_offset_inside_a_character_is_told_where_that_starts():
    with pytest.raises(InvalidInput) as refusal:
        chunk_of("a🚀b".encode(), 3, 1024)
    assert refusal.value.problems[0].msg == "The offset is inside a character, which starts at 1."


def test_a_piece_ends_before_a_character_that_does_not_fit():
    piece = chunk_of(b"a" * 1022 + "🚀".encode(), 0, 1024)
    assert (piece.content, piece.next_offset) == ("a" * 1022, 1022)
