"""POST /mcp: Streamable HTTP without streams and without sessions (MCP 2026-07-28, and the revisions before)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from apps.tools.calls import InsufficientScope
from apps.tools.challenges import insufficient_scope
from apps.tools.door import Door, caller_of
from apps.tools.mcp import resources
from apps.tools.mcp.eras import era_of
from apps.tools.mcp.errors import exception_handler, failed
from apps.tools.mcp.messages import read_message, result_of
from apps.tools.mcp.server import Call, McpServer
from apps.tools.mcp.tools import ToolMethods
from apps.tools.registry import TOOLS
from apps.web.body import read_body
from apps.web.cors import has_disallowed_origin
from apps.web.errors import request_id_of
from apps.web.exceptions import Refused
from apps.web.render import encode, json_response


class McpView(Door):
    """`server` is what there is to ask; tests hand in others."""

    metadata = "/.well-known/oauth-protected-resource/mcp"
    server = McpServer([ToolMethods(TOOLS, {"search_docs": resources.links}), resources.DocsResources()])

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuses in the order 405, 403 of a foreign page, 401, 429. The body's turn comes after these."""
        if request.method != "POST":
            raise Refused(405, "method_not_allowed", "Send messages with POST.", {"Allow": "POST, OPTIONS"})
        if has_disallowed_origin(request._request):  # such as by DNS rebinding
            raise Refused(403, "foreign_origin", "Pages of this site may not ask here.")
        self.perform_authentication(request)
        self.check_throttles(request)

    def post(self, request: Request) -> HttpResponse:
        message = read_message(read_body(request._request))
        request_id = request_id_of(request._request)
        try:
            era = era_of(message, request.headers)
            if message.id is None:  # a notification: there is nothing to say, and nothing that we would do
                return HttpResponse(status=202)
            call = Call(message, era, caller_of(request), request_id, partial(self.answer, request))
            result = result_of(message.id, self._result(call))
            if call.notifications and "text/event-stream" in request.headers.get("Accept", ""):
                return _event_stream([*call.notifications, result])
            return json_response(result)
        except Exception as error:
            raise failed(error, request_id, message.id) from error

    def _result(self, call: Call) -> dict[str, Any]:
        try:
            return self.server.answer(call)
        except InsufficientScope as missing:  # of what is no tool
            raise insufficient_scope(self.metadata, missing.scope) from None

    def get_exception_handler(self) -> Callable[..., HttpResponse]:
        return exception_handler


def _event_stream(messages: list[dict[str, Any]]) -> HttpResponse:
    """Notifications and their result as one body, complete when it is sent: no connection stays open for it."""
    response = json_response(None)
    response["Content-Type"] = "text/event-stream"
    response.content = b"".join(b"event: message\ndata: " + encode(message) + b"\n\n" for message in messages)
    return response
