"""Errors of the MCP door: JSON-RPC errors, with the HTTP status that the revision wants."""

from typing import Any

from django.http import HttpResponse

from apps.tools.errors import describe, request_id_of
from apps.tools.exceptions import InvalidInput, Refused
from apps.tools.mcp.messages import INTERNAL_ERROR, PARSE_ERROR, REFUSED, Id, RpcError, error_of
from apps.tools.render import json_response


def exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """What DRF calls. A refusal keeps its HTTP status and headers, and is of no message: it has no id."""
    if isinstance(error, InvalidInput):  # the body ended too early
        error = RpcError(PARSE_ERROR, error.problems[0].msg, 400)
    if isinstance(error, RpcError):
        return json_response(error_of(error), error.status)
    request_id = request_id_of(context["request"]._request)
    refused = describe(error, request_id)
    body = error_of(RpcError(REFUSED, refused.detail, data={"code": refused.code, "requestId": request_id}))
    return json_response(body, refused.status, refused.headers)


def failed(error: Exception, request_id: str, id: Id | None) -> Exception:
    """What to raise when answering a request failed: a bug is told to its asker, a refusal stays one."""
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
