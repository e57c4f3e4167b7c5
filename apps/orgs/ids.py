"""Opaque ids: a prefix that tells what they name, and 26 lowercase Crockford base-32 characters."""

import hashlib
import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
BODY_LENGTH = 26
MAX_LENGTH = 4 + BODY_LENGTH
PATTERN = "[0-9a-hjkmnp-tv-z]{26}"  # without the prefix


def random_id(prefix: str) -> str:
    """A new id, such as `org_01jc3…`, from 130 random bits."""
    return f"{prefix}_{_encode(secrets.randbits(130))}"


def derived_id(prefix: str, *parts: str) -> str:
    """The id that always belongs to `parts`, such as an organization's id, a source's kind and a key.

    The same parts give the same id on every installation, so syncs never need to look an id up, and an entry
    that disappears and comes back keeps its id. Parts are joined with NUL, which no part may hold.
    """
    digest = hashlib.sha256("\0".join((prefix, *parts)).encode()).digest()
    return f"{prefix}_{_encode(int.from_bytes(digest[:17], 'big') >> 6)}"  # 136 bits, of which 130 are kept


def _encode(number: int) -> str:
    characters = []
    for _ in range(BODY_LENGTH):
        number, remainder = divmod(number, 32)
        characters.append(ALPHABET[remainder])
    return "".join(reversed(characters))
