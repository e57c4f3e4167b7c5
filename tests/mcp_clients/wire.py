"""What went over the wire to /mcp and back, and whether it is what the revision in use says."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse
from mcp_types.methods import SERVER_RESULTS, validate_server_result
from pydantic import TypeAdapter

PREFIX = "io.modelcontextprotocol/"
# Of a request that says no version (2025-06-18, Transports, "Protocol Version Header").
ASSUMED = "2025-03-26"


@dataclass(frozen=True)
class Exchange:
    http_method: str
    sent_headers: Mapping[str, str]
    sent: dict[str, Any]  # {} where there was no body
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def method(self) -> str:
        return str(self.sent.get("method", ""))

    @property
    def has_token(self) -> bool:
        return "Authorization" in self.sent_headers

    @property
    def answer(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.body)
        return loaded

    @property
    def revision(self) -> str:
        """An answer to `initialize` speaks the version that it settles."""
        if self.method == "initialize":
            return str(self.answer["result"]["protocolVersion"])
        meta = self.sent.get("params", {}).get("_meta", {})
        return str(meta.get(f"{PREFIX}protocolVersion") or self.sent_headers.get("MCP-Protocol-Version", ASSUMED))

    def check(self) -> None:
        """Raises where a strict reader of the revision would refuse our answer."""
        if self.http_method != "POST":
            assert (self.status, self.headers["Allow"]) == (405, "POST, OPTIONS")
        elif "id" not in self.sent and self.status == 202:
            assert self.body == b""
        elif "result" in self.answer:
            self._check_result()
        else:
            self._check_error()

    def _check_result(self) -> None:
        assert self.status == 200
        assert self.headers["Content-Type"] == "application/json"
        answer = JSONRPCResponse.model_validate(self.answer, strict=True)
        assert answer.id == self.sent["id"]
        validate_server_result(self.method, self.revision, answer.result)
        TypeAdapter(SERVER_RESULTS[self.method, self.revision]).validate_json(json.dumps(answer.result), strict=True)

    def _check_error(self) -> None:
        # An error has no id where the request was not looked at; the model wants that said as null.
        JSONRPCError.model_validate({"id": None, **self.answer}, strict=True)


@dataclass
class Wire:
    exchanges: list[Exchange] = field(default_factory=list)

    def revisions(self) -> set[str]:
        """Of what was answered with a result."""
        return {exchange.revision for exchange in self.exchanges if exchange.status == 200}

    def refused(self, status: int) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.status == status]
