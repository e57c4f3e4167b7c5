"""Every path as in production, but behind /mcp the tools, prompts and resources that the suite asks for."""

from django.urls import re_path

from apps.tools.mcp.door import McpView
from apps.tools.mcp.server import McpServer
from config import urls
from config.urls import handler400, handler403, handler404, handler429, handler500
from tests.conformance.levels import FixtureLogging
from tests.conformance.prompts import FixturePrompts
from tests.conformance.resources import FixtureResources
from tests.conformance.tools import FixtureTools

__all__ = ["handler400", "handler403", "handler404", "handler429", "handler500", "urlpatterns"]

FIXTURES = McpServer([FixtureTools(), FixturePrompts(), FixtureResources(), FixtureLogging()])

urlpatterns = [re_path(r"^mcp/?\Z", McpView.as_view(server=FIXTURES)), *urls.urlpatterns]
