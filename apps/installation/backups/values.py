r"""Values as backups hold them: PostgreSQL's text of them, and what SQLite has instead.

PostgreSQL writes and reads that text by itself (COPY); here it is written and read for SQLite.
"""

import json
import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import models

Encode = Callable[[Any], str]
Decode = Callable[[str], Any]

ESCAPED = {"\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
UNESCAPED = {escape[1]: character for character, escape in ESCAPED.items()}
SPECIAL = re.compile(r"[\\\x08-\x0d]")
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
NULL = "\\N"


def escape(text: str) -> str:
    return SPECIAL.sub(lambda found: ESCAPED[found[0]], text) if SPECIAL.search(text) else text


def unescape(text: str) -> str:
    return ESCAPE.sub(lambda found: UNESCAPED.get(found[1], found[1]), text) if "\\" in text else text


def _encode_text(value: Any) -> str:
    return escape(str(value))


def _decode_json(text: str) -> str:
    """As Django writes it: code compares it as text."""
    return json.dumps(json.loads(text))


def _decode_time(text: str) -> str:
    """As Django writes it: SQLite compares it as text, so a fraction always has six digits."""
    moment, _, fraction = text.removesuffix("+00").partition(".")
    return f"{moment}.{fraction:0<6}" if fraction else moment


# How SQLite's value of a column becomes PostgreSQL's text, and that text SQLite's value.
NUMBER: tuple[Encode, Decode] = (str, int)
TEXT: tuple[Encode, Decode] = (_encode_text, str)
KINDS: dict[str, tuple[Encode, Decode]] = {
    **dict.fromkeys(("AutoField", "BigAutoField", "IntegerField", "BigIntegerField", "SmallIntegerField"), NUMBER),
    **dict.fromkeys(("PositiveIntegerField", "PositiveBigIntegerField", "PositiveSmallIntegerField"), NUMBER),
    **dict.fromkeys(("CharField", "TextField", "SlugField", "GenericIPAddressField", "DateField"), TEXT),
    "BooleanField": (lambda value: "t" if value else "f", lambda text: int(text == "t")),
    "FloatField": (repr, float),
    "JSONField": (_encode_text, _decode_json),
    "DateTimeField": (lambda value: f"{value}+00", _decode_time),
    "UUIDField": (lambda value: str(UUID(value)), lambda text: UUID(text).hex),
    "BinaryField": (lambda value: f"\\\\x{value.hex()}", lambda text: bytes.fromhex(text.removeprefix("\\x"))),
}


def kind_of(field: models.Field) -> tuple[Encode, Decode]:
    target: Any = field
    while target.remote_field:
        target = target.target_field
    return KINDS[target.get_internal_type()]


def encode_row(kinds: list[Encode], values: tuple[Any, ...]) -> str:
    """A line."""
    texts = [NULL if value is None else encode(value) for encode, value in zip(kinds, values, strict=True)]
    return "\t".join(texts) + "\n"


def decode_row(kinds: list[Decode], line: bytes) -> list[Any]:
    """Raises ValueError where it is no row of these columns."""
    texts = line.decode().removesuffix("\n").split("\t")
    return [None if text == NULL else decode(unescape(text)) for decode, text in zip(kinds, texts, strict=True)]
