"""The MCP SDK: stateless streamable HTTP that answers JSON, which is its quickest way, with its own bearer check."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl, Field

from benchmarks.peers import rows

HERE = f"http://127.0.0.1:{os.environ['PORT']}"


class Verifier:
    pool: Any = None

    async def verify_token(self, token: str) -> AccessToken | None:
        found = await rows.organization_of(self.pool, token)
        if found is None:
            return None
        claims = {"organization": found}
        return AccessToken(token=token, client_id="bench", scopes=["apps:read"], subject=found[0], claims=claims)


verifier = Verifier()


@asynccontextmanager
async def lifespan(server: Any) -> AsyncIterator[None]:
    async with await rows.make_pool() as verifier.pool:
        yield


server = MCPServer(
    "bench",
    token_verifier=verifier,
    auth=AuthSettings(
        issuer_url=AnyHttpUrl(HERE), resource_server_url=AnyHttpUrl(f"{HERE}/mcp"), validate_token_resource=False
    ),
    lifespan=lifespan,
    log_level="ERROR",
)


@server.tool()
async def list_apps(limit: Annotated[int, Field(ge=1, le=100)] = 100) -> dict[str, Any]:
    """List applications by name."""
    token: Any = get_access_token()
    return await rows.list_apps(verifier.pool, *token.claims["organization"], limit)


app = server.streamable_http_app(json_response=True, stateless_http=True)
