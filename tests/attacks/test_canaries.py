"""Secrets that are sent anywhere in a request: none of them comes out in any line of the log."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest, HttpResponse
from django.test import Client

from apps.tools import throttle
from apps.tools.mcp.server import McpServer
from apps.tools.registry import TOOLS
from tests.api import Api

QUERY, HEADER, COOKIE, BODY, PATH = (f"canary-{place}" for place in ("query", "header", "cookie", "body", "path"))
FORM = "application/x-www-form-urlencoded"
LINKS = [
    "/account/invitations/{}/", "/account/password/reset/key/1-{}/", "//account/invitations/{}", "/invitations//{}",
    "/Account/Invitations/{}/", "/account/invitations/%20{}/", "/x/account/password/reset/key/{}%0ax",
]  # fmt: skip
SURFACES = [
    "/", "/account/login/", "/account/", "/admin/", "/api/auth/mcp/authorize", "/api/auth/mcp/token",
    "/api/auth/mcp/register", "/api/auth/mcp/revoke", "/api/v1/tools/list_apps", "/api/v1/openapi.json",
    "/api/v1/docs", "/api/v1/docs/signed-in", "/api/v1/nothing", "/mcp", "/.well-known/oauth-protected-resource",
    "/healthz", "/readyz", "/nothing", "/static/nothing.css", *[link.format(PATH) for link in LINKS],
]  # fmt: skip


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the real handler of the root logger writes."""
    (handler,) = (one for one in logging.getLogger().handlers if type(one) is logging.StreamHandler)
    written = io.StringIO()
    before = handler.setStream(written)
    yield written
    handler.setStream(before)  # type: ignore[arg-type]


@pytest.fixture
def client(db: None) -> Client:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.cookies["sessionid"] = COOKIE
    client.cookies["csrftoken"] = COOKIE
    client.cookies["other"] = COOKIE
    return client


HEADERS = {
    "host": "localhost", "authorization": f"Bearer {HEADER}", "x-api-key": HEADER, "x-csrftoken": HEADER,
    "proxy-authorization": f"Basic {HEADER}", "referer": f"https://localhost/?{HEADER}", "x-any": HEADER,
}  # fmt: skip


def send(client: Client, path: str, method: str = "POST", kind: str = FORM, **headers: str) -> HttpResponse:
    body = json.dumps({"query": BODY, "other": [BODY]}) if kind == "application/json" else f"password={BODY}&x={BODY}"
    return client.generic(  # type: ignore[return-value]
        method, path, body, content_type=kind, QUERY_STRING=f"code={QUERY}&{QUERY}", headers=HEADERS | headers
    )


def check(log: io.StringIO, *, expect: str = "") -> None:
    """No canary, not a single line that is no JSON; and what was expected to be said was said."""
    lines = log.getvalue()
    assert lines
    assert expect in lines
    assert "canary" not in lines.encode().decode("ascii", "ignore"), [ln for ln in lines.splitlines() if "canary" in ln]
    assert all(isinstance(json.loads(line), dict) for line in lines.splitlines())


@pytest.mark.parametrize("kind", [FORM, "application/json"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "OPTIONS"])
def test_no_surface_logs_what_was_sent_to_it(client: Client, log: io.StringIO, method: str, kind: str) -> None:
    statuses = {send(client, path, method, kind).status_code for path in SURFACES}
    assert statuses <= {200, 204, 302, 400, 401, 403, 404, 405, 415, 503}
    check(log, expect='"porthole.access"')


def test_a_form_that_is_refused_logs_no_link(client: Client, log: io.StringIO) -> None:
    for link in LINKS[:2]:
        assert send(client, link.format(PATH)).status_code == 403
    check(log, expect='"django.security.csrf"')


def test_a_host_that_is_unknown_and_a_body_that_is_too_large_log_nothing_of_it(
    client: Client, log: io.StringIO
) -> None:
    for path in SURFACES:
        send(client, path, host=f"{HEADER}.example")
        client.generic("POST", path, BODY, content_type=FORM, CONTENT_LENGTH=str(2**30), headers=HEADERS)
    check(log)


