"""npm's mcp-remote: to us a client, to the program beside it a server on standard input and output."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.mcp_clients.browser import browser_of
from tests.mcp_clients.client import Failed
from tests.mcp_clients.lines import Program
from tests.oauthmcp.clients.node import NODE, environment, need_package
from tests.oauthmcp.clients.server import Person

CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Proxied:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.ids = itertools.count(1)

    def connect(self) -> None:
        assert self.ask("initialize", CLIENT)["serverInfo"]["name"] == "porthole"
        self.program.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        id = next(self.ids)
        self.program.say({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        while (answer := self.program.hear()).get("id") != id:
            assert "id" not in answer  # a notification; we ask one thing at a time
        if "error" in answer:
            raise Failed(answer["error"]["message"])
        return answer["result"]

    def tools(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.ask("tools/list", {})["tools"]
        return listed

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = self.ask("tools/call", {"name": name, "arguments": arguments})
        return result

    def resources(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.ask("resources/list", {})["resources"]
        return listed

    def read(self, uri: str) -> str:
        (content,) = self.ask("resources/read", {"uri": uri})["contents"]
        return str(content["text"])

    def let_time_pass(self) -> None:
        pass


@contextmanager
def connected(person: Person, home: Path, protocol: str) -> Iterator[Proxied]:
    command = [NODE, need_package("mcp-remote") / "dist/proxy.js", person.server.mcp, "--protocol", protocol]
    with browser_of(person, home) as browser:
        around = environment(home, BROWSER=str(browser.script), MCP_REMOTE_CONFIG_DIR=str(home / "config"))
        with Program(command, around, home, browser) as program:
            client = Proxied(program)
            client.connect()
            yield client
