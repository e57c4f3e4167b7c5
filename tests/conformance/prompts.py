"""prompts/* and completion/complete: the prompts that the suite asks for by name."""

from collections.abc import Callable, Mapping
from typing import Any

from apps.tools.mcp.messages import INVALID_PARAMS, RpcError
from apps.tools.mcp.server import CACHE, Call, Method, Result
from tests.conformance.content import Content, image, resource, text
from tests.conformance.rounds import Rounds, elicitation

ARGUMENTS = {"test_prompt_with_arguments": ["arg1", "arg2"], "test_prompt_with_embedded_resource": ["resourceUri"]}


class FixturePrompts:
    capabilities: Mapping[str, Any] = {"prompts": {}, "completions": {}}

    def __init__(self) -> None:
        self.methods: Mapping[str, Method] = {
            "prompts/list": self.list,
            "prompts/get": self.get,
            "completion/complete": self.complete,
        }

    def list(self, call: Call) -> Result:
        prompts = [{"name": name, "description": f"Says {name}.", "arguments": _arguments(name)} for name in PROMPTS]
        return {"prompts": prompts, **(CACHE if call.era.is_modern else {})}

    def get(self, call: Call) -> Result:
        name = call.params.get("name")
        prompt = PROMPTS.get(name) if isinstance(name, str) else None
        if prompt is None:
            raise RpcError(INVALID_PARAMS, "There is no prompt of this name. See prompts/list.")
        return prompt(call)

    def complete(self, call: Call) -> Result:
        started = str(call.params.get("argument", {}).get("value", ""))
        values = [word for word in ("testing", "paris", "party") if word.startswith(started)]
        return {"completion": {"values": values, "total": len(values), "hasMore": False}}


def _arguments(name: str) -> list[dict[str, Any]]:
    return [{"name": argument, "description": "A test's.", "required": True} for argument in ARGUMENTS.get(name, [])]


def messages(*contents: Content) -> Result:
    return {"messages": [{"role": "user", "content": content} for content in contents]}


def saying(*contents: Content) -> Callable[[Call], Result]:
    return lambda call: messages(*contents)


def with_arguments(call: Call) -> Result:
    given = call.params.get("arguments", {})
    return messages(text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"))


def with_resource(call: Call) -> Result:
    uri = str(call.params.get("arguments", {}).get("resourceUri"))
    return messages(
        resource(uri, "text/plain", "Embedded resource content for testing."),
        text("Please process the embedded resource above."),
    )


PROMPTS: Mapping[str, Method] = {
    "test_simple_prompt": saying(text("This is a simple prompt for testing.")),
    "test_prompt_with_arguments": with_arguments,
    "test_prompt_with_embedded_resource": with_resource,
    "test_prompt_with_image": saying(image(), text("Please analyze the image above.")),
    "test_input_required_result_prompt": Rounds(
        [{"user_context": elicitation("What context should the prompt use?", context="string")}],
        lambda responses: messages(text("The context was given.")),
        has_state=False,
    ),
}
