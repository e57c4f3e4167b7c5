"""One call of a tool: scope, validation and answer, each done here and nowhere else."""

from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Any

import orjson
from rest_framework import serializers

from apps.orgs.callers import Caller
from apps.orgs.rows import Missing, Row
from apps.tools import answers
from apps.tools.base import Tool
from apps.tools.shapes import snake_case
from apps.web.exceptions import InvalidInput, Problem

MAX_KNOWN = 1024  # inputs that were found good, in each process
MAX_KNOWN_BYTES = 512  # of one of them as JSON
MAX_PROBLEMS = 20  # a caller who sends thousands of unknown keys learns enough from these

# Which input names what an OrgScope did not find, and which tool tells such ids.
MISSING_FIELDS = {
    "application": ("applicationId", "list_apps"),
    "environment": ("environmentId", "list_projects"),
    "preview": ("previewId", "list_previews"),
    "project": ("projectId", "list_projects"),
}


class InsufficientScope(Exception):
    """The caller lacks the one scope that the tool needs. Each door answers it with its own challenge."""

    def __init__(self, scope: str) -> None:
        super().__init__(scope)
        self.scope = scope


def answer(caller: Caller, tool: Tool, data: Row | Callable[[], Row]) -> bytes:
    """What the tool answers to `data`, the JSON object of the call, as JSON.

    `data` may be what reads it: no body is looked at for a caller who may not call the tool anyway.
    Raises InsufficientScope, InvalidInput, Unavailable.
    """
    if tool.scope not in caller.scopes:
        raise InsufficientScope(tool.scope)
    inputs = _validated(tool, data() if callable(data) else data)
    try:
        return answers.answer(caller, tool, inputs)
    except Missing as missing:
        raise _not_found(caller, missing.kind, inputs) from None


def _not_found(caller: Caller, kind: str, inputs: Row) -> InvalidInput:
    """Says where such ids come from; to whom may list names, also the id of the one thing that is called so."""
    field, tool = MISSING_FIELDS[kind]
    sentence = f"There is no such {kind}: {tool} tells ids."
    if "apps:read" in caller.scopes and (id := caller.org.id_called(kind, inputs[snake_case(field)], inputs)):
        sentence += f" The one of this name is {id}."
    return InvalidInput.because(field, sentence, "not_found")


def _validated(tool: Tool, data: Row) -> Row:
    """The inputs under the names that `run` takes. Raises InvalidInput."""
    try:
        asked = orjson.dumps(data)
    except TypeError:  # a number of more than 64 bits, such as no tool takes
        asked = b""
    return dict(_known(tool, asked)) if 0 < len(asked) <= MAX_KNOWN_BYTES else _run_validation(tool, data)


@lru_cache(maxsize=MAX_KNOWN)
def _known(tool: Tool, asked: bytes) -> Row:
    """Most calls ask what was asked before. What is good depends on nothing else, and what is not is not kept."""
    return _run_validation(tool, orjson.loads(asked))


def _run_validation(tool: Tool, data: Row) -> Row:
    try:
        inputs: Row = tool.input.run_validation(data)
    except serializers.ValidationError as error:
        raise InvalidInput(*_problems(error.detail)) from None
    return inputs


def _problems(detail: Any) -> list[Problem]:
    """DRF's errors, flat. Inputs are flat too, so a field has a list of messages."""
    if not isinstance(detail, dict):
        return [Problem(None, str(message), message.code) for message in detail]
    problems = (
        Problem(_field_of(key, message.code), str(message), message.code)
        for key, messages in detail.items()
        for message in messages
    )
    return list(islice(problems, MAX_PROBLEMS))


def _field_of(key: str, code: str) -> str | None:
    """The input's name; the caller's own word for an unknown one, but not all of a very long word."""
    return None if key == "non_field_errors" and code != "unknown_key" else key[:100]