def test_callers_who_have_to_wait_log_nothing(
    api: Api, log: io.StringIO, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(throttle, "_buckets", throttle.Buckets(burst=0, per_second=0.01))
    for path in ("/api/v1/tools/list_apps", "/mcp"):
        bearer = f"Bearer {api.bearer}"
        assert send(api.client, path, kind="application/json", authorization=bearer).status_code == 429
    check(log)
    assert str(api.bearer) not in log.getvalue()


def everything(request: Any, *_: Any, **kwargs: Any) -> Any:
    """A bug that tells all it knows, in every way there is to log."""
    known = f"{request.path}?{request.META['QUERY_STRING']} {request.headers} {request.COOKIES} {kwargs}"
    sent = request.body.decode() + str(request.POST)
    extra = {"fields": {"sent": sent, "list": [known], "error": ValueError(sent), "cookie": "short"}}
    logging.getLogger("somebody.else").warning("it was %s", known, extra=extra)
    logging.getLogger("django.request").error("it was %r", sent, extra={"request": request})
    raise RuntimeError(known) from ValueError(sent)


@pytest.mark.parametrize("kind", [FORM, "application/json"])
def test_a_bug_that_tells_all_is_logged_without_it(
    api: Api, client: Client, log: io.StringIO, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(BaseHandler, "make_view_atomic", lambda *_: everything)
    client.handler.enforce_csrf_checks = False
    for path in SURFACES:
        assert send(client, path, kind=kind).status_code in (404, 500)
    check(log, expect="RuntimeError")


def test_a_tools_bug_is_logged_without_what_was_sent(
    api: Api, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[HttpRequest] = []
    respond = BaseHandler.get_response
    monkeypatch.setattr(
        BaseHandler, "get_response", lambda self, request: (seen.append(request), respond(self, request))[1]
    )
    monkeypatch.setattr(TOOLS["list_apps"], "run", lambda *_, **__: everything(seen[-1]))
    monkeypatch.setattr(McpServer, "answer", lambda *_: everything(seen[-1]))
    bearer = {"host": "localhost", "authorization": f"Bearer {api.bearer}", "cookie": f"a={COOKIE}"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"secret": BODY}}
    for path, body in (("/api/v1/tools/list_apps", {"query": BODY}), ("/mcp", message)):
        answer = api.client.post(path, body, content_type="application/json", headers=bearer, QUERY_STRING=QUERY)
        assert b"internal" in answer.content or b"-32603" in answer.content
    check(log, expect="RuntimeError")
    assert str(api.bearer) not in log.getvalue()


@pytest.mark.parametrize(
    "said",
    [
        "porthole_at_canaryABC", "the token porthole_st_canary-_9 is", "eyJhbGciOi.canary.x", "Bearer canary1",
        "Authorization: Basic canary", "{'Authorization': 'canary'}", "set-cookie: a=1; b=canary", "X-Api-Key=canary",
        "https://somebody:canary@example.com/x", "GET /x?code=canary&y=1 HTTP/1.1", "password=canary",
        '"secret": "canary"', "client_secret='canary'", "code=canary", "/account/invitations/canary/",
        "/account/password/reset/key/1-canary/",
        "https://localhost/ACCOUNT/invitations%2Fcanary", "xcanaryx7Qx0123456789abcdefghijklmnopqrs",
    ],
)  # fmt: skip
def test_what_looks_like_a_secret_is_hidden_outside_of_requests_too(log: io.StringIO, said: str) -> None:
    logger = logging.getLogger("any.library")
    logger.warning(said)
    logger.warning("%s", said, extra={"fields": {"x": [said], "y": {"z": said}}})
    try:
        raise RuntimeError(said)
    except RuntimeError:
        logger.exception("it failed")
    check(log, expect="RuntimeError")


@pytest.mark.parametrize(
    "said",
    [
        "a mail was not sent: The mail server did not take the mail (ConnectionRefusedError).",
        "the database cannot be reached: OperationalError", "GET /api/v1/tools/list_apps 200",
        "POST /mcp 405", "Key (slug)=(acme) already exists.", "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
        "org_vrmhrgzw3x6nt3jgn4hmgydkst", "exit code: 128", "2026-05-31T09:05:50.735Z",
        'File "/srv/apps/oauthmcp/validator.py", line 7, in test_access_tokens_die_with_their_membership',
    ],
)  # fmt: skip
def test_what_operators_need_stays(log: io.StringIO, said: str) -> None:
    logging.getLogger("any.library").warning(said)
    assert json.loads(log.getvalue())["message"] == said
