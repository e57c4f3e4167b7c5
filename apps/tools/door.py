"""What both doors share: who asks, how often, and how a call that needs another scope is refused."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

from django.http import HttpRequest, HttpResponse
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.orgs.callers import Caller
from apps.orgs.rows import Row
from apps.tools import calls
from apps.tools.base import Tool
from apps.tools.challenges import insufficient_scope, rate_limited, unauthorized
from apps.tools.throttle import CallerThrottle


class AlwaysJson(BaseContentNegotiation):
    """`Accept` is ignored: the answer is JSON, and never a 406."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return None

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class Door(APIView):
    """A way to the tools. `metadata` is where a client that was refused learns how to get a token for it (RFC 9728)."""

    metadata: ClassVar[str]
    throttle_classes = [CallerThrottle]
    permission_classes: list[Any] = []
    content_negotiation_class = AlwaysJson
    parser_classes: list[Any] = []
    renderer_classes = [JSONRenderer]
    post: Callable[..., HttpResponse]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """DRF's own, but for what no door needs: it would look for parsers, renderers and handlers each time.

        `initial` lets nothing but POST pass.
        """
        self.request = Request(request, authenticators=self.get_authenticators())
        try:
            self.initial(self.request, *args, **kwargs)
            response = self.post(self.request, *args, **kwargs)
        except Exception as error:
            response = self.handle_exception(error)
        return response

    def perform_authentication(self, request: Request) -> None:
        """Sets who asks, past DRF's way of doing that when somebody looks."""
        authenticators: Any = request.authenticators
        try:
            found: Any = next(filter(None, (it.authenticate(request) for it in authenticators)), None)
        except AuthenticationFailed:
            raise unauthorized(self.metadata, token_was_sent=True) from None
        if found is None:
            raise unauthorized(self.metadata, token_was_sent=False)
        request.user, request.auth = found

    def throttled(self, request: Request, wait: float | None) -> Any:
        raise rate_limited(wait)

    def answer(self, request: Request, tool: Tool, data: Row | Callable[[], Row]) -> bytes:
        """A call of the tool (see `calls.answer`). A missing scope is refused with this door's challenge."""
        try:
            return calls.answer(caller_of(request), tool, data)
        except calls.InsufficientScope as missing:
            raise insufficient_scope(self.metadata, missing.scope) from None


def caller_of(request: Request) -> Caller:
    """Who asks. The bearer check puts a Caller where Django would have a user."""
    return cast(Caller, request.user)
