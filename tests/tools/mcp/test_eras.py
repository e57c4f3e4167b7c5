"""Which revision a message speaks, what its headers must say, and what each era answers to what is wrong."""

import base64
from typing import Any

import pytest

from apps.tools.mcp.server import SERVER_INFO
from tests.tools.mcp.speaking import (
    HANDSHAKE,
    HEADERS,
    MODERN,
    MODERN_REQUEST,
    PREFIX,
    REQUEST,
    VERSIONS,
    Mcp,
    meta,
    refusal,
)

# Which era


@pytest.mark.parametrize("version", HANDSHAKE)
def test_a_handshake_revision_is_told_by_its_header(handshake: Mcp, version: str) -> None:
    assert handshake.post(REQUEST, mcp_protocol_version=version).status_code == 200


def test_without_a_header_the_oldest_revision_is_assumed(handshake: Mcp) -> None:
    result = handshake.post(REQUEST).json()["result"]
    assert "resultType" not in result


def test_a_request_with_modern_meta_is_modern_whatever_else_it_lacks(modern: Mcp) -> None:
    assert refusal(modern.post(MODERN_REQUEST)) == (400, -32020, 1)
    for version in HANDSHAKE:
        assert refusal(modern.post(MODERN_REQUEST, mcp_protocol_version=version, mcp_method="tools/list")) == (
            400, -32020, 1,
        )  # fmt: skip


@pytest.mark.parametrize(
    "params",
    [
        None, {}, {"_meta": {}}, {"_meta": None}, {"_meta": []}, {"_meta": "x"},
        {"_meta": {f"{PREFIX}clientCapabilities": {}}},
        {"_meta": {f"{PREFIX}protocolVersion": MODERN}},
        {"_meta": meta() | {f"{PREFIX}clientCapabilities": None}},
        {"_meta": meta() | {f"{PREFIX}clientCapabilities": []}},
        {"_meta": meta() | {f"{PREFIX}protocolVersion": None}},
        {"_meta": meta() | {f"{PREFIX}protocolVersion": 20260728}},
        {"_meta": meta() | {f"{PREFIX}protocolVersion": [MODERN]}},
    ],
    ids=str,
)  # fmt: skip
def test_a_modern_header_wants_meta(modern: Mcp, params: Any) -> None:
    body = REQUEST | ({} if params is None else {"params": params})
    assert refusal(modern.post(body, **HEADERS)) == (400, -32602, 1)


@pytest.mark.parametrize(
    "version",
    ["2024-11-05", "2024-10-07", "2025-11-24", "2026-07-27", "2026-07-29", "2099-01-01", "DRAFT-2026-v1", "1", "x", "",
     "  ", "2026-07-28, 2026-07-28", "2025-11-25,2025-11-25", "é", "x" * 5000, "2026-07-28\u00a0"],
)  # fmt: skip
def test_a_version_that_is_none_of_ours_is_refused_with_those_that_are(handshake: Mcp, version: str) -> None:
    response = handshake.post(REQUEST, mcp_protocol_version=version)
    assert refusal(response) == (400, -32022, 1)
    data = response.json()["error"]["data"]
    assert data["supported"] == VERSIONS
    assert data["requested"] == version.strip(" \t")[:100]


@pytest.mark.parametrize("version", ["2027-01-01", "2025-11-25", "2024-11-05", "", "nonsense", "\U0001f511"])
def test_a_version_in_meta_that_is_none_of_the_newest_is_refused_with_those_that_are(modern: Mcp, version: str) -> None:
    body = REQUEST | {"params": {"_meta": meta() | {f"{PREFIX}protocolVersion": version}}}
    if not version.isascii():
        assert refusal(modern.post(body, **HEADERS)) == (400, -32020, 1)
        return
    response = modern.post(body, mcp_protocol_version=version, mcp_method="tools/list")
    assert refusal(response) == (400, -32022, 1)
    assert response.json()["error"]["data"] == {"supported": VERSIONS, "requested": version}


