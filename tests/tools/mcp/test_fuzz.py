"""Machine-made messages and headers: each gets one right JSON-RPC answer, and never a 5xx."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.tools.registry import TOOLS
from tests.examples import examples
from tests.tools.mcp.speaking import HEADERS, MODERN, MODERN_REQUEST, VERSIONS, Mcp, meta

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
METHODS = (
    st.sampled_from(["tools/call", "tools/list", "initialize", "ping", "server/discover", "notifications/x"]) | TEXT
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["applicationId", "limit", "cursor", "query", "path", "since"]) | TEXT, JSON
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(sorted(TOOLS)) | JSON,
        "arguments": ARGUMENTS | JSON,
        "_meta": st.just(meta()) | JSON,
        "cursor": JSON,
        "protocolVersion": st.sampled_from(VERSIONS) | JSON,
    },
)
ENVELOPES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON, "id": st.integers() | TEXT | JSON, "method": METHODS | JSON,
        "params": PARAMS | JSON, "result": JSON, "error": JSON,
    },
)  # fmt: skip
LIKELY = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.integers() | TEXT, "method": METHODS, "params": PARAMS}
)
HEADER = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=30)
HEADER_SETS = st.fixed_dictionaries(
    {},
    optional={
        "mcp_protocol_version": st.sampled_from(VERSIONS) | HEADER,
        "mcp_method": st.sampled_from(["tools/call", "tools/list"]) | HEADER,
        "mcp_name": st.sampled_from(sorted(TOOLS)) | HEADER | HEADER.map(lambda text: f"=?base64?{text}?="),
        "mcp_session_id": HEADER,
        "accept": HEADER,
    },
)
BOUNDS = examples(300)


def one_answer(response: Any) -> None:
    """post() has checked its form. Nothing but a right request is answered with a result, and nothing is a bug."""
    assert response.status_code in (200, 202, 400, 404)
    if response.status_code != 202:
        answer = response.json()
        assert ("result" in answer) != ("error" in answer)
        assert answer.get("error", {}).get("code") not in (-32603, -32000)


@BOUNDS
@given(body=LIKELY | ENVELOPES | JSON, headers=HEADER_SETS)
def test_any_json_with_any_headers_gets_one_right_answer(modern: Mcp, body: Any, headers: dict[str, str]) -> None:
    one_answer(modern.post(body, **headers))


@BOUNDS
@given(body=LIKELY)
def test_any_request_of_the_newest_revision_gets_one_right_answer(modern: Mcp, body: dict[str, Any]) -> None:
    body["params"]["_meta"] = meta()
    name = body["params"].get("name")
    header = name if isinstance(name, str) and name.isascii() and name.isprintable() else "x"
    sent = {"mcp_protocol_version": MODERN, "mcp_method": "tools/call", "mcp_name": header}
    one_answer(modern.post(body | {"method": "tools/call"}, **sent))


@BOUNDS
@given(body=st.binary(max_size=200))
def test_any_bytes_get_one_right_answer(modern: Mcp, body: bytes) -> None:
    one_answer(modern.post(body))
    assert modern.post(MODERN_REQUEST, **HEADERS).status_code == 200
