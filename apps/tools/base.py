"""What a tool is: one question about one organization, with its input, its output and an example."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc
from itertools import islice
from typing import Any, ClassVar

from rest_framework import serializers

from apps.orgs.rows import Missing, Row
from apps.orgs.scope import OrgScope
from apps.tools.fields import IntegerInput, Text, TextInput, Time
from apps.tools.paging import CURSOR_LENGTH, Page, binding_of
from apps.tools.shapes import Input, Shape
from apps.web.exceptions import InvalidInput, Problem


@dataclass(frozen=True, slots=True)
class Example:
    """A call that works on the demo organization. It is published, and tests run it.

    `varying` are paths in the output, such as "items.sha", of what is another one on each installation.
    """

    input: Row
    output: Row
    varying: frozenset[str] = frozenset()


class Tool:
    """A read-only tool. The subclass's docstring is published: it is what clients and models read.

    `run` gets the organization's scope and the validated inputs by the names of their `source`, and answers a dict
    of JSON names. It raises InvalidInput, Missing or Unavailable.
    """

    scope: ClassVar[str]
    Input: ClassVar[type[Input]] = Input
    Output: ClassVar[type[Shape]]
    example: ClassVar[Example] = Example({}, {})

    def __init__(self, name: str) -> None:
        self.name = name
        self.input = self.Input()

    @property
    def summary(self) -> str:
        """The first sentence of its description."""
        return self.description.partition(".")[0] + "."

    @property
    def description(self) -> str:
        return getdoc(type(self)) or ""

    def answer(self, org: OrgScope, data: Row) -> Row:
        """What the tool says to `data`, the JSON object of the call."""
        try:
            inputs = self.input.run_validation(data)
        except serializers.ValidationError as error:
            raise InvalidInput(*_problems(error.detail)) from None
        try:
            return self.call(org, inputs)
        except Missing as missing:
            field = MISSING_FIELDS[missing.kind]
            raise InvalidInput.because(field, f"There is no such {missing.kind}.", "not_found") from None

    def call(self, org: OrgScope, inputs: Row) -> Row:
        return self.run(org, **inputs)

    # Each tool has its own inputs, so no one signature: run(self, org, *, application_id, …).
    run: Callable[..., Row]


class PageInput(Input):
    """What every list takes. A list tool sets the limits."""

    limit = IntegerInput(required=False, min_value=1)
    cursor = TextInput(required=False, min_length=1, max_length=CURSOR_LENGTH, help_text="From nextCursor.")


class ListTool(Tool):
    """A tool that answers a page of rows. `run` gets `page` instead of limit and cursor."""

    item: ClassVar[type[Shape]]
    Input: ClassVar[type[Input]] = PageInput
    default_limit = 100
    max_limit = 100
    extra: ClassVar[dict[str, serializers.Field[Any, Any, Any, Any]]] = {}

    def __init_subclass__(cls) -> None:
        cls.Input = type("Input", (cls.Input,), {"limit": _limit(cls.default_limit, cls.max_limit)})
        cls.Output = type("Output", (Shape,), _list_fields(cls.item) | cls.extra)

    def call(self, org: OrgScope, inputs: Row) -> Row:
        page = Page(
            item=self.item,
            binding=binding_of(self.name, org.organization_id, inputs),
            limit=inputs.pop("limit", self.default_limit),
            cursor=inputs.pop("cursor", None),
            synced_at=org.synced_at,
        )
        return self.run(org, page=page, **inputs)


MAX_PROBLEMS = 20  # a caller who sends thousands of unknown keys learns enough from these

# Which input names what an OrgScope did not find.
MISSING_FIELDS = {
    "application": "applicationId",
    "environment": "environmentId",
    "preview": "previewId",
    "project": "projectId",
}


def _limit(default: int, maximum: int) -> IntegerInput:
    return IntegerInput(
        required=False,
        min_value=1,
        max_value=maximum,
        help_text=f"{default} if left out.",
    )


def _list_fields(item: type[Shape]) -> dict[str, Any]:
    return {
        "items": item(many=True),
        "nextCursor": Text(
            CURSOR_LENGTH, allow_null=True, help_text="Pass it as cursor for the next page; null at the end."
        ),
        "syncedAt": Time(allow_null=True, help_text="How old this is: when the platform was last read."),
    }


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
