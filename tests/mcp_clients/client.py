"""What our tests want of a client that somebody else wrote."""

from typing import Any, Protocol


class Failed(Exception):
    """What a client tells its user when it gives up."""


class McpClient(Protocol):
    """Results are JSON as the client hands them to the program around it."""

    def tools(self) -> list[dict[str, Any]]: ...

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]: ...

    def resources(self) -> list[dict[str, Any]]: ...

    def read(self, uri: str) -> str: ...

    def let_time_pass(self) -> None:
        """The access token is over. For clients that look at a clock; the others learn from our 401."""
