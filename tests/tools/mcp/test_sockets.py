"""POST /mcp through a real gunicorn: bytes on a socket, and what the access log says of them."""

import json
from typing import Any

import pytest

from tests.config.server import Answer, Server, request_bytes
from tests.tools.mcp.speaking import MODERN, MODERN_REQUEST, REQUEST, check_answer

BODY = json.dumps(REQUEST).encode()
KIB = 1024


@pytest.fixture
def server(local_server: Server) -> Server:
    return local_server


def message(body: bytes = BODY, **headers: Any) -> bytes:
    return request_bytes("/mcp", body=body, **headers)


def told(answer: Answer) -> tuple[int, int | None]:
    """HTTP's status, and the code of an error."""
    body = json.loads(answer.body)
    check_answer(body)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    return answer.status, body.get("error", {}).get("code")


def test_both_eras_are_answered_on_one_connection(server: Server) -> None:
    modern = {"mcp_protocol_version": MODERN, "mcp_method": "tools/list"}
    with server.connect() as connection:
        connection.send(message(json.dumps(MODERN_REQUEST).encode(), **modern) + message())
        first, second = connection.answer(), connection.answer()
    assert told(first) == told(second) == (200, None)
    assert json.loads(first.body)["result"]["tools"] == json.loads(second.body)["result"]["tools"]


def test_a_notification_leaves_the_connection_in_order(server: Server) -> None:
    notification = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    with server.connect() as connection:
        connection.send(message(notification) + message())
        first, second = connection.answer(), connection.answer()
    assert (first.status, first.body, first.headers["content-length"]) == (202, b"", "0")
    assert told(second) == (200, None)


def test_a_chunked_body_is_refused_and_the_connection_goes_on(server: Server) -> None:
    chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    chunked = message(chunk, content_length=None, transfer_encoding="chunked")
    with server.connect() as connection:
        connection.send(chunked + message())
        assert told(connection.answer()) == (411, -32000)
        assert told(connection.answer()) == (200, None)


def test_a_large_body_is_refused_before_it_is_sent(server: Server) -> None:
    with server.connect() as connection:
        connection.send(message(b"", content_length="1000000000"))
        assert told(connection.answer()) == (413, -32000)


def test_after_an_unread_body_the_next_request_is_itself_or_the_connection_ends(server: Server) -> None:
    """What was not read must never be taken for a request."""
    smuggled = request_bytes("/smuggled", method="GET", body=b"")
    for first, status in (
        (message(smuggled.ljust(1000), token=None), 401),
        (message(smuggled.ljust(60 * KIB), token="wrong"), 401),
        (message(smuggled.ljust(65 * KIB)), 413),
        (message(smuggled, content_type="text/plain"), 415),
        (message(smuggled, origin="https://evil.example"), 403),
        (message(smuggled, method="DELETE"), 405),
        (message(smuggled), 400),
    ):
        with server.connect() as connection:
            connection.send(first + message(x_request_id="the-second"))
            assert connection.answer().status == status
            try:
                second = connection.answer()
            except (AssertionError, ConnectionResetError):
                continue  # it was closed
            assert (second.status, second.headers["x-request-id"]) == (200, "the-second")


@pytest.mark.parametrize("sent", [b"", b"{}", BODY])
def test_a_body_that_ends_too_early_is_refused(server: Server, sent: bytes) -> None:
    with server.connect() as connection:
        connection.send(message(sent, content_length="999"))
        connection.end_of_sending()
        assert told(connection.answer()) == (400, -32700)


def test_deep_json_does_not_hurt(server: Server) -> None:
    for body in (b"[" * 60_000, b'{"a":' * 10_000, b"[" * 10_000 + b"]" * 10_000):
        assert told(server.call("/mcp", body=body)) == (400, -32700)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_other_methods_leave_the_connection_in_order(server: Server, method: str) -> None:
    with server.connect() as connection:
        connection.send(message(b"", method=method, token=None, accept="text/event-stream") + message())
        first = connection.answer(is_head=method == "HEAD")
        assert (first.status, first.headers["allow"]) == (405, "POST, OPTIONS")
        assert told(connection.answer()) == (200, None)


def test_bytes_in_headers_that_are_no_ascii_are_only_wrong(server: Server) -> None:
    for name in ("mcp_name", "mcp_method", "mcp_protocol_version", "mcp_session_id"):
        for value in ("\xe9", "=?base64?\xff?=", "\x7f"):
            answer = server.call("/mcp", body=json.dumps(MODERN_REQUEST).encode(), **{name: value})
            assert answer.status == 400


def test_the_local_bearer_does_not_open_past_a_proxy(server: Server) -> None:
    answer = server.call("/mcp", body=BODY, x_forwarded_for="127.0.0.1")
    assert told(answer) == (401, -32000)
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert "/.well-known/oauth-protected-resource/mcp" in answer.headers["www-authenticate"]


def test_the_access_log_names_the_organization_and_no_secret(server: Server) -> None:
    call = REQUEST | {"method": "tools/call", "params": {"name": "list_apps", "arguments": {"query": "hunter2"}}}
    headers = {"x_request_id": "look-for-me", "cookie": "session=hunter3", "mcp_session_id": "hunter4"}
    server.call("/mcp?access_token=hunter5", body=json.dumps(call).encode(), **headers)
    line = server.line(lambda line: "look-for-me" in line)
    assert "hunter" not in line
    said = json.loads(line)
    assert (said["method"], said["path"], said["status"]) == ("POST", "/mcp", 200)
    assert said["organization"].startswith("org_")
    assert said["client"] == "127.0.0.1"
