"""What is almost right, asked from outside: origins that begin like ours, methods of pages, _meta of another type."""

import json
from typing import Any

import pytest

from tests.config.server import Server

MODERN = {"mcp_protocol_version": "2026-07-28", "mcp_method": "ping"}
HANDSHAKE = {"mcp_protocol_version": "2025-11-25"}
FOREIGN = [
    "http://localhost:1234.evil.example", "http://localhost:evil.example", "http://localhost:", "http://localhost:99999",
    "http://localhost:80:80", "http://127.0.0.1:1@evil.example", "http://evil.example@localhost", "http://localhost/",
    "http://localhost#", "http://localhost?x", "http://localhost\\.evil.example", "http://localhost.evil.example",
    "http://localhost:80, http://evil.example", "http://[::1]:x", "http://[::1].evil.example", "http://[::1",
    "http://LOCALHOST", "http:///localhost", "http:localhost", "//localhost", "localhost", "file://localhost",
    "ftp://localhost", "null", "", "http://127.0.0.1.evil.example", "http://127.1", "http://\u0131localhost",
]  # fmt: skip
OURS = ["http://localhost", "http://localhost:5173", "https://127.0.0.1:1", "http://[::1]:8080", "http://127.0.0.9"]
READ_ONLY = [
    "/api/v1/openapi.json", "/api/v1/docs", "/api/v1/docs/signed-in", "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration", "/.well-known/oauth-protected-resource", "/.well-known/jwks.json",
    "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource/api/v1",
    "/api/auth/.well-known/oauth-authorization-server", "/api/auth/.well-known/oauth-protected-resource",
]  # fmt: skip


@pytest.fixture
def server(local_server: Server) -> Server:
    return local_server


def ping(server: Server, params: Any = None, **headers: str) -> tuple[int, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"} | ({} if params is None else {"params": params})
    answer = server.call("/mcp", body=json.dumps(message).encode(), **headers)
    return answer.status, json.loads(answer.body)


def test_an_origin_is_ours_as_a_whole_or_not_at_all(server: Server) -> None:
    for origin in FOREIGN:
        sent = origin.encode().decode("latin-1")
        status, answer = ping(server, origin=sent)
        assert (status, answer.get("error", {}).get("data", {}).get("code")) == (403, "foreign_origin"), origin
        call = server.call(origin=sent)
        assert call.status == 401, origin
        assert "access-control-allow-origin" not in call.headers, origin
    for origin in OURS:
        assert ping(server, origin=origin)[0] == 200, origin
        assert server.call(origin=origin).headers["access-control-allow-origin"] == origin


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_what_is_only_read_says_so_before_it_looks_for_a_form(server: Server, method: str) -> None:
    for path in READ_ONLY:
        answer = server.call(path, method=method, origin="https://evil.example", token=None)
        assert (answer.status, answer.headers["content-type"]) == (405, "application/json"), path
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS", path
        if path.startswith("/api/v1/"):
            assert json.loads(answer.body)["code"] == "method_not_allowed"


@pytest.mark.parametrize("meta", [None, [], ["x"], "x", "", 1, 0, True, False])
@pytest.mark.parametrize("headers", [MODERN, HANDSHAKE, {}], ids=["modern", "handshake", "no version"])
def test_meta_is_an_object_in_every_era(server: Server, headers: dict[str, str], meta: Any) -> None:
    status, answer = ping(server, {"_meta": meta}, **headers)
    assert (status, answer["id"], answer["error"]["code"]) == (400, 1, -32602)
    assert "_meta must be an object" in answer["error"]["message"]


def test_meta_of_a_notification_is_an_object_too(server: Server) -> None:
    body = b'{"jsonrpc": "2.0", "method": "notifications/initialized", "params": {"_meta": []}}'
    assert server.call("/mcp", body=body).status == 400
    assert ping(server, {"_meta": {}}, **HANDSHAKE)[0] == 200
