"""Input and output schemas of tools, as openapi.json has them, with every $ref resolved in place."""

from functools import cache
from typing import Any

from apps.tools.schema import build

Schema = dict[str, Any]
# What people read and validators do not. Agents pay for every word of a list, and answers speak for themselves.
WORDS = ("description", "example", "examples")


def input_schema(name: str) -> Schema:
    body = _operation(name)["requestBody"]
    return _resolved(_json(body), with_words=True)


def output_schema(name: str) -> Schema:
    return _resolved(_json(_operation(name)["responses"]["200"]), with_words=False)


@cache
def _document() -> Schema:
    return build()


def _operation(name: str) -> Schema:
    operation: Schema = _document()["paths"][f"/api/v1/tools/{name}"]["post"]
    return operation


def _json(part: Schema) -> Schema:
    schema: Schema = part["content"]["application/json"]["schema"]
    return schema


def _resolved(schema: Any, *, with_words: bool) -> Any:
    if isinstance(schema, list):
        return [_resolved(member, with_words=with_words) for member in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = _document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        schema = {**target, **{word: value for word, value in schema.items() if word != "$ref"}}
    resolved = {}
    for word, value in schema.items():
        if word == "properties":  # its keys are names, also where they look like words of JSON Schema
            resolved[word] = {name: _resolved(member, with_words=with_words) for name, member in value.items()}
        elif with_words or word not in WORDS:
            resolved[word] = _resolved(value, with_words=with_words)
    return resolved
