"""Both generations of npm's SDK, in the program tests/clients/mcp_client.mjs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.mcp_clients.client import Failed
from tests.mcp_clients.lines import Program
from tests.oauthmcp.clients.node import NODE, PROGRAMS, environment, need_package
from tests.oauthmcp.clients.server import REDIRECT_URI, Person


class NpmClient:
    def __init__(self, person: Person, program: Program) -> None:
        self.person = person
        self.program = program

    def do(self, command: str, **more: Any) -> Any:
        self.program.say({"do": command, **more})
        answer = self.program.hear()
        while "visit" in answer:
            self.program.say({"cameBack": self.person.allow(answer["visit"])})
            answer = self.program.hear()
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["result"]

    def tools(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.do("list")["tools"]
        return listed

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = self.do("call", name=name, arguments=arguments)
        return result

    def resources(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self.do("resources")["resources"]
        return listed

    def read(self, uri: str) -> str:
        (content,) = self.do("read", uri=uri)["contents"]
        return str(content["text"])

    def let_time_pass(self) -> None:
        pass


@contextmanager
def connected(person: Person, home: Path, package: str, mode: Any = None) -> Iterator[NpmClient]:
    """`mode`: of version negotiation, where the package has it."""
    need_package(f"@modelcontextprotocol/{package}")
    given = {"package": package, "mode": mode, "address": person.server.mcp, "redirectUri": REDIRECT_URI}
    with Program([NODE, PROGRAMS / "mcp_client.mjs", json.dumps(given)], environment(home), home) as program:
        client = NpmClient(person, program)
        assert client.do("connect")["name"] == "porthole"
        yield client
