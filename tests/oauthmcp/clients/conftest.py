"""A server that real clients can reach, with an account for somebody who lets them in."""

from typing import Any

import pytest

from tests.factories import fill
from tests.oauthmcp.clients.server import EMAIL, Server
from tests.oauthmcp.grants import make_member


@pytest.fixture
def server(live_server: Any, settings: Any) -> Server:
    settings.PUBLIC_URL = live_server.url
    make_member(fill("acme").organization, EMAIL)
    fill("rival")
    return Server(live_server.url)
