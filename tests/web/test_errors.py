"""Every error's JSON, and what is kept from the caller."""

import json
import logging
import sqlite3
from typing import Any

import psycopg
import pytest
from django.db import InterfaceError, InternalError, OperationalError, ProgrammingError
from django.test import Client

from apps.accounts import home
from apps.tools.registry import TOOLS
from apps.web import errors
from apps.web.exceptions import Unavailable
from apps.web.logs import JsonFormatter
from config import openapi
from tests.api import Api

SECRET = "hunter2 at /srv/porthole, SELECT * FROM orgs_app"


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes list_apps raise."""

    def set(error: BaseException) -> None:
        def run(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(TOOLS["list_apps"], "run", run)

    return set


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def sqlite_error(name: str) -> Exception:
    cause = sqlite3.OperationalError(SECRET)
    cause.sqlite_errorname = name
    return caused(OperationalError(SECRET), cause)


class Refuses(Exception):
    """An error that fails even when it is looked at."""

    def __str__(self) -> str:
        raise RuntimeError("hunter2")


BUGS = [
    RuntimeError(SECRET), KeyError(SECRET), AssertionError(SECRET), RecursionError(SECRET), MemoryError(SECRET),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, SECRET), TimeoutError(SECRET),
    PermissionError(SECRET), Refuses(), ProgrammingError(SECRET), sqlite_error("SQLITE_ERROR"),
    caused(InternalError(SECRET), psycopg.errors.InFailedSqlTransaction(SECRET)),
]  # fmt: skip
UNREACHABLE = [
    caused(OperationalError(SECRET), psycopg.OperationalError(SECRET)),
    caused(InterfaceError(SECRET), psycopg.InterfaceError("the connection is closed")),
    caused(OperationalError(SECRET), psycopg.errors.AdminShutdown(SECRET)),
    caused(OperationalError(SECRET), psycopg.errors.TooManyConnections(SECRET)),
    OperationalError(SECRET),
    sqlite_error("SQLITE_BUSY"), sqlite_error("SQLITE_BUSY_SNAPSHOT"), sqlite_error("SQLITE_LOCKED"),
    sqlite_error("SQLITE_CANTOPEN"), sqlite_error("SQLITE_IOERR_READ"), sqlite_error("SQLITE_FULL"),
    sqlite_error("SQLITE_READONLY"), sqlite_error("SQLITE_CORRUPT_INDEX"), sqlite_error("SQLITE_NOTADB"),
    caused(InternalError(SECRET), psycopg.errors.ReadOnlySqlTransaction(SECRET)),
    caused(OperationalError(SECRET), psycopg.errors.QueryCanceled(SECRET)),
]  # fmt: skip


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: type(bug).__name__)
def test_a_bug_tells_nothing_but_the_request_id(
    api: Api, fail: Any, bug: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    fail(bug)
    response = api.post("list_apps", x_request_id="look-me-up")
    assert response.status_code == 500
    body = json.loads(response.content)
    assert body == {"code": "internal", "detail": errors.INTERNAL, "requestId": "look-me-up"}
    assert "hunter2" not in str(response.headers)
    (record,) = (record for record in caplog.records if record.name == "porthole.errors")
    assert record.exc_info
    line = json.loads(JsonFormatter().format(record))
    assert line["requestId"] == "look-me-up"
    assert "Traceback" in line["exception"]


@pytest.mark.parametrize(
    "error", UNREACHABLE, ids=lambda error: repr(getattr(error.__cause__, "sqlite_errorname", error.__cause__))[:40]
)
def test_a_database_that_cannot_be_reached_is_unavailable(api: Api, fail: Any, error: Exception) -> None:
    fail(error)
    response = api.post("list_apps")
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")  # type: ignore[attr-defined]
    assert int(response["Retry-After"]) > 0
    assert b"hunter2" not in response.content


def test_a_database_that_is_down_before_the_bearer_is_known_is_unavailable(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: Any) -> None:
        raise OperationalError(SECRET)

    monkeypatch.setattr("apps.oauthmcp.bearer.scope_by_slug", down)
    response = api.post("list_apps")
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")  # type: ignore[attr-defined]


def test_a_source_that_is_away_says_when_to_come_back(api: Api, fail: Any) -> None:
    fail(Unavailable("The repository cannot be reached.", retry_after=42))
    response = api.post("list_apps")
    assert response.status_code == 503
    assert response.json()["detail"] == "The repository cannot be reached. Try again in 42 seconds."  # type: ignore[attr-defined]
    assert response["Retry-After"] == "42"


def test_a_result_that_has_no_json_is_a_bug_like_any_other(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TOOLS["list_apps"], "run", lambda *_, **__: {"items": {SECRET}})
    response = api.post("list_apps")
    assert (response.status_code, response.json()["code"]) == (500, "internal")  # type: ignore[attr-defined]
    assert b"hunter2" not in response.content


def test_a_bug_outside_the_tools_is_json_too(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise RuntimeError(SECRET)

    client.raise_request_exception = False
    monkeypatch.setattr(openapi, "document", broken)
    response = client.get("/api/v1/openapi.json", headers={"x-request-id": "look-me-up"})
    assert response.status_code == 500
    assert response.json() == {"code": "internal", "detail": errors.INTERNAL, "requestId": "look-me-up"}
    lines = [json.loads(JsonFormatter().format(record)) for record in caplog.records if record.exc_info]
    assert [line["requestId"] for line in lines] == ["look-me-up"]
    assert "hunter2" in lines[0]["exception"]


def test_a_bug_in_a_page_is_a_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError(SECRET)

    client.raise_request_exception = False
    monkeypatch.setattr(home, "render", broken)
    response = client.get("/", headers={"x-request-id": "look-me-up"})
    assert response.status_code == 500
    assert response["Content-Type"].startswith("text/html")
    assert b"look-me-up" in response.content
    assert b"hunter2" not in response.content


def test_an_error_page_needs_no_template(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("Missing staticfiles manifest entry")

    monkeypatch.setattr(errors, "render_to_string", broken)
    response = client.get("/nothing", headers={"x-request-id": "look-me-up"})
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")
    assert b"look-me-up" in response.content


# Paths


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/", "/api/v1/nothing", "/api/v1/tools", "/api/v1/openapi.json/", "/api/v1/openapi.yaml",
        "/api/v1/docs/",
        "/api/v1//tools/list_apps", "/api/v1/Tools/list_apps", "/api/v1/toolsx", "/api/v1/%2e%2e/tools/list_apps",
        "/api/v1/../v1/tools/x", "/api/v1/\U0001f511", "/api/v1/%ff", "/api/v1/%00", "/api/v1/%0a",
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_unknown_paths_of_the_api_are_json(client: Client, path: str, method: str) -> None:
    response = client.generic(method, path)
    assert response.status_code == 404, response.content
    assert response.json()["code"] == "not_found"
    assert response.json()["requestId"] == response["X-Request-Id"]
    assert response["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "name",
    [
        "", "list_apps/", "/list_apps", "list_apps//", "list_apps/x", "LIST_APPS", "list_apps%20", "list_apps%0a",
        "%0alist_apps", "list%0aapps", "list_apps%00", "%ff", "../tools/list_apps", "__class__", "\U0001f511",
        "x" * 5000,
    ],
)  # fmt: skip
def test_unknown_tools_need_a_token_and_are_not_there(api: Api, name: str) -> None:
    response = api.client.post(f"/api/v1/tools/{name}")
    assert (response.status_code, response.json()["code"]) == (401, "unauthorized")
    response = api.client.post(f"/api/v1/tools/{name}", headers={"authorization": f"Bearer {api.bearer}"})
    assert (response.status_code, response.json()["code"]) == (404, "unknown_tool")


@pytest.mark.parametrize(
    "path", ["/nothing", "/api", "/api/v1", "/api/v2/tools", "//api/v1/tools/list_apps", "/healthz/", "/%ff"]
)
def test_unknown_paths_elsewhere_are_pages(client: Client, path: str) -> None:
    response = client.generic("GET", path)
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")
    assert response["X-Request-Id"].encode() in response.content


def test_nothing_is_redirected_for_a_slash(client: Client) -> None:
    for path in ("/api/v1/docs/", "/healthz/", "/admin", "/.well-known/oauth-protected-resource/"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/api/v1/openapi.json", "/api/v1/docs"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_documents_are_only_read(client: Client, path: str, method: str) -> None:
    response = client.generic(method, path)
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
    assert response["Allow"] == "GET, HEAD, OPTIONS"


# Hosts


@pytest.mark.parametrize(
    "host", ["evil.example", "", "a b", "localhost:port", "localhost.", "[::2]", "é", "localhost@evil"]
)
def test_an_unknown_host_gets_json_from_the_api_and_a_page_elsewhere(client: Client, host: str) -> None:
    response = client.get("/api/v1/openapi.json", headers={"host": host})
    if host == "localhost.":  # the same name, fully qualified
        assert response.status_code == 200
        return
    assert response.status_code == 400
    assert response.json()["code"] == "bad_host"
    assert response.json()["requestId"] == response["X-Request-Id"]
    page = client.get("/", headers={"host": host})
    assert page.status_code == 400
    assert page["Content-Type"].startswith("text/html")
    assert host == "" or host.encode() not in page.content


@pytest.mark.parametrize("sent", ["a", "A-9", "x" * 64])
def test_a_request_id_is_kept(client: Client, sent: str) -> None:
    assert client.get("/healthz", headers={"x-request-id": sent})["X-Request-Id"] == sent


@pytest.mark.parametrize("sent", ["", "x" * 65, "a b", "a_b", "a\n", "é", "<b>", "a,b"])
def test_another_request_id_is_replaced(client: Client, sent: str) -> None:
    ids = {client.get("/healthz", headers={"x-request-id": sent})["X-Request-Id"] for _ in range(2)}
    assert len(ids) == 2
    assert sent not in ids


# Log lines


def test_a_log_line_is_json_whatever_it_holds() -> None:
    for fields in ({"path": "\ud800"}, {"number": 10**30}, {"error": ValueError("x")}, {1: 2}):
        record = logging.LogRecord("x", logging.INFO, "x", 1, "\udfff %s", ("y",), None)
        record.fields = fields
        assert json.loads(JsonFormatter().format(record))["level"] == "info"
