"""The demo on the day from which its times are told, served to a real MCP client."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.utils import timezone

from tests.mcp_clients.client import McpClient
from tests.mcp_clients.conftest import server  # noqa: F401  # the fixture
from tests.mcp_clients.kinds import KINDS
from tests.oauthmcp.clients.server import Person, Server

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: NOON)


@pytest.fixture
def client(noon: None, server: Server, tmp_path: Path) -> Iterator[McpClient]:  # noqa: F811
    with KINDS["mcp-auto"].connected(Person(server), tmp_path) as client:
        yield client
