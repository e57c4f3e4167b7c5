"""How names are folded, so that order and search are the same on both databases."""

import unicodedata


def fold(text: str) -> str:
    """NFC and case-folded: what names are sorted by (code point order) and searched in."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
