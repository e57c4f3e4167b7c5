"""Clients of POST /mcp that ask as acme, in the newest revision and in those with a handshake."""

from typing import Any

import pytest

from tests.factories import Fill
from tests.tools.catalog.conftest import Checkout, checkout  # noqa: F401  # the fixture
from tests.tools.mcp.speaking import HANDSHAKE, MODERN, VERSIONS, Mcp


@pytest.fixture
def modern(acme: Fill, rival: Fill, settings: Any) -> Mcp:
    settings.LOCAL_DEV_ORG = "acme"
    return Mcp(settings.LOCAL_DEV_BEARER, MODERN)


@pytest.fixture
def handshake(acme: Fill, rival: Fill, settings: Any) -> Mcp:
    settings.LOCAL_DEV_ORG = "acme"
    return Mcp(settings.LOCAL_DEV_BEARER, HANDSHAKE[0])


@pytest.fixture(params=VERSIONS)
def mcp(request: Any, acme: Fill, rival: Fill, settings: Any) -> Mcp:
    """Each revision in turn."""
    settings.LOCAL_DEV_ORG = "acme"
    return Mcp(settings.LOCAL_DEV_BEARER, request.param)
