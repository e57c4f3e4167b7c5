"""Answers as JSON bytes: the one place where results are rendered."""

from datetime import UTC, datetime
from typing import Any

import orjson
from django.http import HttpResponse

from apps.web.characters import escaped_json
from apps.web.headers import headers_of

HEADERS = {
    "cache-control": ("Cache-Control", "no-store"),
    "x-content-type-options": ("X-Content-Type-Options", "nosniff"),
}


class Encoded:
    """A value that is JSON already."""

    __slots__ = ("content",)

    def __init__(self, content: bytes) -> None:
        self.content = content


def encode(value: Any) -> bytes:
    """JSON with times in UTC, milliseconds and Z, and with escapes for characters that nobody sees."""
    return escaped_json(orjson.dumps(value, default=_default, option=orjson.OPT_PASSTHROUGH_DATETIME))


def quoted(content: bytes) -> Encoded:
    """JSON as a text inside JSON: nothing else in it than quotes and backslashes needs an escape."""
    return Encoded(b'"' + content.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"')


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    return json_bytes(encode(value), status, headers)


def json_bytes(content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    response = HttpResponse(content, content_type="application/json", status=status, headers=headers)
    for name, header in HEADERS.items():
        headers_of(response).setdefault(name, header)
    return response


def _default(value: Any) -> str | orjson.Fragment:
    if isinstance(value, Encoded):
        return orjson.Fragment(value.content)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
    raise TypeError(f"{type(value).__name__} has no JSON form here")
