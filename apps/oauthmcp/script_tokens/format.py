"""What a token for scripts looks like: a prefix, 256 random bits, and a checksum, so that scanners know a real one."""

import re
import secrets
import string
import zlib

PREFIX = "porthole_st_"
# No signs: a double click marks all of it, and no shell takes it for an option.
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM = 43  # characters: 62^43 is more than 2^256
CHECKSUM = 6  # characters: 62^6 is more than 2^32
PATTERN = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{RANDOM + CHECKSUM}}}")


def new_script_token() -> str:
    body = PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))
    return body + checksum_of(body)


def is_script_token(text: str) -> bool:
    """Whether it could have been issued. Tells nothing of whether it was."""
    return bool(PATTERN.fullmatch(text)) and checksum_of(text[:-CHECKSUM]) == text[-CHECKSUM:]


def checksum_of(body: str) -> str:
    """CRC-32 (ISO 3309, as in zlib) of prefix and random part, in base 62: six digits, the highest first."""
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(CHECKSUM):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