def test_a_client_that_disagrees_with_itself_is_told_so_before_its_version_is_looked_at(modern: Mcp) -> None:
    body = REQUEST | {"params": {"_meta": meta() | {f"{PREFIX}protocolVersion": "2099-01-01"}}}
    assert refusal(modern.post(body, **HEADERS)) == (400, -32020, 1)


def test_other_meta_does_not_make_a_request_modern(handshake: Mcp) -> None:
    params = {"_meta": {"progressToken": 1, f"{PREFIX}clientCapabilities": {}}}
    response = handshake.post(REQUEST | {"params": params}, mcp_protocol_version="2025-11-25")
    assert "resultType" not in response.json()["result"]


# Headers of the newest revision


CALL = {"name": "list_apps", "arguments": {}}


@pytest.mark.parametrize("name", ["mcp_protocol_version", "mcp_method", "mcp_name"])
@pytest.mark.parametrize("value", [None, "", "x", "TOOLS/CALL", "list_domains", "2025-11-25", "tools/call,tools/call"])
def test_a_header_that_is_missing_or_says_something_else_is_a_mismatch(
    modern: Mcp, name: str, value: str | None
) -> None:
    response = modern.send("tools/call", CALL, **{name.replace("_", "-"): value})
    assert refusal(response) == (400, -32020, 1)
    assert name.replace("_", "-") in response.json()["error"]["message"].lower()


def test_headers_are_trimmed(modern: Mcp) -> None:
    sent = {"mcp-protocol-version": f" {MODERN}\t", "mcp-method": "\ttools/call ", "mcp-name": "  list_apps "}
    assert modern.send("tools/call", CALL, **sent).status_code == 200


def test_names_of_headers_are_read_in_any_case(modern: Mcp) -> None:
    sent = {"MCP-PROTOCOL-VERSION": MODERN, "Mcp-METHOD": "tools/list"}
    assert modern.post(MODERN_REQUEST, **sent).status_code == 200


def encoded(name: str) -> str:
    return f"=?base64?{base64.b64encode(name.encode()).decode()}?="


def test_a_name_may_come_as_base64(modern: Mcp) -> None:
    for value in (encoded("list_apps"), f"  {encoded('list_apps')} "):
        assert modern.send("tools/call", CALL, mcp_name=value).status_code == 200
    assert modern.error("tools/call", {"name": "é\n"}, mcp_name=encoded("é\n")) == (200, -32602)


@pytest.mark.parametrize(
    "value",
    [
        encoded("list_domains"), encoded(""), "=?base64??=", "=?base64?bGlzdF9hcHBz", "=?base64?!!!?=", "=?base64?b?=",
        "=?base64?/w==?=", "=?base64?é?=", "=?base64?7aCA?=", "=?base64?bGlzdF9h cHBz?=", "=?base64?=", "=?BASE64?x?=",
        "=?utf-8?B?bGlzdF9hcHBz?=", "=?base64?" + "A" * 9000 + "?=", "bGlzdF9hcHBz",
    ],
)  # fmt: skip
def test_a_name_in_base64_that_does_not_say_the_name_is_a_mismatch(modern: Mcp, value: str) -> None:
    assert modern.error("tools/call", CALL, mcp_name=value) == (400, -32020)


def test_a_call_that_names_nothing_is_malformed_and_not_a_mismatch(modern: Mcp) -> None:
    assert modern.error("tools/call", {}) == (200, -32602)
    assert modern.error("tools/call", {}, mcp_name="list_apps") == (400, -32020)
    assert modern.error("tools/call", {"name": 7}, mcp_name="7") == (400, -32020)


@pytest.mark.parametrize("header", [{"mcp_name": "x"}, {"mcp_name": "=?base64?é?="}, {"mcp_param_x": "y"}])
def test_headers_that_a_method_does_not_want_do_no_harm(modern: Mcp, header: dict[str, str]) -> None:
    assert modern.send("tools/list", **header).status_code == 200


