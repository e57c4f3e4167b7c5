"""The HTTP door: POST /api/v1/tools/:name calls the tool of that name."""

from typing import Any, cast

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from apps.tools.base import Tool
from apps.tools.door import Door
from apps.tools.registry import NO_SUCH_TOOL, TOOLS
from apps.web.body import read_object
from apps.web.exceptions import Refused
from apps.web.render import json_bytes


class ToolViewSet(Door, ViewSet):
    """Dispatches a call by the tool's name."""

    metadata = "/.well-known/oauth-protected-resource/api/v1"
    tool: Tool = cast(Tool, None)  # set by initial, or by schema.py for one path per tool

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuses in the contract's order: 401, 404, 405, 429. The scope's and the body's turn comes after these."""
        self.perform_authentication(request)
        tool = TOOLS.get(kwargs["name"])
        if tool is None:
            raise Refused(404, "unknown_tool", NO_SUCH_TOOL)
        self.tool = tool
        if request._request.method != "POST":
            raise Refused(405, "method_not_allowed", "Call a tool with POST.", {"Allow": "POST, OPTIONS"})
        self.check_throttles(request)

    def call(self, request: Request, name: str) -> HttpResponse:
        return json_bytes(self.answer(request, self.tool, lambda: read_object(request._request)))
