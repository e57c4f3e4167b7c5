"""The demo, served to real MCP clients, with everything that passes recorded."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse

from apps.tools.mcp.door import McpView
from tests.mcp_clients.wire import Exchange, Wire
from tests.oauthmcp.clients.server import Server


@pytest.fixture
def server(live_server: Any, settings: Any) -> Server:
    settings.PUBLIC_URL = live_server.url
    call_command("load_demo", verbosity=0)
    return Server(live_server.url, settings.DEMO_EMAIL, settings.DEMO_PASSWORD)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """Each answer is checked in the end, whatever the test was about."""
    wire, dispatch = Wire(), McpView.dispatch

    def recording(view: McpView, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        answer = dispatch(view, request, *args, **kwargs)
        sent = json.loads(request.body) if request.body else {}
        exchange = Exchange(
            request.method or "", request.headers, sent, answer.status_code, dict(answer.items()), answer.content
        )
        wire.exchanges.append(exchange)
        return answer

    monkeypatch.setattr(McpView, "dispatch", recording)
    yield wire
    for exchange in wire.exchanges:
        exchange.check()
