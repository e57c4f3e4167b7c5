"""tools/list and tools/call: the registry's tools, with the schemas of openapi.json."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apps.tools.base import Tool
from apps.tools.mcp.errors import as_failure, retry_of
from apps.tools.mcp.messages import INVALID_PARAMS, RpcError
from apps.tools.mcp.schemas import input_schema, output_schema
from apps.tools.mcp.server import CACHE, Call, Method, Result
from apps.web.exceptions import Refused
from apps.web.once import Once
from apps.web.render import Encoded, encode, quoted

ANNOTATIONS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


Links = Callable[[bytes], list[dict[str, Any]]]


class ToolMethods:
    """`tools` by name, in the order in which they are listed.

    `links`: by name of a tool, what makes blocks of links of its answer. They come after the answer.
    """

    capabilities: Mapping[str, Any] = {"tools": {}}

    def __init__(self, tools: Mapping[str, Tool], links: Mapping[str, Links] | None = None) -> None:
        self.tools = tools
        self.links = links or {}
        self.methods: Mapping[str, Method] = {"tools/list": self.list, "tools/call": self.call}

    def list(self, call: Call) -> Result:
        """Those that the token may call."""
        if "cursor" in call.params:
            raise RpcError(INVALID_PARAMS, "There is one page of tools, and no cursor leads on: leave cursor out.")
        scopes = call.caller.scopes
        entries = [Encoded(entry_of(tool)) for tool in self.tools.values() if tool.scope in scopes]
        return {"tools": entries, **(self._cache_of(entries) if call.era.is_modern else {})}

    def _cache_of(self, entries: Sequence[Encoded]) -> Mapping[str, Any]:
        """A narrowed token's list is not to be kept: clients would still show it once the user allowed more."""
        return CACHE if len(entries) == len(self.tools) else {**CACHE, "ttlMs": 0}

    def call(self, call: Call) -> Result:
        name, arguments = call.params.get("name"), call.params.get("arguments", {})
        tool = self.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise RpcError(INVALID_PARAMS, f"There is no tool of this name. There are {', '.join(self.tools)}.")
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "arguments must be an object.")
        try:
            answer = call.answer(tool, arguments)
        except Exception as error:
            return _failure(as_failure(error, call.request_id))
        links = self.links.get(tool.name)
        blocks = links(answer) if links and call.era.knows_links else []
        return {"content": [{"type": "text", "text": quoted(answer)}, *blocks], "structuredContent": Encoded(answer)}


def _failure(refused: Refused) -> Result:
    """What a model can read and correct. It is no protocol error: those never reach the model."""
    told = {"code": refused.code, "detail": refused.detail, **retry_of(refused)}
    text = encode(told).decode()
    return {"content": [{"type": "text", "text": text}], "isError": True}


@Once
def entry_of(tool: Tool) -> bytes:
    """A tool as tools/list has it, as JSON."""
    return encode(
        {
            "name": tool.name,
            "title": tool.name.replace("_", " ").capitalize(),
            "description": tool.description,
            "inputSchema": input_schema(tool.name),
            "outputSchema": output_schema(tool.name),
            "annotations": ANNOTATIONS,
        }
    )
