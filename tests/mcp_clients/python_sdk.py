"""PyPI's mcp: its Client with its OAuthClientProvider."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.mcp_clients.client import Failed
from tests.oauthmcp.clients.sdk_app import App
from tests.oauthmcp.clients.server import Person
from tests.patience import patience


class PythonClient:
    """The SDK is asynchronous and lives in a thread of its own; `portal` leads there."""

    def __init__(self, portal: BlockingPortal, client: Client, provider: OAuthClientProvider) -> None:
        self.portal = portal
        self.client = client
        self.provider = provider

    def tools(self) -> list[dict[str, Any]]:
        listed = self.portal.call(self.client.list_tools)
        return [tool.model_dump(by_alias=True, exclude_unset=True) for tool in listed.tools]

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return self.portal.call(self.client.call_tool, name, arguments).model_dump(by_alias=True)
        except MCPError as error:
            raise Failed(str(error)) from error

    def resources(self) -> list[dict[str, Any]]:
        listed = self.portal.call(self.client.list_resources)
        return [resource.model_dump(by_alias=True, exclude_unset=True, mode="json") for resource in listed.resources]

    def read(self, uri: str) -> str:
        (content,) = self.portal.call(self.client.read_resource, uri).contents
        return str(content.text)

    def let_time_pass(self) -> None:
        self.provider.context.token_expiry_time = 1


@contextmanager
def connected(person: Person, home: Path, mode: str) -> Iterator[PythonClient]:
    address = person.server.mcp
    provider = App(person).provider(address)
    with start_blocking_portal() as portal:
        http = httpx2.AsyncClient(auth=provider, timeout=patience())
        with portal.wrap_async_context_manager(http):
            client = Client(streamable_http_client(address, http_client=http), mode=mode)
            with portal.wrap_async_context_manager(client):
                yield PythonClient(portal, client, provider)
