"""Methods that ask the client for something before they answer (2026-07-28, multi round-trip requests).

Nothing is kept between the rounds: which one it is comes back with the client, signed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core import signing

from apps.tools.mcp.eras import PREFIX
from apps.tools.mcp.messages import INVALID_PARAMS, RpcError
from apps.tools.mcp.server import Call, Result

MISSING_CAPABILITY = -32021
SALT = "tests.conformance"
# What a client has to be able to do for a request.
NEEDED = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}

Requests = Mapping[str, dict[str, Any]]
Responses = Mapping[str, Any]


def elicitation(message: str, **properties: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {name: {"type": type} for name, type in properties.items()},
        "required": list(properties),
    }
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sampling(prompt: str, max_tokens: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": prompt}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": max_tokens}}


def roots() -> dict[str, Any]:
    return {"method": "roots/list", "params": {}}


def require(call: Call, *names: str) -> None:
    """Refuses clients that did not say that they can do this."""
    missing = {name: {} for name in names if name not in capabilities_of(call)}
    if missing:
        message = "This needs something that the client cannot do."
        raise RpcError(MISSING_CAPABILITY, message, 400, {"requiredCapabilities": missing})


def capabilities_of(call: Call) -> Mapping[str, Any]:
    capabilities = call.message.meta.get(f"{PREFIX}clientCapabilities")
    return capabilities if isinstance(capabilities, dict) else {}


@dataclass(frozen=True, slots=True)
class Rounds:
    """`steps` are asked one after another; `finish` makes the result of the last one's responses."""

    steps: Sequence[Requests]
    finish: Callable[[Responses], Result]
    has_state: bool = True

    def __call__(self, call: Call) -> Result:
        subject = [call.message.method, call.params.get("name")]
        step = _step_of(call.params.get("requestState"), subject)
        requests = self._possible(call, self.steps[step])
        responses = call.params.get("inputResponses", {})
        if not isinstance(responses, dict):
            raise RpcError(INVALID_PARAMS, "inputResponses must be an object.")
        if any(not isinstance(responses.get(key), dict) for key in requests):
            return self._asking(requests, step, subject)
        if step + 1 < len(self.steps):
            return self._asking(self._possible(call, self.steps[step + 1]), step + 1, subject)
        return self.finish(responses)

    def _asking(self, requests: Requests, step: int, subject: list[Any]) -> Result:
        result: Result = {"resultType": "input_required", "inputRequests": dict(requests)}
        if self.has_state:
            result["requestState"] = signing.dumps([*subject, step], salt=SALT)
        return result

    def _possible(self, call: Call, requests: Requests) -> Requests:
        """Without what the client did not declare."""
        capabilities = capabilities_of(call)
        possible = {key: request for key, request in requests.items() if NEEDED[request["method"]] in capabilities}
        if not possible:
            require(call, *(NEEDED[request["method"]] for request in requests.values()))
        return possible


def _step_of(state: Any, subject: list[Any]) -> int:
    if state is None:
        return 0
    try:
        *signed_for, step = signing.loads(state, salt=SALT)
    except (signing.BadSignature, TypeError, AttributeError):
        signed_for, step = [], 0
    if signed_for != subject:
        raise RpcError(INVALID_PARAMS, "requestState is not what this server sent.")
    return int(step)
