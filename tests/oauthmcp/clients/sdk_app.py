"""What a program has around PyPI's MCP SDK: a place for tokens, and a browser for its user."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.oauthmcp.clients.server import REDIRECT_URI, Person


@dataclass
class App:
    person: Person
    tokens: list[OAuthToken] = field(default_factory=list)
    client: OAuthClientInformationFull | None = None
    came_back: str = ""

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens[-1] if self.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens.append(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info

    async def open_browser(self, authorize_url: str) -> None:
        self.came_back = self.person.allow(authorize_url)

    async def wait_for_callback(self) -> AuthorizationCodeResult:
        values = parse_qs(urlsplit(self.came_back).query)
        return AuthorizationCodeResult(code=values["code"][0], state=values["state"][0], iss=values["iss"][0])

    def provider(self, address: str, method: Any = None) -> OAuthClientProvider:
        metadata = OAuthClientMetadata(
            redirect_uris=[REDIRECT_URI],  # type: ignore[list-item]
            client_name="Test of the MCP SDK",
            token_endpoint_auth_method=method,
        )
        return OAuthClientProvider(address, metadata, self, self.open_browser, self.wait_for_callback)
