"""FastMCP: stateless streamable HTTP that answers JSON, with its own bearer check."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastmcp import FastMCP
from fastmcp.server.auth import AccessToken, TokenVerifier
from fastmcp.server.dependencies import get_access_token
from pydantic import Field

from benchmarks.peers import rows


class Verifier(TokenVerifier):
    pool: Any = None

    async def verify_token(self, token: str) -> AccessToken | None:
        found = await rows.organization_of(self.pool, token)
        if found is None:
            return None
        return AccessToken(token=token, client_id="bench", scopes=["apps:read"], claims={"organization": found})


verifier = Verifier()


@asynccontextmanager
async def lifespan(server: Any) -> AsyncIterator[None]:
    async with await rows.make_pool() as verifier.pool:
        yield


server = FastMCP("bench", auth=verifier, lifespan=lifespan)


@server.tool
async def list_apps(limit: Annotated[int, Field(ge=1, le=100)] = 100) -> dict[str, Any]:
    """List applications by name."""
    token: Any = get_access_token()
    return await rows.list_apps(verifier.pool, *token.claims["organization"], limit)


app = server.http_app(json_response=True, stateless_http=True)
