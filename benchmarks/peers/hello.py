"""The least that a WSGI application can answer: what a server costs by itself."""

from collections.abc import Callable
from typing import Any

BODY = b'{"hello":"world"}'
HEADERS = [("Content-Type", "application/json"), ("Content-Length", str(len(BODY)))]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    start_response("200 OK", HEADERS)
    return [BODY]
