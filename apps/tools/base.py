"""What a tool is: one question about one organization, with its input, its output and an example."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from inspect import getdoc
from typing import Any, ClassVar

from rest_framework import serializers

from apps.orgs.callers import Caller
from apps.orgs.rows import Row
from apps.tools.fields import Boolean, IdInput, IntegerInput, Text, TextInput, Time
from apps.tools.list_versions import VERSION_LENGTH
from apps.tools.paging import CURSOR_LENGTH, Page, binding_of
from apps.tools.shapes import Shape, ToolInput

EXAMPLE_VERSION = "0Yw3hS2mQd8n5kPq1xZ7fwAGQZ3vJ4yAT0bVuE9cWmKdLrXh"


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

    `versions` (see apps.orgs.versions) are those of all that its answer is made of, but for syncedAt: while these stay
    the same, and until `reading.ends`, the answer is right, and is kept. A tool without any reads something else.
    """

    scope: ClassVar[str]
    depends_on_caller: ClassVar[bool] = False
    versions: ClassVar[tuple[str, ...]] = ()
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

    @cached_property
    def shape(self) -> str:
        """Tells answers of this program from those of another version of it, which may have other fields."""
        return sha256(repr(self.Output()).encode()).hexdigest()[:8]

    def complete(self, inputs: Row) -> Row:
        """Validated inputs with what holds where something is left out."""
        return inputs

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
    """A tool that answers a page of rows. `run` gets `page` instead of limit and cursor.

    One with `versions` also takes ifVersion, and answers version and isUnchanged (apps.tools.answers).
    """

    item: ClassVar[type[Shape]]
    Input: ClassVar[type[ToolInput]] = PageInput
    default_limit = 100
    max_limit = 100
    extra: ClassVar[dict[str, serializers.Field[Any, Any, Any, Any]]] = {}

    def __init_subclass__(cls) -> None:
        inputs: Row = {"limit": _limit(cls.default_limit, cls.max_limit)}
        outputs = _list_fields(cls.item) | cls.extra
        if cls.versions:
            inputs["ifVersion"], outputs = _if_version(), outputs | _version_fields()
            told = cls.example.output | {"version": EXAMPLE_VERSION, "isUnchanged": False}
            cls.example = replace(cls.example, output=told, varying=cls.example.varying | {"version"})
        cls.Input = type("Input", (cls.Input,), inputs)
        cls.Output = type("Output", (Shape,), outputs)

    def complete(self, inputs: Row) -> Row:
        return {"limit": self.default_limit, **inputs}

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


def _if_version() -> TextInput:
    return TextInput(
        required=False, allow_blank=True, max_length=VERSION_LENGTH,
        help_text="From version.",
    )  # fmt: skip


def _version_fields() -> dict[str, Any]:
    return {
        "version": Text(VERSION_LENGTH, help_text="Pass it as ifVersion with the same input, to poll."),
        "isUnchanged": Boolean(help_text="True: it is as it was with ifVersion, and items are left out."),
    }
