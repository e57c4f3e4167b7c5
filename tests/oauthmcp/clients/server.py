"""Our server as clients see it, and the person who lets them in."""

from dataclasses import dataclass, field

from tests.accounts.visitors import PASSWORD
from tests.oauthmcp.clients.robot import sign_in_and_allow

EMAIL = "ada@example.com"
# Nothing listens there: the robot reads where it is sent instead of going there.
REDIRECT_URI = "http://127.0.0.1:33418/callback"


@dataclass
class Server:
    """Its address is the issuer, as for everybody who asks it."""

    url: str
    email: str = EMAIL
    password: str = PASSWORD

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp"

    def tool(self, name: str) -> str:
        return f"{self.url}/api/v1/tools/{name}"

    def allow(self, authorize_url: str, scope: str | None = None) -> str:
        assert authorize_url.startswith(f"{self.url}/api/auth/mcp/authorize?")
        return sign_in_and_allow(authorize_url, self.email, self.password, scope)


@dataclass
class Person:
    """Allows `scopes`, one after another, to whoever asks; None allows all that is asked for."""

    server: Server
    scopes: list[str | None] = field(default_factory=lambda: [None])
    asked: list[str] = field(default_factory=list)

    def allow(self, authorize_url: str) -> str:
        assert len(self.asked) < len(self.scopes), f"asked once more: {authorize_url}"
        scope = self.scopes[len(self.asked)]
        self.asked.append(authorize_url)
        return self.server.allow(authorize_url, scope)