@pytest.mark.parametrize("header", [{"mcp_method": "x"}, {"mcp_name": "x"}])
def test_headers_of_the_newest_revision_mean_nothing_before(handshake: Mcp, header: dict[str, str]) -> None:
    assert handshake.send("tools/call", CALL, **header).status_code == 200


# Methods


@pytest.mark.parametrize(
    "asked", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", MODERN, "2099-01-01", "", "nonsense"]
)
def test_initialize_answers_the_clients_version_or_the_newest_with_a_handshake(handshake: Mcp, asked: str) -> None:
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    for headers in ({"mcp_protocol_version": None}, {}):
        result = handshake.send("initialize", params, **headers).json()["result"]
        assert result["protocolVersion"] == (asked if asked in HANDSHAKE else "2025-11-25")
        assert result["serverInfo"] == SERVER_INFO


@pytest.mark.parametrize(
    "params", [None, {}, {"protocolVersion": None}, {"protocolVersion": 7}, {"protocolVersion": []}]
)
def test_initialize_without_a_version_is_malformed(handshake: Mcp, params: Any) -> None:
    assert handshake.error("initialize", params) == (200, -32602)


COMMON = ["", "x", "tools", "tools/", "Tools/List", "prompts/list", "resources/lists", "logging/setLevel",
          "resources/subscribe", "subscriptions/listen", "completion/complete", "tasks/list", "sampling/createMessage",
          "__class__", "notifications/initialized", "rpc.discover", "x" * 5000]  # fmt: skip


@pytest.mark.parametrize("method", [*COMMON, "initialize", "ping"])
def test_a_method_that_the_newest_revision_does_not_have_is_not_found(modern: Mcp, method: str) -> None:
    assert refusal(modern.send(method, id="a")) == (404, -32601, "a")


def test_a_method_that_a_header_cannot_say_is_a_mismatch(modern: Mcp) -> None:
    for method in ("tools/list ", " ", "tools/list\n"):
        assert refusal(modern.send(method, id="a", **{"mcp-method": method.strip()})) == (400, -32020, "a")


@pytest.mark.parametrize("method", [*COMMON, "server/discover"])
def test_a_method_that_the_handshake_revisions_do_not_have_is_answered_with_200(handshake: Mcp, method: str) -> None:
    assert refusal(handshake.send(method, id="a")) == (200, -32601, "a")


def test_ping_is_answered_in_every_revision_that_has_it(mcp: Mcp) -> None:
    if mcp.is_modern:
        assert mcp.error("ping") == (404, -32601)
    else:
        assert mcp("ping") == {}


@pytest.mark.parametrize(
    "params",
    [
        {"name": "no_such_tool"}, {"name": ""}, {"name": "list_apps "}, {"name": "LIST_APPS"}, {"name": "__class__"},
        {"name": "list_apps", "arguments": []}, {"name": "list_apps", "arguments": None},
        {"name": "list_apps", "arguments": "{}"}, {"name": "list_apps", "arguments": 7}, {},
    ],
    ids=str,
)  # fmt: skip
def test_an_unknown_tool_and_a_malformed_call_are_invalid_params(mcp: Mcp, params: dict[str, Any]) -> None:
    if str(params.get("name", "")).strip() != params.get("name", ""):
        assert mcp.error("tools/call", params, mcp_name=encoded(params["name"])) == (200, -32602)
    else:
        assert mcp.error("tools/call", params) == (200, -32602)


@pytest.mark.parametrize("name", [None, 7, True, [], {"a": 1}, ["list_apps"]])
def test_a_name_that_is_no_text_is_invalid(handshake: Mcp, modern: Mcp, name: Any) -> None:
    assert handshake.error("tools/call", {"name": name}) == (200, -32602)
    assert modern.error("tools/call", {"name": name}) == ((200, -32602) if name is None else (400, -32020))
