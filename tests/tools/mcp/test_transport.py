"""One message in, one answer out, over plain HTTP: which messages, methods, paths and pages are answered."""

import json
from typing import Any

import pytest
from django.test import Client

from tests.tools.mcp.speaking import HEADERS, MODERN_REQUEST, PREFIX, REQUEST, Mcp, meta, refusal

APP, EVIL = "https://app.example.com", "https://evil.example"


# Messages


@pytest.mark.parametrize("id", ["a", "", "0", "é", "x" * 30_000, 0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63)])
def test_an_id_is_said_back_as_it_came(mcp: Mcp, id: Any) -> None:
    result = mcp.send("tools/list", id=id)
    refused = mcp.send("no/such", id=id)
    assert [type(response.json()["id"]) for response in (result, refused)] == [type(id)] * 2
    assert result.json()["id"] == refused.json()["id"] == id


@pytest.mark.parametrize("id", [None, True, False, 1.0, 1.5, 1e300, [], {}, [1], 2**63, -(2**63) - 1, 2**70, 10**4000])
def test_what_cannot_be_an_id_is_refused_without_one(mcp: Mcp, id: Any) -> None:
    message = mcp.message("tools/list") | {"id": id}
    assert refusal(mcp.post(message, **mcp.headers(message))) == (400, -32600, None)


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "error": {"code": 1, "message": "x"}}, {"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0"}, {},
        {"id": 1, "method": "tools/list"}, {"jsonrpc": "1.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": 2.0, "id": 1, "method": "tools/list"}, {"jsonrpc": None, "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1, "method": None}, {"jsonrpc": "2.0", "id": 1, "method": 7},
        {"jsonrpc": "2.0", "id": 1, "method": ["tools/list"]},
        None, True, 7, "tools/list", [], [1], [REQUEST], [REQUEST, REQUEST], [[REQUEST]],
        [{"jsonrpc": "2.0", "method": "notifications/initialized"}],
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_request_is_refused(mcp: Mcp, message: Any) -> None:
    headers = HEADERS if mcp.is_modern else {"mcp_protocol_version": mcp.version}
    status, code, _ = refusal(mcp.post(message, **headers))
    assert (status, code) == (400, -32600)


@pytest.mark.parametrize("params", [None, [], [1], "x", 7, True])
def test_params_that_are_no_object_are_refused(mcp: Mcp, params: Any) -> None:
    headers = HEADERS if mcp.is_modern else {"mcp_protocol_version": mcp.version}
    assert refusal(mcp.post(REQUEST | {"params": params}, **headers)) == (400, -32602, 1)


def test_unknown_members_of_a_message_do_no_harm(mcp: Mcp) -> None:
    message = mcp.message("tools/list") | {"extra": 1, "result": {}, "error": None}
    assert "result" in mcp.post(message, **mcp.headers(message)).json()


@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/x", "tools/call", "tools/list", "x", ""]
)
@pytest.mark.parametrize("params", [None, {}, {"name": "list_apps", "arguments": {"limit": "7"}}], ids=str)
def test_whatever_needs_no_answer_gets_none(mcp: Mcp, method: str, params: Any) -> None:
    response = mcp.send(method, params, id=None)
    assert (response.status_code, response.content) == (202, b"")
    assert "Content-Type" not in response.headers or response["Content-Length"] == "0"


def test_a_notification_needs_no_headers_of_its_own(mcp: Mcp) -> None:
    assert mcp.post({"jsonrpc": "2.0", "method": "notifications/cancelled"}).status_code == 202


def test_a_notification_in_an_unknown_version_is_refused(mcp: Mcp) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    assert refusal(mcp.post(message, mcp_protocol_version="1999-01-01")) == (400, -32022, None)
    message |= {"params": {"_meta": meta() | {f"{PREFIX}protocolVersion": "1999-01-01"}}}
    assert refusal(mcp.post(message)) == (400, -32022, None)


# The transport


def test_sessions_and_streams_are_ignored(mcp: Mcp) -> None:
    sent = {"mcp_session_id": "made-up", "last_event_id": "7"}
    with_them, without = mcp.send("tools/list", **sent), mcp.send("tools/list")
    assert with_them.content == without.content
    if not mcp.is_modern:
        params = {"protocolVersion": mcp.version, "capabilities": {}}
        assert "Mcp-Session-Id" not in mcp.send("initialize", params, mcp_session_id="made-up").headers


@pytest.mark.parametrize(
    "accept",
    ["application/json, text/event-stream", "application/json", "text/event-stream", "text/html", "", "x", "*/*;q=0"],
)
def test_accept_is_ignored(mcp: Mcp, accept: str) -> None:
    assert mcp.send("tools/list", accept=accept).status_code == 200


