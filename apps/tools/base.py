"""What a tool is: one question about one organization, with its input, its output and an example."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc
from typing import Any, ClassVar

from rest_framework import serializers

from apps.orgs.callers import Caller
from apps.orgs.rows import Row
from apps.tools.fields import IdInput, IntegerInput, Text, TextInput, Time
from apps.tools.paging import CURSOR_LENGTH, Page, binding_of
from apps.tools.shapes import Shape, ToolInput


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

    `run` gets the organization's scope and the validated inputs in snake_case (by their `source`), and answers a dict
    of JSON names. It raises InvalidInput, Missing or Unavailable. With `depends_on_caller` it also gets `caller`.
    """

    scope: ClassVar[str]
    depends_on_caller: ClassVar[bool] = False
    Input: ClassVar[type[ToolInput]] = ToolInput
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

    def call(self, caller: Caller, inputs: Row) -> Row:
        """Runs it with validated inputs. Only a tool that says so learns who asks, beside the organization."""
        asker = {"caller": caller} if self.depends_on_caller else {}
        return self.run(caller.org, **asker, **inputs)

    # Each tool has its own inputs, so no one signature: run(self, org, *, application_id, …).
    run: Callable[..., Row]


class PageInput(ToolInput):
    """What every list takes. A list tool sets the limits."""

    limit = IntegerInput(required=False, min_value=1)
    cursor = TextInput(required=False, min_length=1, max_length=CURSOR_LENGTH, help_text="From nextCursor.")


class PlacedPageInput(PageInput):
    """What lists of what belongs to applications take. Without any id they are the whole organization's."""

    applicationId = IdInput("app", "an application", required=False, default=None)
    projectId = IdInput("prj", "a project", required=False, default=None)
    environmentId = IdInput("env", "an environment", required=False, default=None)


class ListTool(Tool):
    """A tool that answers a page of rows. `run` gets `page` instead of limit and cursor."""

    item: ClassVar[type[Shape]]
    Input: ClassVar[type[ToolInput]] = PageInput
    default_limit = 100
    max_limit = 100
    extra: ClassVar[dict[str, serializers.Field[Any, Any, Any, Any]]] = {}

    def __init_subclass__(cls) -> None:
        cls.Input = type("Input", (cls.Input,), {"limit": _limit(cls.default_limit, cls.max_limit)})
        cls.Output = type("Output", (Shape,), _list_fields(cls.item) | cls.extra)

    def call(self, caller: Caller, inputs: Row) -> Row:
        org = caller.org
        page = Page(
            item=self.item,
            binding=binding_of(self.name, org.organization_id, inputs),
            limit=inputs.pop("limit", self.default_limit),
            cursor=inputs.pop("cursor", None),
            synced_at=org.synced_at,
        )
        return super().call(caller, {**inputs, "page": page})


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
