"""Shapes: what goes in and what comes out, declared once for the doors, for openapi.json and for MCP."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from rest_framework import serializers

from apps.orgs.rows import Row

WORD_START = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])")


class CamelCased(serializers.Serializer[Any]):
    """Fields are declared by their JSON names; Python's side of each is the same in snake_case, or its `source`."""

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        for name, field in fields.items():
            if field.source is None and (column := snake_case(name)) != name:
                field.source = column
        return fields


def snake_case(name: str) -> str:
    """latencyP50Ms → latency_p50_ms, uptime24h → uptime_24h."""
    return WORD_START.sub("_", name).lower()


class Shape(CamelCased):
    """The shape of an output. It is an allow-list: what it does not name cannot leave.

    Values come from a row's columns. On a nested shape, `source="*"` reads the same row, and any other source the row
    or the list of rows that is there.
    """

    @classmethod
    def render(cls, row: Row) -> Row:
        """A row of columns as JSON names and values."""
        return _renderer(cls)(row)


class ToolInput(CamelCased):
    """The shape of an input: unknown keys are refused."""

    default_error_messages = {"unknown_key": "This tool takes no such input: it takes {inputs}."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        errors = {key: [self._unknown()] for key in data if key not in self.fields}
        try:
            value: dict[str, Any] = super().to_internal_value(data)
        except serializers.ValidationError as error:
            errors |= error.detail  # type: ignore[arg-type]
        if errors:
            raise serializers.ValidationError(errors)
        return value

    def _unknown(self) -> serializers.ErrorDetail:
        sentence = self.error_messages["unknown_key"].format(inputs=", ".join(self.fields) or "none")
        return serializers.ErrorDetail(sentence, code="unknown_key")


@cache
def _renderer(shape: type[Shape]) -> Callable[[Row], Row]:
    """Reads the declared fields once; what is left for each row is one loop over plain tuples."""
    plain: list[tuple[str, str]] = []
    nested: list[tuple[str, str, Callable[[Any], Any]]] = []
    for name, field in shape().fields.items():
        source = field.source or name
        if isinstance(field, Shape):
            nested.append((name, source, _renderer(type(field))))
        elif isinstance(field, serializers.ListSerializer) and isinstance(field.child, Shape):
            nested.append((name, source, _each(_renderer(type(field.child)))))
        else:
            plain.append((name, source))
    if not nested:
        return lambda row: {name: row[source] for name, source in plain}
    order = list(shape().fields)

    def render(row: Row) -> Row:
        result = dict.fromkeys(order)
        for name, source in plain:
            result[name] = row[source]
        for name, source, inner in nested:
            value = row if source == "*" else row[source]
            result[name] = None if value is None else inner(value)
        return result

    return render


def _each(render: Callable[[Row], Row]) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [render(row) for row in rows]
