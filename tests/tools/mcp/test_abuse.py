"""What is wrong in every way: POST /mcp tells it with a 4xx or a failed result, and nothing internal."""

import json
import logging
from io import BytesIO
from typing import Any

import pytest
from django.db import OperationalError

from apps.tools.registry import TOOLS
from apps.web import errors
from apps.web.exceptions import Unavailable
from apps.web.logs import JsonFormatter
from tests.factories import Fill
from tests.tools.mcp.speaking import HEADERS, REQUEST, Mcp, failure, refusal
from tests.tools.test_every_tool import input_for
from tests.web.test_bodies import NOT_JSON
from tests.web.test_errors import BUGS, SECRET, UNREACHABLE

KIB = 1024


# Bodies


@pytest.mark.parametrize("body", [*NOT_JSON.values(), b""], ids=[*NOT_JSON, "nothing"])
def test_what_is_not_json_is_refused_without_an_id(modern: Mcp, body: bytes) -> None:
    for headers in (HEADERS, {}):
        assert refusal(modern.post(body, **headers)) == (400, -32700, None)


@pytest.mark.parametrize("body", NOT_JSON.values(), ids=NOT_JSON)
def test_arguments_that_are_not_json_are_refused_without_an_id(handshake: Mcp, body: bytes) -> None:
    start = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_apps","arguments":'
    assert refusal(handshake.post(start + body + b"}}")) == (400, -32700, None)


def test_json_that_is_nested_too_deeply_is_refused_wherever_it_is(modern: Mcp, handshake: Mcp) -> None:
    deep: Any = []
    for _ in range(40):
        deep = [deep]
    for params in ({"name": "list_apps", "arguments": {"query": deep}}, {"_meta": {"x": deep}}, {"name": deep}):
        assert refusal(handshake.post(REQUEST | {"params": params})) == (400, -32700, None)
    assert refusal(modern.post(REQUEST | {"id": deep}, **HEADERS)) == (400, -32700, None)


def test_64_kib_are_read_and_one_byte_more_is_not(mcp: Mcp) -> None:
    message = mcp.message("tools/list")
    body = json.dumps(message).encode()
    assert mcp.post(body.ljust(64 * KIB), **mcp.headers(message)).status_code == 200
    assert refusal(mcp.post(body.ljust(64 * KIB + 1), **mcp.headers(message))) == (413, -32000, None)


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "é", ""]
)
def test_only_json_is_read(mcp: Mcp, content_type: str) -> None:
    assert refusal(mcp.send("tools/list", content_type=content_type)) == (415, -32000, None)


def test_parameters_of_the_type_do_not_matter(mcp: Mcp) -> None:
    for content_type in ("application/json; charset=utf-8", "APPLICATION/JSON", "application/json; charset=no-such"):
        assert mcp.send("tools/list", content_type=content_type).status_code == 200


def test_a_body_of_no_stated_length_is_refused(mcp: Mcp) -> None:
    assert refusal(mcp.send("tools/list", transfer_encoding="chunked")) == (411, -32000, None)
    for length in ("abc", "-1", "²", "9" * 5000):
        response = mcp.post(REQUEST, environ={"CONTENT_LENGTH": length})
        assert refusal(response) == (411, -32000, None)


def test_the_length_is_believed_before_the_body_is_read(modern: Mcp) -> None:
    for length in (str(64 * KIB + 1), "9" * 4000):
        environ = {"wsgi.input": BytesIO(b""), "CONTENT_LENGTH": length}
        assert refusal(modern.post(b"{}", environ=environ)) == (413, -32000, None)


def test_a_body_that_ends_too_early_is_refused(modern: Mcp) -> None:
    class Gone(BytesIO):
        def read(self, *_: Any) -> bytes:
            raise ConnectionResetError

    for stream in (BytesIO(b""), BytesIO(b"{}"), BytesIO(json.dumps(REQUEST).encode()), Gone()):
        response = modern.post(b"{}", environ={"wsgi.input": stream, "CONTENT_LENGTH": "9999"})
        assert refusal(response) == (400, -32700, None)


