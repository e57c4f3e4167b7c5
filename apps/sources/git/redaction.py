"""Private keys in texts: masked by as many bytes, so that offsets and lines hold."""

import re

# RFC 7468 §10, §11 and what came before, OpenSSH's, PGP's, and the four dashes of RFC 4716's kind.
BEGIN = re.compile(rb"-----? ?BEGIN (?:[A-Z0-9][A-Z0-9 ]{0,40} )?PRIVATE KEY(?: BLOCK)? ?-----?")
END = re.compile(rb"-----? ?END (?:[A-Z0-9][A-Z0-9 ]{0,40} )?PRIVATE KEY(?: BLOCK)? ?-----?")
# Everything but line breaks. Those that are written as \\n in a string are no lines, and masked.
MASK = bytes(byte if byte in b"\r\n" else ord("X") for byte in range(256))


def masked(text: bytes) -> tuple[bytes, int]:
    """The text with the inside of every private key block masked, and how many blocks there are.

    A block goes from its BEGIN line to the next END line, or to the end. Lengths and lines stay.
    """
    pieces, position, count = [], 0, 0
    while begin := BEGIN.search(text, position):
        end = END.search(text, begin.end())
        stop = end.start() if end else len(text)
        pieces += [text[position : begin.end()], text[begin.end() : stop].translate(MASK)]
        position, count = stop, count + 1
    return b"".join([*pieces, text[position:]]) if count else text, count
