"""The contract's table of errors, in its order: of several broken rules the first one is answered."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pytest
from django.test import Client

from apps.tools import throttle
from apps.tools.registry import TOOLS
from apps.web import errors
from tests.api import check_answer
from tests.factories import Fill

BIG = 64 * 1024 + 1


@dataclass
class Call:
    """A request that is right; each rule breaks it in one way."""

    method: str = "POST"
    path: str = "/api/v1/tools/list_apps"
    body: bytes = b"{}"
    length: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    scopes: frozenset[str] | None = None
    is_throttled: bool = False
    needs_https: bool = False
    fails_with: Exception | None = None

    def __post_init__(self) -> None:
        self.headers = {"host": "localhost", "authorization": "Bearer porthole-local-dev"} | self.headers
        self.content_type = "application/json"


def bad_host(call: Call) -> None:
    call.headers["host"] = "evil.example"


def plain_http(call: Call) -> None:
    call.needs_https = True


def preflight(call: Call) -> None:
    call.method = "OPTIONS"


def no_such_path(call: Call) -> None:
    call.path = "/api/v1/nothing"


def no_token(call: Call) -> None:
    call.headers.pop("authorization")


def no_such_tool(call: Call) -> None:
    if call.path.startswith("/api/v1/tools/"):
        call.path = "/api/v1/tools/list_everything"


def other_method(call: Call) -> None:
    if call.method == "POST":
        call.method = "PUT"


def too_many_calls(call: Call) -> None:
    call.is_throttled = True


def narrowed_token(call: Call) -> None:
    call.scopes = frozenset({"docs:read"})


def other_type(call: Call) -> None:
    call.content_type = "text/plain"


def chunked(call: Call) -> None:
    call.headers["transfer-encoding"] = "chunked"


def too_large(call: Call) -> None:
    call.length = BIG


def bad_input(call: Call) -> None:
    call.body = b'{"limit": "7"'


def bug(call: Call) -> None:
    call.fails_with = RuntimeError("hunter2")


Rule = tuple[Callable[[Call], None], int, str | None]
TABLE: list[Rule] = [
    (bad_host, 400, "bad_host"),
    (plain_http, 403, "https_required"),
    (preflight, 204, None),
    (no_such_path, 404, "not_found"),
    (no_token, 401, "unauthorized"),
    (no_such_tool, 404, "unknown_tool"),
    (other_method, 405, "method_not_allowed"),
    (too_many_calls, 429, "rate_limited"),
    (narrowed_token, 403, "insufficient_scope"),
    (other_type, 415, "unsupported_media_type"),
    (chunked, 411, "length_required"),
    (too_large, 413, "too_large"),
    (bad_input, 422, "invalid_input"),
    (bug, 500, "internal"),
]


@pytest.fixture
def answer(acme: Fill, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Breaks the rules in one request, and answers the response."""
    settings.LOCAL_DEV_ORG = "acme"
    monkeypatch.setattr(errors.log, "error", lambda *_, **__: None)

    def send(*rules: Rule) -> Any:
        call = Call()
        for breaks, _, _ in rules:
            breaks(call)
        if call.scopes is not None:
            monkeypatch.setattr("apps.oauthmcp.bearer.ALL_SCOPES", call.scopes)
        settings.HTTPS_REQUIRED = call.needs_https
        if call.is_throttled:
            settings.RATE_LIMITS = True
            monkeypatch.setattr(throttle, "_buckets", throttle.Buckets(burst=0, per_second=0.01))
        if call.fails_with:
            monkeypatch.setattr(TOOLS["list_apps"], "run", lambda *_, **__: (_ for _ in ()).throw(call.fails_with))
        extra = {} if call.length is None else {"CONTENT_LENGTH": str(call.length)}
        client = Client(raise_request_exception=False)
        return client.generic(
            call.method, call.path, call.body, content_type=call.content_type, headers=call.headers, **extra
        )  # type: ignore[arg-type]

    return send


@pytest.mark.parametrize("rule", TABLE, ids=[rule[0].__name__ for rule in TABLE])
def test_each_rule_has_its_answer(answer: Callable[..., Any], rule: Rule) -> None:
    check(answer(rule), rule)


PAIRS = list(combinations(TABLE, 2))


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=[f"{a[0].__name__}-{b[0].__name__}" for a, b in PAIRS])
def test_of_two_broken_rules_the_earlier_is_answered(answer: Callable[..., Any], first: Rule, second: Rule) -> None:
    check(answer(first, second), first)


@pytest.mark.parametrize("start", range(len(TABLE)))
def test_of_all_broken_rules_from_one_on_the_first_is_answered(answer: Callable[..., Any], start: int) -> None:
    check(answer(*TABLE[start:]), TABLE[start])


def check(response: Any, rule: Rule) -> None:
    _, status, code = rule
    assert response.status_code == status, response.content
    assert response["X-Request-Id"]
    if code is None:
        assert response.content == b""
        return
    assert response.json()["code"] == code
    assert response.json()["requestId"] == response["X-Request-Id"]
    if code != "not_found":
        check_answer("list_apps", status, response.json(), response.headers)


def test_a_narrowed_token_is_told_the_scope_that_the_tool_needs(answer: Callable[..., Any]) -> None:
    challenge = answer((narrowed_token, 403, "insufficient_scope"))["WWW-Authenticate"]
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="apps:read"' in challenge
    assert "/.well-known/oauth-protected-resource/api/v1" in challenge


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "BREW"])
def test_a_token_comes_before_the_method(api: Any, method: str) -> None:
    if method == "HEAD":
        return  # it has no body to check; tests/config/test_gunicorn.py has one
    assert api.post("list_apps", method=method)["Allow"] == "POST, OPTIONS"
    assert api.post("list_apps", method=method).status_code == 405
    api.bearer = None
    assert api.post("list_apps", method=method).status_code == 401


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "", "*/*;q=0", "application/json;version=9", "x"])
def test_accept_is_ignored(api: Any, accept: str) -> None:
    assert api.post("list_apps", accept=accept).status_code == 200
    assert api.post("no_such_tool", accept=accept).status_code == 404