def test_a_path_with_a_slash_is_the_same(mcp: Mcp) -> None:
    message = mcp.message("tools/list")
    response = mcp.post(message, path="/mcp/", **mcp.headers(message))
    assert response.json() == mcp.send("tools/list").json()
    mcp.bearer = None
    assert mcp.post(message, path="/mcp/").status_code == 401


@pytest.mark.parametrize("path", ["/mcp//", "/mcp/x", "/mcp/sse", "/MCP", "/mcpx"])
def test_other_paths_are_not_there(modern: Mcp, path: str) -> None:
    assert modern.client.post(path, headers={"authorization": f"Bearer {modern.bearer}"}).status_code == 404


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "TRACE", "CONNECT", "BREW"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_other_methods_are_refused_before_anybody_is_asked_for_a_token(method: str, path: str) -> None:
    """No database: a query would fail this test."""
    response = Mcp(None).post(REQUEST, method=method, path=path)
    assert refusal(response) == (405, -32000, None)
    assert response["Allow"] == "POST, OPTIONS"
    assert "WWW-Authenticate" not in response.headers


def test_head_is_refused_without_a_body() -> None:
    response = Client(headers={"host": "localhost"}).head("/mcp")
    assert (response.status_code, response["Allow"], response.content) == (405, "POST, OPTIONS", b"")


# Pages of other sites


@pytest.fixture
def public(settings: Any) -> Mcp:
    """In production, where one other site is allowed."""
    settings.PORTHOLE_ENV, settings.IS_LOCAL = "production", False
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = "https://porthole.example.com", ["porthole.example.com"]
    settings.ALLOWED_ORIGINS = ["https://porthole.example.com", APP]
    mcp = Mcp(None)
    mcp.client = Client(headers={"host": "porthole.example.com"})
    return mcp


@pytest.mark.parametrize(
    "origin",
    [EVIL, "null", "", "http://localhost:3000", "https://app.example.com.evil", "https://APP.example.com", "é"],
)
def test_a_page_of_another_site_is_refused_before_anybody_is_asked_for_a_token(public: Mcp, origin: str) -> None:
    """No database: a query would fail this test."""
    response = public.post(MODERN_REQUEST, origin=origin, **HEADERS)
    assert refusal(response) == (403, -32000, None)
    assert response.json()["error"]["data"]["code"] == "foreign_origin"
    assert not [name for name in response.headers if name.startswith("Access-Control-")]
    assert "Origin" in response["Vary"]


@pytest.mark.parametrize("origin", [EVIL, "null", ""])
def test_a_good_token_does_not_help_a_page_of_another_site(mcp: Mcp, origin: str) -> None:
    assert refusal(mcp.send("tools/list", origin=origin)) == (403, -32000, None)


@pytest.mark.parametrize("origin", ["https://porthole.example.com", APP])
def test_a_page_of_an_allowed_site_may_ask_and_read_what_it_needs(public: Mcp, origin: str, db: None) -> None:
    response = public.post(MODERN_REQUEST, origin=origin, **HEADERS)
    assert response.status_code == 401
    assert response["Access-Control-Allow-Origin"] == origin
    assert "Access-Control-Allow-Credentials" not in response.headers
    exposed = response["Access-Control-Expose-Headers"].lower().split(", ")
    assert {"www-authenticate", "retry-after", "x-request-id"} <= set(exposed)


def test_a_local_page_may_call_tools_in_local(mcp: Mcp) -> None:
    response = mcp.send("tools/list", origin="http://localhost:6274")
    assert response.status_code == 200
    assert response["Access-Control-Allow-Origin"] == "http://localhost:6274"


@pytest.mark.parametrize("origin", [APP, EVIL])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_a_preflight_is_answered_before_authentication(public: Mcp, origin: str, path: str) -> None:
    """No database: a query would fail this test."""
    wanted = "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name"
    response = public.post(
        b"", method="OPTIONS", path=path, origin=origin,
        access_control_request_method="POST", access_control_request_headers=wanted,
    )  # fmt: skip
    assert response.status_code == 204
    if origin == EVIL:
        assert not [name for name in response.headers if name.startswith("Access-Control-")]
        return
    assert response["Access-Control-Allow-Origin"] == APP
    assert set(wanted.split(",")) <= set(response["Access-Control-Allow-Headers"].lower().split(", "))
    assert "POST" in response["Access-Control-Allow-Methods"]


def test_an_unknown_host_comes_before_everything(public: Mcp) -> None:
    response = public.post(REQUEST, host="evil.example")
    assert refusal(response) == (400, -32000, None)
    assert response.json()["error"]["data"]["code"] == "bad_host"


def test_the_request_id_of_a_refusal_is_told() -> None:
    response = Mcp(None).post(REQUEST, method="GET", x_request_id="look-me-up")
    assert response["X-Request-Id"] == "look-me-up"
    assert json.loads(response.content)["error"]["data"]["requestId"] == "look-me-up"
