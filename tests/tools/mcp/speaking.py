"""A client of POST /mcp in either era that checks every answer, errors included, against the published schema."""

import json
from functools import cache
from typing import Any

import mcp_types._v2025_11_25 as handshake
import mcp_types._v2026_07_28 as modern
from django.http import HttpResponseBase
from django.test import Client
from mcp_types.methods import CLIENT_NOTIFICATIONS, CLIENT_REQUESTS, SERVER_RESULTS
from pydantic import TypeAdapter

MODERN = "2026-07-28"
HANDSHAKE = ["2025-11-25", "2025-06-18", "2025-03-26"]
VERSIONS = [MODERN, *HANDSHAKE]
PREFIX = "io.modelcontextprotocol/"
PATH = "/mcp"
# Whose errors the schema describes one by one; any other code is only an Error.
ERRORS: dict[int, Any] = {
    -32700: modern.ParseError,
    -32600: modern.InvalidRequestError,
    -32601: modern.MethodNotFoundError,
    -32602: modern.InvalidParamsError,
    -32603: modern.InternalError,
}
WHOLE_ERRORS: dict[int, Any] = {
    -32020: modern.HeaderMismatchError,
    -32022: modern.UnsupportedProtocolVersionError,
}
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Mcp:
    """`mcp("tools/list")` answers a request's result; `mcp.send` gives the whole response, `mcp.post` sends anything.

    It speaks `version` as its revision wants: the newest with headers and _meta, the others with one header.
    """

    def __init__(self, bearer: str | None, version: str = MODERN) -> None:
        self.client = Client(raise_request_exception=False, headers={"host": "localhost"})
        self.bearer = bearer
        self.version = version

    @property
    def is_modern(self) -> bool:
        return self.version == MODERN

    def __call__(self, method: str, /, **params: Any) -> dict[str, Any]:
        response = self.send(method, params)
        assert response.status_code == 200, response.content
        return response.json()["result"]

    def tool(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The result of a call of a tool, which may be a failure."""
        return self("tools/call", name=name, arguments=arguments)

    def error(self, method: str, params: Any = None, **headers: str | None) -> tuple[int, int]:
        """HTTP's status and JSON-RPC's code of a request that is refused."""
        response = self.send(method, params, **headers)
        return response.status_code, response.json()["error"]["code"]

    def message(self, method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
        """A request; a notification where id is None."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if id is not None:
            message["id"] = id
        if self.is_modern and id is not None:
            params = {"_meta": meta()} | (params or {})
        if params is not None:
            message["params"] = params
        return message

    def headers(self, message: Any) -> dict[str, str]:
        """Those that this revision wants with a message."""
        if not self.is_modern:
            return {"mcp-protocol-version": self.version}
        sent = {"mcp-protocol-version": MODERN, "mcp-method": message["method"]}
        name = message.get("params", {}).get(NAMED.get(message["method"], ""))
        return sent | ({"mcp-name": name} if isinstance(name, str) else {})

    def send(self, method: str, params: Any = None, *, id: Any = 1, **headers: str | None) -> Any:
        """The whole response. A header given as None is left out; underscores stand for hyphens."""
        message = self.message(method, params, id)
        sent: dict[str, str | None] = {**self.headers(message)}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        response = self.post(message, **{name: value for name, value in sent.items() if value is not None})
        answer = json.loads(response.content) if response.content else {}
        if "result" in answer:
            assert answer["id"] == id
            check_result(method, self.version, answer["result"])
        return response

    def post(self, body: Any, *, method: str = "POST", path: str = PATH, environ: Any = None, **headers: str) -> Any:
        """`body` is sent as JSON, or as it is where it is bytes; no header of MCP is added. `environ` is WSGI's."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        content_type = sent.pop("content-type", "application/json")
        if self.bearer is not None:
            sent.setdefault("authorization", f"Bearer {self.bearer}")
        response = self.client.generic(
            method, path, content, content_type=content_type, headers=sent, **(environ or {})
        )
        check_response(response)
        return response


def meta(**more: Any) -> dict[str, Any]:
    """What every request of the newest revision has in params._meta."""
    return {f"{PREFIX}protocolVersion": MODERN, f"{PREFIX}clientCapabilities": {}, **more}


# A request that needs nothing, without and with what the newest revision wants.
REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
MODERN_REQUEST = REQUEST | {"params": {"_meta": meta()}}
HEADERS = {"mcp_protocol_version": MODERN, "mcp_method": "tools/list"}


def refusal(response: Any) -> tuple[int, int, Any]:
    """HTTP's status, JSON-RPC's code, and the id that the error is about (None: no id)."""
    answer = response.json()
    return response.status_code, answer["error"]["code"], answer.get("id")


def failure(result: dict[str, Any]) -> dict[str, Any]:
    """The error that a tool's result tells: its code and detail."""
    assert result["isError"] is True
    assert "structuredContent" not in result
    (block,) = result["content"]
    assert block["type"] == "text"
    return json.loads(block["text"])


def check_response(response: HttpResponseBase) -> None:
    """Fails unless this is 202 or 204 and empty, or one JSON-RPC answer with what every answer has."""
    assert response["X-Request-Id"]
    for name in ("Mcp-Session-Id", "Set-Cookie"):
        assert name not in response.headers
    content = response.content  # type: ignore[attr-defined]
    if response.status_code in (202, 204):
        assert content == b""
        return
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert int(response["Content-Length"]) == len(content) <= 300 * 1024
    assert response.status_code in (200, 400, 401, 403, 404, 405, 411, 413, 415, 429, 500, 503)
    check_answer(json.loads(content))


def check_answer(answer: Any) -> None:
    """Fails unless the published schemas of both eras know this JSON-RPC answer, down to each member."""
    assert answer["jsonrpc"] == "2.0"
    if "result" in answer:
        for era in (modern, handshake):
            if era is handshake or "resultType" in answer["result"]:
                check(era.JSONRPCResultResponse, answer)
        return
    for era in (modern, handshake):
        check(era.JSONRPCErrorResponse, answer)
    error = answer["error"]
    assert error["message"]
    if error["code"] in WHOLE_ERRORS:
        check(WHOLE_ERRORS[error["code"]], answer)
    elif error["code"] in ERRORS:
        check(ERRORS[error["code"]], error)
    else:
        assert error["code"] == -32000  # of the codes that are a server's own, the one that says: see the HTTP status


def check_result(method: str, version: str, result: dict[str, Any]) -> None:
    check(SERVER_RESULTS[method, version], result)


def check_request(method: str, version: str, message: dict[str, Any]) -> None:
    surface = CLIENT_REQUESTS if "id" in message else CLIENT_NOTIFICATIONS
    check(surface[method, version], message)


def check(model: Any, value: Any) -> None:
    """Fails unless the model takes the value, and knows all of it: a member that it does not know gets lost in it."""
    adapter = _adapter(model)
    kept = adapter.dump_python(adapter.validate_python(value), by_alias=True, exclude_unset=True, mode="json")
    assert kept == value


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)
