"""The order in which POST /mcp refuses: of several broken rules the first one is answered."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pytest
from django.test import Client

from apps.tools import throttle
from apps.tools.registry import TOOLS
from apps.web import errors
from tests.factories import Fill
from tests.tools.mcp.speaking import HANDSHAKE, VERSIONS, Mcp, check_response


@dataclass
class Call:
    """A request that is right in its revision; each rule breaks it in one way."""

    version: str
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    length: int | None = None
    breaks_json: bool = False
    scopes: frozenset[str] | None = None
    is_throttled: bool = False
    fails_with: Exception | None = None

    def __post_init__(self) -> None:
        mcp = Mcp(None, self.version)
        self.message = mcp.message("tools/call", {"name": "list_apps", "arguments": {}})
        fixed = {"host": "localhost", "authorization": "Bearer porthole-local-dev"}
        self.headers = fixed | mcp.headers(self.message)


def bad_host(call: Call) -> None:
    call.headers["host"] = "evil.example"


def preflight(call: Call) -> None:
    call.method = "OPTIONS"


def other_method(call: Call) -> None:
    if call.method == "POST":
        call.method = "DELETE"


def foreign_page(call: Call) -> None:
    call.headers["origin"] = "https://evil.example"


def no_token(call: Call) -> None:
    call.headers.pop("authorization")


def too_many_calls(call: Call) -> None:
    call.is_throttled = True


def other_type(call: Call) -> None:
    call.content_type = "text/plain"


def chunked(call: Call) -> None:
    call.headers["transfer-encoding"] = "chunked"


def too_large(call: Call) -> None:
    call.length = 64 * 1024 + 1


def not_json(call: Call) -> None:
    call.breaks_json = True


def no_request(call: Call) -> None:
    call.message.pop("jsonrpc")


def other_version(call: Call) -> None:
    call.headers["mcp-protocol-version"] = "1999-01-01"


def unknown_method(call: Call) -> None:
    call.message["method"] = "tools/everything"
    if "mcp-method" in call.headers:
        call.headers["mcp-method"] = "tools/everything"


def narrowed_token(call: Call) -> None:
    call.scopes = frozenset({"docs:read"})


def bad_input(call: Call) -> None:
    call.message["params"]["arguments"] = {"limit": "7"}


def bug(call: Call) -> None:
    call.fails_with = RuntimeError("hunter2")


Rule = tuple[Callable[[Call], None], int, Any]
FAILED = "isError"
TABLE: list[Rule] = [
    (bad_host, 400, -32000),
    (preflight, 204, None),
    (other_method, 405, -32000),
    (foreign_page, 403, -32000),
    (no_token, 401, -32000),
    (too_many_calls, 429, -32000),
    (other_type, 415, -32000),
    (chunked, 411, -32000),
    (too_large, 413, -32000),
    (not_json, 400, -32700),
    (no_request, 400, -32600),
    (other_version, 400, -32020),
    (unknown_method, 404, -32601),
    (narrowed_token, 403, -32000),
    (bad_input, 200, FAILED),
    (bug, 200, -32603),
]
# The same before the newest revision, where it is told otherwise.
BEFORE = {other_version: (400, -32022), unknown_method: (200, -32601)}


@pytest.fixture
def answer(acme: Fill, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Breaks the rules in one request, and answers the response."""
    settings.LOCAL_DEV_ORG = "acme"
    monkeypatch.setattr(errors.log, "error", lambda *_, **__: None)

    def send(version: str, *rules: Rule) -> Any:
        call = Call(version)
        for breaks, _, _ in rules:
            breaks(call)
        with monkeypatch.context() as patched:
            if call.scopes is not None:
                patched.setattr("apps.oauthmcp.bearer.ALL_SCOPES", call.scopes)
            settings.RATE_LIMITS = call.is_throttled
            patched.setattr(throttle, "_buckets", throttle.Buckets(burst=0, per_second=0.01))
            if call.fails_with:
                patched.setattr(TOOLS["list_apps"], "run", lambda *_, **__: (_ for _ in ()).throw(call.fails_with))
            body = json.dumps(call.message).encode() + (b"}" if call.breaks_json else b"")
            extra: Any = {} if call.length is None else {"CONTENT_LENGTH": str(call.length)}
            return Client(raise_request_exception=False).generic(
                call.method, "/mcp", body, content_type=call.content_type, headers=call.headers, **extra
            )

    return send


def check(response: Any, version: str, rule: Rule) -> None:
    check_response(response)
    breaks, *told = rule
    status, code = BEFORE.get(breaks, told) if version in HANDSHAKE else told
    assert response.status_code == status, response.content
    if code is None:
        assert response.content == b""
    elif code == FAILED:
        assert response.json()["result"]["isError"]
    else:
        assert response.json()["error"]["code"] == code


@pytest.mark.parametrize("rule", TABLE, ids=[rule[0].__name__ for rule in TABLE])
@pytest.mark.parametrize("version", VERSIONS)
def test_each_rule_has_its_answer(answer: Callable[..., Any], version: str, rule: Rule) -> None:
    check(answer(version, rule), version, rule)


@pytest.mark.parametrize("version", VERSIONS)
def test_of_two_broken_rules_the_earlier_is_answered(answer: Callable[..., Any], version: str) -> None:
    for first, second in combinations(TABLE, 2):
        check(answer(version, first, second), version, first)


@pytest.mark.parametrize("version", VERSIONS)
def test_of_all_broken_rules_from_one_on_the_first_is_answered(answer: Callable[..., Any], version: str) -> None:
    for start in range(len(TABLE)):
        check(answer(version, *TABLE[start:]), version, TABLE[start])
