"""Input and output schemas of tools, as openapi.json has them, with every $ref resolved in place."""

from functools import cache
from typing import Any

Schema = dict[str, Any]
# What is left of an answer's schema: names, types, enumerations, nullability and what is required. Agents pay for
# every word of a list, no client acts on the rest, and openapi.json has it.
PLAIN, COMBINED = frozenset({"type", "required", "enum"}), frozenset({"allOf", "anyOf", "oneOf"})
NULL = {"type": "null"}


def input_schema(name: str) -> Schema:
    """All that is validated, with its words."""
    return _resolved(_json(_operation(name)["requestBody"]))


def output_schema(name: str) -> Schema:
    return _bare(_resolved(_json(_operation(name)["responses"]["200"])))


@cache
def _document() -> Schema:
    from apps.tools.schema import build  # which takes a quarter of every program's start, and few need it

    return build()


def _operation(name: str) -> Schema:
    operation: Schema = _document()["paths"][f"/api/v1/tools/{name}"]["post"]
    return operation


def _json(part: Schema) -> Schema:
    schema: Schema = part["content"]["application/json"]["schema"]
    return schema


def _resolved(schema: Any) -> Any:
    """The target of each $ref, with what stands beside the $ref."""
    if isinstance(schema, list):
        return [_resolved(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = _document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        schema = {**target, **{word: value for word, value in schema.items() if word != "$ref"}}
    return {word: _resolved(value) for word, value in schema.items()}


def _bare(schema: Schema) -> Schema:
    """An answer's schema with PLAIN, COMBINED, properties and items only."""
    bare: Schema = {}
    for word, value in schema.items():
        if word == "properties":  # its keys are names, also where they look like words of JSON Schema
            bare[word] = {name: _bare(member) for name, member in value.items()}
        elif word == "items":
            bare[word] = _bare(value)
        elif word in COMBINED:
            bare[word] = [_bare(member) for member in value]
        elif word in PLAIN:
            bare[word] = value
    return _shortened(bare)


def _shortened(schema: Schema) -> Schema:
    """The same in fewer words: an enumeration shows its type itself, and null is one more type."""
    match schema:
        case {"allOf": [only]} if len(schema) == 1:  # a $ref kept apart from the words beside it
            return dict(only)
        case {"oneOf": [{"type": "object"} as one, last]} if len(schema) == 1 and last == NULL:
            return {**one, "type": ["object", "null"]}
        case {"enum": _, "type": _}:
            return {word: value for word, value in schema.items() if word != "type"}
    return schema
