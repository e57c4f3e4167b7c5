"""Tells a value that slipped in where a name belongs from a name."""

import re

# How well-known access tokens start.
TOKEN = re.compile(
    r"gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[a-z]-[A-Za-z0-9-]{10,}"
    r"|[spr]k[-_](?:live|test|proj|ant)[-_][A-Za-z0-9_-]{10,}|AKIA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}"
    r"|dop_v1_[0-9a-f]{20,}|npm_[A-Za-z0-9]{30,}|eyJ[A-Za-z0-9_-]{10,}"
)
LONG = 20


def looks_like_a_value(name: str) -> bool:
    """Whether `name`, which has the form of a name, is more likely base64, hex or a token.

    Long words without an underscore that mix upper and lower case, or that hold three digits or more, are no
    names that people choose. Property names with dots are judged word by word.
    """
    return bool(TOKEN.match(name)) or any(_is_random(word) for word in name.split("."))


def _is_random(word: str) -> bool:
    if len(word) < LONG or "_" in word:
        return False
    mixed = word != word.lower() and word != word.upper()
    return mixed or sum(character.isdigit() for character in word) >= 3
