"""logging/setLevel, a method of the handshake eras: accepted, and forgotten, as there is no session to keep it in."""

from collections.abc import Mapping
from typing import Any

from apps.tools.mcp.messages import METHOD_NOT_FOUND, RpcError
from apps.tools.mcp.server import Call, Method, Result


class FixtureLogging:
    capabilities: Mapping[str, Any] = {"logging": {}}

    def __init__(self) -> None:
        self.methods: Mapping[str, Method] = {"logging/setLevel": self.set_level}

    def set_level(self, call: Call) -> Result:
        if call.era.is_modern:
            raise RpcError(METHOD_NOT_FOUND, "There is no such method.", 404)
        return {}
