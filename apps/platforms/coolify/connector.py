"""The connector for Coolify: two lanes over one client."""

from collections.abc import Iterable

from apps.net.http import Client, HttpError
from apps.net.outbound import Network
from apps.platforms.connector import Detail, Identity, State, UpstreamError
from apps.platforms.coolify.calls import Api, unreachable
from apps.platforms.coolify.detail import DetailReader
from apps.platforms.coolify.identity import read_identity
from apps.platforms.coolify.places import Memory
from apps.platforms.coolify.state import Reading, StateReader, list_applications
from apps.platforms.snapshot import base

# Half of Coolify's own limit, which counts all calls of the token's user.
CALLS_PER_MINUTE = 100
NO_CONNECTIONS = "Coolify refused the list of connections, and this application is built with one of them."


class CoolifyConnector:
    """Reads the team of one API token. `reads_previews`: with Coolify's MCP server, where it is switched on.

    Worth keeping from one sync to the next: it remembers which environments there are, and asks for them in turns.
    Raises UpstreamError where `base_url` is no address, ValueError where the token cannot be sent.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        reads_previews: bool = False,
        allowed_networks: Iterable[Network] = (),
        calls_per_minute: int = CALLS_PER_MINUTE,
        timeout: float = 30,
    ) -> None:
        self.calls_per_minute = calls_per_minute
        self._site = base_url.strip().rstrip("/").removesuffix("/api/v1").removesuffix("/api")
        try:
            client = Client(
                self._site,
                headers={"Authorization": f"Bearer {token.strip()}"},
                calls_per_minute=calls_per_minute,
                allowed_networks=allowed_networks,
                timeout=timeout,
            )
        except HttpError as error:
            raise unreachable(error) from None
        self._api = Api(client)
        self._reads_previews = reads_previews
        self._reading: Reading | None = None
        self._memory = Memory()
        self._state_calls = 0

    def __repr__(self) -> str:
        return f"<CoolifyConnector of {self._site}>"

    @property
    def calls(self) -> int:
        return self._api.calls

    def identify(self) -> Identity:
        """Raises UpstreamError, also where the token may read secrets."""
        identity, _ = read_identity(self._api)
        list_applications(self._api)
        return identity

    def read_state(self, *, is_first: bool = False) -> State:
        before = self.calls
        self._api.left_out = 0
        reader = StateReader(self._api, self._site, self._memory, reads_previews=self._reads_previews)
        self._reading = reader.read(is_first=is_first)
        self._state_calls = self.calls - before
        return self._reading.state

    def state_calls(self) -> int:
        return self._state_calls

    def read_detail(self, app: base.AppState) -> Detail:
        reading = self._reading
        if reading is None or app.key not in reading.listed:
            raise UpstreamError("This application is not in what Coolify listed last.")
        listed = reading.listed[app.key]
        if listed.lacks_connection and not reading.knows_connections:
            raise UpstreamError(NO_CONNECTIONS)  # what is stored of its source stays
        reader = DetailReader(
            api=self._api, site=self._site, version=reading.version, reads_previews=self._reads_previews
        )
        return reader.read(listed)
