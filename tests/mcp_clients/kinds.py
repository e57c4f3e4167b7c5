"""Which clients there are, how each is told to connect, and the revision that it and we then speak."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.mcp_clients import inspector, mcp_remote, npm_sdk, python_sdk
from tests.mcp_clients.client import McpClient
from tests.oauthmcp.clients.server import Person

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"


@dataclass(frozen=True)
class Kind:
    revision: str
    connected: Callable[[Person, Path], AbstractContextManager[McpClient]]


KINDS = {
    "mcp-auto": Kind(MODERN, partial(python_sdk.connected, mode="auto")),
    "mcp-pinned": Kind(MODERN, partial(python_sdk.connected, mode=MODERN)),
    "mcp-legacy": Kind(HANDSHAKE, partial(python_sdk.connected, mode="legacy")),
    "sdk": Kind(HANDSHAKE, partial(npm_sdk.connected, package="sdk")),
    "client-auto": Kind(MODERN, partial(npm_sdk.connected, package="client", mode="auto")),
    "client-pinned": Kind(MODERN, partial(npm_sdk.connected, package="client", mode={"pin": MODERN})),
    "client-legacy": Kind(HANDSHAKE, partial(npm_sdk.connected, package="client", mode="legacy")),
    "mcp-remote-auto": Kind(MODERN, partial(mcp_remote.connected, protocol="auto")),
    "mcp-remote-legacy": Kind(HANDSHAKE, partial(mcp_remote.connected, protocol="legacy")),
    "inspector-modern": Kind(MODERN, partial(inspector.connected, era="modern")),
    "inspector-legacy": Kind(HANDSHAKE, partial(inspector.connected, era="legacy")),
}
