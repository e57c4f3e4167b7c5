"""The tools' part of openapi.json, made from the registry.

Calls are dispatched by name at run time; here every tool becomes a path of its own, so that generated clients get a
typed function per tool.
"""

from inspect import getdoc
from threading import Lock
from typing import Any

from django.urls import path
from drf_spectacular.drainage import GENERATOR_STATS, set_override
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.settings import patched_settings
from drf_spectacular.utils import OpenApiExample

from apps.orgs import vocabulary
from apps.orgs.callers import SCOPE_NAMES, SCOPES
from apps.tools.base import PageInput, PlacedPageInput, Tool
from apps.tools.http import ToolViewSet
from apps.tools.openapi_parts import DESCRIPTION, ERRORS, SCHEMAS, error_responses
from apps.tools.registry import TOOLS
from apps.tools.shapes import Shape, ToolInput
from apps.web.openapi import ContractError, joined

# What a shape says that has no docstring of its own is meant for those who write shapes.
INHERITED = {getdoc(shape) for shape in (Shape, ToolInput, PageInput, PlacedPageInput)}
# drf-spectacular leaves out a body that has no fields; an empty object may still be sent.
NO_INPUT: dict[str, Any] = {
    "content": {
        "application/json": {
            "schema": {"type": "object", "additionalProperties": False},
            "examples": {"Demo": {"value": {}, "summary": "demo"}},
        }
    }
}

_building = Lock()


def build() -> dict[str, Any]:
    """Raises ContractError for whatever drf-spectacular warns of: two shapes or enumerations of one name, for example.

    It would go on and publish one of them. One thread at a time: drf-spectacular's settings and findings are the
    process's.
    """
    with _building:
        GENERATOR_STATS.reset()
        with GENERATOR_STATS.silence(), patched_settings({"ENUM_NAME_OVERRIDES": _names_of_enumerations()}):
            schema = _generate()
        problems = [*GENERATOR_STATS._error_cache, *GENERATOR_STATS._warn_cache]
    if problems:
        raise ContractError("\n".join(problems))
    return schema


def _generate() -> dict[str, Any]:
    _name_components()
    patterns = [
        path(f"api/v1/tools/{name}", DescribedToolViewSet.as_view({"post": "call"}, tool=tool))
        for name, tool in TOOLS.items()
    ]
    schema: dict[str, Any] = SchemaGenerator(patterns=patterns).get_schema(request=None, public=True)
    return schema


def _names_of_enumerations() -> dict[str, list[str]]:
    """Each list of words in the vocabulary by the singular of its name: APP_STATUSES is published as AppStatus."""
    lists = {name: words for name, words in vars(vocabulary).items() if name.isupper()}
    return {"Scope": SCOPE_NAMES} | {_singular(name): words for name, words in lists.items()}


def _singular(name: str) -> str:
    words = name.removesuffix("ES" if name.endswith("SES") else "S")
    return "".join(word.capitalize() for word in words.split("_"))


class ToolSchema(AutoSchema):
    """Describes one tool's path from the tool itself."""

    @property
    def tool(self) -> Tool:
        tool: Tool = self.view.tool  # type: ignore[attr-defined]
        return tool

    def get_operation_id(self) -> str:
        return self.tool.name

    def get_summary(self) -> str:
        return self.tool.summary

    def get_description(self) -> str:  # type: ignore[override]  # the stubs know DRF's own inspector only
        return f"{self.tool.description}\n\nNeeds the scope `{self.tool.scope}`."

    def get_tags(self) -> list[str]:
        return [self.tool.scope.partition(":")[0]]

    def get_auth(self) -> list[dict[str, Any]]:
        return [{"bearer": []}, {"oauth2": [self.tool.scope]}]

    def map_parsers(self) -> list[str]:
        return ["application/json"]

    def map_renderers(self, attribute: str) -> list[str]:
        return ["application/json"]

    def get_request_serializer(self) -> Any:
        return self.tool.Input

    def get_response_serializers(self) -> Any:
        return self.tool.Output

    def _get_serializer_name(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> str:
        name: str = super()._get_serializer_name(serializer, direction, bypass_extensions)
        return name.removesuffix("Shape")

    def get_examples(self) -> list[OpenApiExample]:
        example = self.tool.example
        return [
            OpenApiExample("demo", value=example.input, request_only=True),
            OpenApiExample("demo", value=example.output, response_only=True, status_codes=["200"]),
        ]


class DescribedToolViewSet(ToolViewSet):
    schema = ToolSchema()


def _name_components() -> None:
    """Nested Input and Output classes need distinct names in one document."""
    for name, tool in TOOLS.items():
        camel = "".join(part.capitalize() for part in name.split("_"))
        set_override(tool.Input, "component_name", f"{camel}Input")
        if tool.Output.__name__ == "Output":
            set_override(tool.Output, "component_name", f"{camel}Result")


def finish(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """What drf-spectacular does not know: closed objects, shared errors. A post-processing hook."""
    components = result["components"]
    for schema in components["schemas"].values():
        if schema.get("type") == "object":
            schema["additionalProperties"] = False
            if schema.get("description") in INHERITED:
                del schema["description"]
            for field in schema["properties"].values():
                # Generated clients would make an input with a default a required one; descriptions tell defaults.
                field.pop("default", None)
    components["schemas"] = joined(components["schemas"], SCHEMAS)
    components["responses"] = dict(ERRORS)
    components["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    for item in result["paths"].values():
        operation = item["post"]
        body = operation.setdefault("requestBody", NO_INPUT)
        body["required"] = _needs_input(body, components["schemas"])
        operation["responses"]["200"]["description"] = "The tool's result."
        operation["responses"] |= error_responses()
    result["info"]["description"] = DESCRIPTION
    tags = [{"name": scope.partition(":")[0], "description": text} for scope, text in SCOPES.items()]
    result["tags"] = tags
    return result


def _needs_input(body: dict[str, Any], schemas: dict[str, Any]) -> bool:
    schema = body["content"]["application/json"]["schema"]
    return "$ref" in schema and "required" in schemas[schema["$ref"].rpartition("/")[2]]
