"""JSON-RPC 2.0: one request or notification in, one answer out."""

from dataclasses import dataclass, field
from typing import Any

from apps.web.body import parse
from apps.web.exceptions import InvalidInput

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
SERVER_ERROR = -32000
HEADER_MISMATCH = -32020
UNSUPPORTED_PROTOCOL_VERSION = -32022

Id = str | int


class RpcError(Exception):
    """`status` is HTTP's; `data` is sent to the client; `id` is the request's, where it could be read."""

    def __init__(self, code: int, message: str, status: int = 200, data: Any = None, id: Id | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.data = data
        self.id = id


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or without an id a notification."""

    method: str
    params: dict[str, Any] = field(default_factory=dict)
    id: Id | None = None

    @property
    def is_notification(self) -> bool:
        return self.id is None

    @property
    def meta(self) -> dict[str, Any]:
        meta: dict[str, Any] = self.params.get("_meta", {})
        return meta


def read_message(raw: bytes) -> Message:
    """Raises RpcError."""
    try:
        value = parse(raw)
    except InvalidInput as error:
        raise RpcError(PARSE_ERROR, error.problems[0].msg, 400) from None
    if isinstance(value, list):
        raise RpcError(INVALID_REQUEST, "Send one message at a time: batches are not supported.", 400)
    if not isinstance(value, dict):
        raise RpcError(INVALID_REQUEST, "The body must be a JSON-RPC message.", 400)
    id = value.get("id")
    if "id" in value and not _is_id(id):
        raise RpcError(INVALID_REQUEST, "id must be a string or a whole number of at most 64 bits.", 400)
    if value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'jsonrpc must be "2.0".', 400, id=id)
    if not isinstance(value.get("method"), str):
        raise RpcError(INVALID_REQUEST, "method must be a string.", 400, id=id)
    params = value.get("params", {})
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object.", 400, id=id)
    if not isinstance(params.get("_meta", {}), dict):  # it tells the era, so this is of neither
        raise RpcError(INVALID_PARAMS, "params._meta must be an object.", 400, id=id)
    return Message(value["method"], params, id)


def _is_id(value: Any) -> bool:
    """Longer numbers have no JSON here, so they could not be said back."""
    if isinstance(value, int) and not isinstance(value, bool):
        return -(2**63) <= value < 2**63
    return isinstance(value, str)


def result_of(id: Id, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def notification_of(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def error_of(error: RpcError) -> dict[str, Any]:
    """An error without an id is one of a message that could not be read, or was not parsed."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    answer: dict[str, Any] = {"jsonrpc": "2.0", "error": body}
    if error.id is not None:
        answer["id"] = error.id
    return answer
