"""The MCP SDK's own client: from a 401 to an answer, with nothing but a tool's address."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from django.utils import timezone
from mcp.client.auth import OAuthClientProvider

from apps.oauthmcp.models import AccessToken, Application, Authorization
from tests.oauthmcp.clients.sdk_app import App
from tests.oauthmcp.clients.server import Person, Server
from tests.patience import patience

SCOPES = "account:read apps:read config:read files:read docs:read"


def run(
    app: App, use: Callable[[httpx2.AsyncClient, OAuthClientProvider], Awaitable[None]], method: str | None = None
) -> None:
    async def session() -> None:
        provider = app.provider(app.person.server.tool("get_account"), method)
        async with httpx2.AsyncClient(auth=provider, timeout=patience()) as client:
            await use(client, provider)

    asyncio.run(session())


@pytest.mark.spec("MCP 2026-07-28 Authorization", "RFC 9728 §5", "RFC 8414 §3", "RFC 7591 §3")
@pytest.mark.parametrize("method", [None, "none", "client_secret_basic", "client_secret_post"])
def test_it_finds_its_way_in_from_the_challenge(server: Server, method: str | None) -> None:
    app = App(Person(server))

    async def use(client: httpx2.AsyncClient, provider: OAuthClientProvider) -> None:
        answer = await client.post(server.tool("get_account"), json={})
        assert answer.status_code == 200
        assert answer.json()["organization"]["slug"] == "acme"
        assert answer.json()["viewer"]["email"] == "ada@example.com"

    run(app, use, method)
    assert len(app.person.asked) == 1
    assert parse_qs(urlsplit(app.person.asked[0]).query)["resource"] == [f"{server.url}/api/v1"]
    assert app.tokens[0].scope is not None
    assert set(app.tokens[0].scope.split()) == set(SCOPES.split())
    registered = Application.objects.get(name="Test of the MCP SDK")
    assert app.client is not None
    assert app.client.token_endpoint_auth_method == registered.token_endpoint_auth_method
    assert app.client.token_endpoint_auth_method == (method or "client_secret_basic")


@pytest.mark.spec("RFC 6749 §6", "OAuth 2.1 §4.3.1")
@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post"])
def test_it_refreshes_without_asking_anybody(server: Server, method: str) -> None:
    app = App(Person(server))

    async def use(client: httpx2.AsyncClient, provider: OAuthClientProvider) -> None:
        await client.post(server.tool("get_account"), json={})
        for _ in range(2):
            provider.context.token_expiry_time = 1  # long ago
            answer = await client.post(server.tool("get_account"), json={})
            assert answer.status_code == 200

    run(app, use, method)
    assert len(app.person.asked) == 1
    assert len({tokens.access_token for tokens in app.tokens}) == 3
    assert len({tokens.refresh_token for tokens in app.tokens}) == 3


@pytest.mark.spec("MCP 2026-07-28 Authorization, Step-Up Authorization Flow", "RFC 6750 §3.1")
def test_it_asks_again_for_what_the_user_left_out(server: Server) -> None:
    app = App(Person(server, ["account:read", None]))

    async def use(client: httpx2.AsyncClient, provider: OAuthClientProvider) -> None:
        assert (await client.post(server.tool("get_account"), json={})).status_code == 200
        assert app.tokens[0].scope == "account:read"
        assert (await client.post(server.tool("list_apps"), json={})).status_code == 200

    run(app, use)
    assert len(app.person.asked) == 2


@pytest.mark.spec("RFC 6750 §3.1")
def test_it_keeps_its_way_in_until_the_user_takes_it_back(server: Server) -> None:
    app = App(Person(server, [None, None]))

    async def use(client: httpx2.AsyncClient, provider: OAuthClientProvider) -> None:
        assert (await client.post(server.tool("get_account"), json={})).status_code == 200

    run(app, use)
    run(app, use)  # started again, with what it has stored
    assert len(app.person.asked) == 1
    Authorization.objects.all().delete()
    run(app, use)
    assert len(app.person.asked) == 2
    assert Application.objects.filter(name="Test of the MCP SDK").count() == 1


# The SDK stores neither when a token ends nor where to refresh it, so it takes our 401 for the first one.
@pytest.mark.spec("RFC 6750 §3.1")
def test_started_again_after_its_token_ended_it_asks_its_user_and_registers_no_second_client(server: Server) -> None:
    app = App(Person(server, [None, None]))

    async def use(client: httpx2.AsyncClient, provider: OAuthClientProvider) -> None:
        assert (await client.post(server.tool("get_account"), json={})).status_code == 200

    run(app, use)
    AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
    run(app, use)
    assert len(app.person.asked) == 2
    assert Application.objects.filter(name="Test of the MCP SDK").count() == 1
