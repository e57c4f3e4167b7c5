"""Tools asked as users' programs ask them: with an access token, at both doors."""

import json
from typing import Any

from django.test import Client

from apps.oauthmcp.models import Application
from apps.orgs.callers import SCOPES
from apps.orgs.models import Organization
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member

MCP = {"mcp-protocol-version": "2025-11-25"}
DOORS = ("http", "mcp")


class Asking:
    """A member's token with these scopes. Answers are what a program reads: the result, or what was refused and why."""

    def __init__(self, organization: Organization, email: str, *scopes: str) -> None:
        client = Application.objects.filter(name="Asking").first() or make_client("Asking")
        granted = make_authorization(client, make_member(organization, email), " ".join(scopes or SCOPES))
        bearer = f"Bearer {make_access_token(granted)}"
        self.client = Client(headers={"host": "localhost", "authorization": bearer})

    def __call__(self, door: str, tool: str, inputs: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = getattr(self, door)(tool, inputs)
        return {field: value for field, value in answer.items() if field != "requestId"}

    def http(self, tool: str, inputs: dict[str, Any]) -> Any:
        return self.client.post(f"/api/v1/tools/{tool}", inputs, content_type="application/json").json()

    def mcp(self, tool: str, inputs: dict[str, Any]) -> Any:
        params = {"name": tool, "arguments": inputs}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = self.client.post("/mcp", message, content_type="application/json", headers=MCP).json()
        if "error" in answer:  # the token may not call it: told as at the other door, beside JSON-RPC's own words
            return answer["error"]["data"]
        (block, *_) = answer["result"]["content"]
        told = json.loads(block["text"])
        assert answer["result"].get("structuredContent", told) == told
        return told
