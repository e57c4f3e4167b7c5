"""The shorter way of calls ends where Django's own would."""

from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

from apps.web import surfaces
from apps.web.handler import Handler
from tests.factories import Fill

TOOL, MCP = "/api/v1/tools/list_apps", "/mcp"
LISTED = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
REQUESTS: dict[str, dict[str, Any]] = {
    "a call": {"PATH_INFO": TOOL},
    "a call of a page of another origin": {"PATH_INFO": TOOL, "HTTP_ORIGIN": "https://elsewhere.example"},
    "a call of a page of this machine": {"PATH_INFO": TOOL, "HTTP_ORIGIN": "http://localhost:3000"},
    "inputs that are wrong": {"PATH_INFO": TOOL, "body": b'{"limit":0,"no":1}'},
    "no JSON": {"PATH_INFO": TOOL, "body": b"{"},
    "another type": {"PATH_INFO": TOOL, "CONTENT_TYPE": "text/plain"},
    "a body that is shorter than it says": {"PATH_INFO": TOOL, "CONTENT_LENGTH": "100"},
    "no token": {"PATH_INFO": TOOL, "HTTP_AUTHORIZATION": ""},
    "no such tool": {"PATH_INFO": "/api/v1/tools/no/such\ntool"},
    "no tool at all": {"PATH_INFO": "/api/v1/tools/"},
    "a path that is no text": {"PATH_INFO": "/api/v1/tools/\xff"},
    "reading a tool": {"PATH_INFO": TOOL, "REQUEST_METHOD": "GET"},
    "asking what is allowed": {"PATH_INFO": TOOL, "REQUEST_METHOD": "OPTIONS"},
    "another host": {"PATH_INFO": TOOL, "HTTP_HOST": "elsewhere.example"},
    "MCP": {"PATH_INFO": MCP, "body": LISTED, "HTTP_MCP_PROTOCOL_VERSION": "2025-11-25"},
    "MCP with a slash": {"PATH_INFO": "/mcp/", "body": LISTED, "HTTP_MCP_PROTOCOL_VERSION": "2025-11-25"},
    "MCP without sense": {"PATH_INFO": MCP, "body": b"[]"},
    "the description": {"PATH_INFO": "/api/v1/openapi.json", "REQUEST_METHOD": "GET"},
    "nothing that is there": {"PATH_INFO": "/api/v1/tool"},
}


def ask(handler: WSGIHandler, request: dict[str, Any]) -> tuple[str, dict[str, str], bytes]:
    """Status, headers and body."""
    body = request.get("body", b"{}")
    environ = {
        "REQUEST_METHOD": "POST", "QUERY_STRING": "", "SERVER_NAME": "localhost", "SERVER_PORT": "8000",
        "HTTP_HOST": "localhost", "REMOTE_ADDR": "127.0.0.1", "wsgi.url_scheme": "http",
        "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body),
        "HTTP_AUTHORIZATION": f"Bearer {settings.LOCAL_DEV_BEARER}", "HTTP_X_REQUEST_ID": "r-1", **request,
    }  # fmt: skip
    told: list[tuple[str, list[tuple[str, str]]]] = []
    answer = handler(environ, lambda status, headers: told.append((status, headers)))
    [(status, headers)] = told
    assert len(dict(headers)) == len(headers)
    return status, dict(headers), b"".join(answer)


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_call_is_answered_as_django_would(acme: Fill, monkeypatch: pytest.MonkeyPatch, request_: dict[str, Any]):
    monkeypatch.setattr(settings, "LOCAL_DEV_ORG", "acme")
    answer = ask(Handler(), request_)
    find = surfaces._find
    monkeypatch.setattr(surfaces, "_find", lambda path: replace(find(path), is_call=False))
    assert answer == ask(WSGIHandler(), request_)
