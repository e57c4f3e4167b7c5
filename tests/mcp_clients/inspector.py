"""The MCP Inspector's command line: each question is a program of its own, and what it stores is in its home."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.mcp_clients.browser import Browser, browser_of
from tests.mcp_clients.client import Failed
from tests.mcp_clients.lines import Program
from tests.oauthmcp.clients.node import NODE, environment, need_package
from tests.oauthmcp.clients.server import Person


class Inspector:
    def __init__(self, command: list[str | Path], home: Path, browser: Browser) -> None:
        self.command = command
        self.home = home
        self.browser = browser

    def run(self, *arguments: str) -> Any:
        # Without a terminal it opens a browser only where it is told that somebody looks at one, and in a container
        # it forgets tokens unless they may be in a file.
        told = {"MCP_AUTO_OPEN_ENABLED": "true", "MCP_INSPECTOR_SECRET_STORE": "file"}
        around = environment(self.home, BROWSER=str(self.browser.script), **told)
        with Program([*self.command, *arguments], around, self.home, self.browser) as program:
            program.type_line("y")  # to: may I ask for another scope?
            said, status = program.read_all()
            if status:
                raise Failed(f"{status}: {program.errors.read_text()}")
        return json.loads(said)["result"]

    def tools(self) -> list[dict[str, Any]]:
        """--strict: it also judges whether other programs can use the schemas, and fails if not."""
        listed: list[dict[str, Any]] = self.run("--method", "tools/list", "--strict")["tools"]
        return listed

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        given = ["--tool-name", name, "--tool-args-json", json.dumps(arguments)]
        result: dict[str, Any] = self.run("--method", "tools/call", *given)
        return result

    def resources(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.run("--method", "resources/list")["resources"]
        return listed

    def read(self, uri: str) -> str:
        (content,) = self.run("--method", "resources/read", "--uri", uri)["contents"]
        return str(content["text"])

    def let_time_pass(self) -> None:
        pass


@contextmanager
def connected(person: Person, home: Path, era: str) -> Iterator[Inspector]:
    launcher = need_package("@modelcontextprotocol/inspector") / "clients/launcher/build/index.js"
    command: list[str | Path] = [
        NODE, launcher, "--cli", person.server.mcp, "--transport", "http", "--protocol-era", era, "--format", "json",
        "--callback-url", "http://127.0.0.1:0/oauth/callback",
    ]  # fmt: skip
    with browser_of(person, home) as browser:
        yield Inspector(command, home, browser)