@pytest.mark.parametrize("name", TOOLS)
def test_arguments_of_every_kind_never_hurt(handshake: Mcp, acme: Fill, name: str) -> None:
    for field in (*TOOLS[name].input.fields, "surprise", "", "__proto__", "self", "org", "k" * 5000):
        for value in (None, {}, [], [[]], 10**4000, 1e300, "x" * 9000, "\u202e", "' OR 1=1 --"):
            result = handshake.tool(name, **input_for(name, acme) | {field: value})
            assert "isError" not in result or failure(result)["code"] in ("invalid_input", "unavailable")


def test_thousands_of_unknown_arguments_get_a_short_answer(mcp: Mcp) -> None:
    response = mcp.send("tools/call", {"name": "list_apps", "arguments": {f"k{n}": 1 for n in range(3000)}})
    assert response.json()["result"]["isError"]
    assert len(response.content) < 8 * KIB


# What goes wrong here


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes list_apps raise."""

    def set(error: BaseException) -> None:
        def run(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(TOOLS["list_apps"], "run", run)

    return set


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: type(bug).__name__)
def test_a_bug_tells_nothing_but_the_request_id_and_is_logged_once(
    mcp: Mcp, fail: Any, bug: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    fail(bug)
    response = mcp.send("tools/call", {"name": "list_apps"}, id="mine", x_request_id="look-me-up")
    assert response.status_code == 200
    error = {"code": -32603, "message": errors.INTERNAL, "data": {"requestId": "look-me-up"}}
    assert response.json() == {"jsonrpc": "2.0", "id": "mine", "error": error}
    assert "hunter2" not in str(response.headers)
    (record,) = (record for record in caplog.records if record.levelno >= logging.ERROR)
    line = json.loads(JsonFormatter().format(record))
    assert line["requestId"] == "look-me-up"
    assert "Traceback" in line["exception"]


def test_a_result_that_has_no_json_is_a_bug_like_any_other(mcp: Mcp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TOOLS["list_apps"], "run", lambda *_, **__: {"items": {SECRET}})
    assert refusal(mcp.send("tools/call", {"name": "list_apps"})) == (200, -32603, 1)


def test_a_bug_before_the_message_is_looked_at_is_a_500_of_no_message(
    mcp: Mcp, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("apps.oauthmcp.bearer.scope_by_slug", broken)
    response = mcp.send("tools/list", x_request_id="look-me-up")
    assert refusal(response) == (500, -32603, None)
    assert response.json()["error"]["data"] == {"code": "internal", "requestId": "look-me-up"}
    assert b"hunter2" not in response.content
    assert [record.name for record in caplog.records if record.exc_info] == ["porthole.errors"]


@pytest.mark.parametrize(
    "error", UNREACHABLE, ids=lambda error: repr(getattr(error.__cause__, "sqlite_errorname", error.__cause__))[:40]
)
def test_a_database_that_is_away_inside_a_tool_is_a_failure_that_a_model_reads(
    mcp: Mcp, fail: Any, error: Exception
) -> None:
    fail(error)
    told = failure(mcp.tool("list_apps"))
    assert told == {
        "code": "unavailable",
        "detail": "The database cannot be reached. Try again in 5 seconds.",
        "retryAfterSeconds": 5,
    }


def test_a_database_that_is_away_before_the_token_is_known_is_a_503(mcp: Mcp, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: Any) -> None:
        raise OperationalError(SECRET)

    monkeypatch.setattr("apps.oauthmcp.bearer.scope_by_slug", down)
    response = mcp.send("tools/list")
    assert refusal(response) == (503, -32000, None)
    data = response.json()["error"]["data"]
    assert (data["code"], data["retryAfterSeconds"]) == ("unavailable", int(response["Retry-After"])) != 0
    assert b"hunter2" not in response.content


def test_a_source_that_is_away_is_a_failure_that_a_model_reads(mcp: Mcp, fail: Any) -> None:
    fail(Unavailable("The repository cannot be reached.", retry_after=42))
    assert failure(mcp.tool("list_apps")) == {
        "code": "unavailable",
        "detail": "The repository cannot be reached. Try again in 42 seconds.",
        "retryAfterSeconds": 42,
    }
