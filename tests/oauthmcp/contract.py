"""Calls to the OAuth endpoints: every answer is checked against the published openapi.json."""

import json
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponseBase
from django.test import Client

from tests.api import check_response

PREFIX = "/api/auth/mcp/"
FORM = "application/x-www-form-urlencoded"


def validate_oauth(path: str, answer: Any, method: str = "post") -> None:
    """Fails unless openapi.json promises this answer of this path: "token", "register", …"""
    body = json.loads(answer.content) if answer["Content-Type"] == "application/json" else None
    check_response(PREFIX + path, method, answer.status_code, body, answer.headers)


def post_form(path: str, fields: dict[str, str] | list[tuple[str, str]], **headers: str) -> HttpResponseBase:
    return _post(path, urlencode(fields).encode(), FORM, headers)


def post_json(path: str, fields: Any, **headers: str) -> HttpResponseBase:
    return _post(path, json.dumps(fields).encode(), "application/json", headers)


def _post(path: str, body: bytes, content_type: str, headers: dict[str, str]) -> HttpResponseBase:
    client = Client(raise_request_exception=False, headers={"host": "localhost"})
    answer = client.post(PREFIX + path, body, content_type=content_type, headers=headers)
    assert answer["Cache-Control"] == "no-store"
    validate_oauth(path, answer)
    return answer
