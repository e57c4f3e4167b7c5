"""The HTTP door: POST /api/v1/tools/:name calls the tool of that name."""

from typing import Any, NoReturn, cast

from django.http import HttpResponse
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from apps.tools.base import Caller, Tool
from apps.tools.body import read_object
from apps.tools.challenges import insufficient_scope, rate_limited, unauthorized
from apps.tools.exceptions import Refused
from apps.tools.registry import TOOLS
from apps.tools.render import json_response
from apps.tools.throttle import CallerThrottle

# RFC 9728: where a client that was refused learns how to get a token for this door.
METADATA = "/.well-known/oauth-protected-resource/api/v1"


class AlwaysJson(BaseContentNegotiation):
    """`Accept` is ignored: the answer is JSON, and never a 406."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return None

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


def caller_of(request: Request) -> Caller:
    """Who asks. The bearer check puts a Caller where Django would have a user."""
    return cast(Caller, request.user)


class HasScope(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        return view.tool.scope in caller_of(request).org.scopes


class ToolViewSet(ViewSet):
    """Dispatches a call by the tool's name."""

    permission_classes = [HasScope]
    throttle_classes = [CallerThrottle]
    content_negotiation_class = AlwaysJson
    parser_classes: list[Any] = []
    renderer_classes = [JSONRenderer]
    tool: Tool = cast(Tool, None)  # set by initial, or by schema.py for one path per tool

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuses in the contract's order: 401, 404, 405, 429, 403. The body's turn comes after these."""
        self.perform_authentication(request)
        tool = TOOLS.get(kwargs["name"])
        if tool is None:
            raise Refused(404, "unknown_tool", "There is no tool of this name. See /api/v1/openapi.json.")
        self.tool = tool
        if request.method != "POST":
            raise Refused(405, "method_not_allowed", "Call a tool with POST.", {"Allow": "POST, OPTIONS"})
        self.check_throttles(request)
        self.check_permissions(request)

    def call(self, request: Request, name: str) -> HttpResponse:
        return json_response(self.tool.answer(caller_of(request).org, read_object(request._request)))

    def perform_authentication(self, request: Request) -> None:
        try:
            caller = request.user
        except AuthenticationFailed:
            raise unauthorized(METADATA, token_was_sent=True) from None
        if caller is None:
            raise unauthorized(METADATA, token_was_sent=False)

    def permission_denied(self, request: Request, message: str | None = None, code: str | None = None) -> NoReturn:
        raise insufficient_scope(METADATA, self.tool.scope)

    def throttled(self, request: Request, wait: float | None) -> NoReturn:
        raise rate_limited(wait)
