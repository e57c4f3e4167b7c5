"""Errors of the MCP door: JSON-RPC errors, with the HTTP status that the revision wants."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from apps.tools.mcp.messages import INTERNAL_ERROR, PARSE_ERROR, SERVER_ERROR, Id, RpcError, error_of
from apps.web.errors import describe, request_id_of
from apps.web.exceptions import ENDED_TOO_EARLY, Refused
from apps.web.render import json_response


def respond_rpc(request: HttpRequest, refused: Refused) -> HttpResponse:
    """A JSON-RPC error of no message, so without an id: what was sent to /mcp was not parsed. The status says why."""
    code = INTERNAL_ERROR if refused.status == 500 else SERVER_ERROR
    data = {"code": refused.code, "requestId": request_id_of(request), **retry_of(refused)}
    body = {"jsonrpc": "2.0", "error": {"code": code, "message": refused.detail, "data": data}}
    return json_response(body, refused.status, refused.headers)


def retry_of(refused: Refused) -> dict[str, int]:
    """What HTTP tells in a header, which models do not see."""
    return {} if refused.retry_after is None else {"retryAfterSeconds": refused.retry_after}


def exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """What DRF calls. A refusal keeps its HTTP status and headers, and is of no message: it has no id."""
    request = context["request"]._request
    if not isinstance(error, RpcError):
        refused = describe(error, request_id_of(request))
        if refused.status != 422:
            return respond_rpc(request, refused)
        # The only input that is refused while it is read.
        error = RpcError(PARSE_ERROR, ENDED_TOO_EARLY, 400)
    return json_response(error_of(error), error.status)


def failed(error: Exception, request_id: str, id: Id | None) -> Exception:
    """What to raise when answering a request failed: a bug becomes a JSON-RPC error, a refusal stays one."""
    if isinstance(error, RpcError):
        error.id = id
        return error
    refused = describe(error, request_id)
    if refused.status == 500:
        return RpcError(INTERNAL_ERROR, refused.detail, data={"requestId": request_id}, id=id)
    return refused


def as_failure(error: Exception, request_id: str) -> Refused:
    """What a model can read and correct: input that is refused, something that is not there, a source that is away.

    Raises Refused for anything else.
    """
    refused = describe(error, request_id)
    if refused.status not in (422, 503):
        raise refused from error
    return refused
