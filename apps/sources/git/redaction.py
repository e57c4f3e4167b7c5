"""Masks in texts, of as many bytes as what they hide, so that offsets and lines hold; and where private keys are."""

import re
from collections.abc import Iterable, Iterator

from apps.sources.git.values import Span

# RFC 7468 §10, §11 and what came before, OpenSSH's, PGP's, and the four dashes of RFC 4716's kind.
BEGIN = re.compile(rb"-----? ?BEGIN (?:[A-Z0-9][A-Z0-9 ]{0,40} )?PRIVATE KEY(?: BLOCK)? ?-----?")
END = re.compile(rb"-----? ?END (?:[A-Z0-9][A-Z0-9 ]{0,40} )?PRIVATE KEY(?: BLOCK)? ?-----?")
# Everything but line breaks. Those that are written as \\n in a string are no lines, and masked.
MASK = bytes(byte if byte in b"\r\n" else ord("X") for byte in range(256))


def private_keys_in(text: bytes) -> Iterator[Span]:
    """The inside of every private key block: from its BEGIN line to the next END line, or to the end."""
    position = 0
    while begin := BEGIN.search(text, position):
        end = END.search(text, begin.end())
        position = end.start() if end else len(text)
        yield begin.end(), position


def united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """In order, those that overlap as one."""
    together: list[Span] = []
    for start, end in sorted(spans):
        if together and start < together[-1][1]:
            together[-1] = together[-1][0], max(end, together[-1][1])
        else:
            together.append((start, end))
    return tuple(together)


def masked(text: bytes, spans: tuple[Span, ...]) -> bytes:
    """The text with each of the spans masked, which are in order and apart."""
    pieces, position = [], 0
    for start, end in spans:
        pieces += [text[position:start], text[start:end].translate(MASK)]
        position = end
    return b"".join([*pieces, text[position:]]) if spans else text
