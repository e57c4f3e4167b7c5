"""tools/*: the tools that the suite calls by name. What each has to answer is told by the suite's scenarios."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.tools.mcp.eras import PREFIX
from apps.tools.mcp.messages import INVALID_PARAMS, RpcError
from apps.tools.mcp.server import CACHE, Call, Method, Result
from tests.conformance.content import Content, audio, image, resource, text
from tests.conformance.rounds import Responses, Rounds, elicitation, require, roots, sampling

JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
NO_INPUT = {"type": "object", "properties": {}, "additionalProperties": False}


class FixtureTools:
    capabilities: Mapping[str, Any] = {"tools": {}}

    def __init__(self) -> None:
        self.methods: Mapping[str, Method] = {"tools/list": self.list, "tools/call": self.call}

    def list(self, call: Call) -> Result:
        tools = [{"name": name, "description": f"Answers {name}.", "inputSchema": _input(name)} for name in TOOLS]
        return {"tools": tools, **(CACHE if call.era.is_modern else {})}

    def call(self, call: Call) -> Result:
        name = call.params.get("name")
        tool = TOOLS.get(name) if isinstance(name, str) else None
        if tool is None:
            raise RpcError(INVALID_PARAMS, "There is no tool of this name. See tools/list.")
        return tool(call)


def _input(name: str) -> dict[str, Any]:
    return JSON_SCHEMA if name == "json_schema_2020_12_tool" else NO_INPUT


def saying(*content: Content) -> Callable[[Call], Result]:
    return lambda call: {"content": list(content)}


def finished(value: str) -> Callable[[Responses], Result]:
    return lambda responses: {"content": [text(value)]}


def failing(call: Call) -> Result:
    return {"isError": True, "content": [text("This tool intentionally returns an error for testing")]}


def with_progress(call: Call) -> Result:
    token = call.message.meta.get("progressToken")
    if token is not None:
        for progress in (0, 50, 100):
            call.notify("notifications/progress", {"progressToken": token, "progress": progress, "total": 100})
    return {"content": [text("Done.")]}


def with_logging(call: Call) -> Result:
    # 2026-07-28: only requests that ask for messages get them.
    if not call.era.is_modern or f"{PREFIX}logLevel" in call.message.meta:
        for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            call.notify("notifications/message", {"level": "info", "data": line})
    return {"content": [text("Done.")]}


def with_sampling(call: Call) -> Result:
    require(call, "sampling")
    return {"content": [text("The client can sample.")]}


def greeting(responses: Responses) -> Result:
    name = responses["user_name"].get("content", {}).get("name", "stranger")
    return {"content": [text(f"Hello, {name}!")]}


ASK_NAME = elicitation("What is your name?", name="string")
CONFIRM = elicitation("Please confirm", ok="boolean")

TOOLS: Mapping[str, Method] = {
    "test_simple_text": saying(text("This is a simple text response for testing.")),
    "test_image_content": saying(image()),
    "test_audio_content": saying(audio()),
    "test_embedded_resource": saying(
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": saying(
        text("Multiple content types test:"),
        image(),
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
    "test_error_handling": failing,
    "test_tool_with_progress": with_progress,
    "test_tool_with_logging": with_logging,
    "test_logging_tool": with_logging,
    "test_missing_capability": with_sampling,
    "test_streaming_elicitation": Rounds([{"user_name": ASK_NAME}], greeting, has_state=False),
    "json_schema_2020_12_tool": saying(text("Its input is what matters.")),
    "test_input_required_result_elicitation": Rounds([{"user_name": ASK_NAME}], greeting, has_state=False),
    "test_input_required_result_sampling": Rounds(
        [{"capital_question": sampling("What is the capital of France?", 100)}],
        lambda responses: {"content": [responses["capital_question"]["content"]]},
        has_state=False,
    ),
    "test_input_required_result_list_roots": Rounds(
        [{"client_roots": roots()}],
        lambda responses: {"content": [text(str(responses["client_roots"].get("roots")))]},
        has_state=False,
    ),
    "test_input_required_result_request_state": Rounds([{"confirm": CONFIRM}], finished("state-ok")),
    "test_input_required_result_multiple_inputs": Rounds(
        [{"user_name": ASK_NAME, "greeting": sampling("Generate a greeting", 50), "client_roots": roots()}],
        finished("All were answered."),
    ),
    "test_input_required_result_multi_round": Rounds(
        [
            {"step1": elicitation("Step 1: What is your name?", name="string")},
            {"step2": elicitation("Step 2: What is your favorite color?", color="string")},
        ],
        finished("Both were answered."),
    ),
    "test_input_required_result_tampered_state": Rounds([{"confirm": CONFIRM}], finished("The state was ours.")),
    "test_input_required_result_capabilities": Rounds(
        [{"user_name": ASK_NAME, "greeting": sampling("Generate a greeting", 50)}], finished("Answered.")
    ),
}
