"""A server with the suite's fixtures behind its door, and somebody who may use it."""

from collections.abc import Iterator
from typing import Any

import pytest

from apps.orgs.models import Membership
from tests.conformance.proxy import proxy_to
from tests.factories import fill
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member

EMAIL = "ada@example.com"


@pytest.fixture
def server(live_server: Any, settings: Any) -> str:
    """Its address, which is also its issuer. ada is a member of acme."""
    settings.PUBLIC_URL = live_server.url
    settings.ROOT_URLCONF = "tests.conformance.urls"
    make_member(fill("acme").organization, EMAIL)
    return str(live_server.url)


@pytest.fixture
def mcp(server: str) -> Iterator[str]:
    """The door's address as one reaches it with ada's token on every request."""
    membership = Membership.objects.get(user__email=EMAIL)
    token = make_access_token(make_authorization(make_client(), membership))
    with proxy_to(server, token) as address:
        yield f"{address}/mcp"
