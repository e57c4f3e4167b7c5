"""A server that real clients can reach, and somebody who lets them in."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.factories import fill
from tests.oauthmcp.clients.robot import sign_in_and_allow
from tests.oauthmcp.grants import make_member

EMAIL = "ada@example.com"
# Nothing listens there: the robot reads where it is sent instead of going there.
REDIRECT_URI = "http://127.0.0.1:33418/callback"


@dataclass
class Server:
    """Its address is the issuer, as for everybody who asks it."""

    url: str

    def tool(self, name: str) -> str:
        return f"{self.url}/api/v1/tools/{name}"

    def allow(self, authorize_url: str, scope: str | None = None) -> str:
        assert authorize_url.startswith(f"{self.url}/api/auth/mcp/authorize?")
        return sign_in_and_allow(authorize_url, EMAIL, scope=scope)


@pytest.fixture
def server(live_server: Any, settings: Any) -> Server:
    settings.PUBLIC_URL = live_server.url
    make_member(fill("acme").organization, EMAIL)
    fill("rival")
    return Server(live_server.url)
