"""Shapes: what goes in and what comes out, declared once for the doors, for openapi.json and for MCP."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

from rest_framework import serializers

from apps.orgs.rows import Row, Table

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

    @classmethod
    def render_all(cls, rows: Sequence[Row]) -> list[Row]:
        if isinstance(rows, Table):
            render = _renderer(cls, rows.names)
            return [render(row) for row in rows.tuples]
        render = _renderer(cls)
        return [render(row) for row in rows]


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
def _renderer(shape: type[Shape], names: tuple[str, ...] | None = None) -> Callable[[Any], Row]:
    """Reads the declared fields once; what is left for each row are a few calls. With `names` rows are tuples."""
    fields = {name: (field, field.source or name) for name, field in shape().fields.items()}
    first = next(source for _, source in fields.values() if source != "*")
    keys: list[Any] = [first if source == "*" else source for _, source in fields.values()]  # "*": replaced below
    pick = _picker(keys if names is None else [names.index(key) for key in keys])
    of_row: list[tuple[str, Callable[[Any], Any]]] = []
    of_value: list[tuple[str, Callable[[Any], Any]]] = []
    for name, (field, source) in fields.items():
        if isinstance(field, Shape) and source == "*":
            of_row.append((name, _renderer(type(field), names)))
        elif isinstance(field, Shape):
            of_value.append((name, _renderer(type(field))))
        elif isinstance(field, serializers.ListSerializer) and isinstance(field.child, Shape):
            of_value.append((name, type(field.child).render_all))

    def render(row: Any) -> Row:
        result = dict(zip(fields, pick(row), strict=True))
        for name, inner in of_row:
            result[name] = inner(row)
        for name, inner in of_value:
            if result[name] is not None:
                result[name] = inner(result[name])
        return result

    return render


def _picker(keys: list[Any]) -> Callable[[Any], tuple[Any, ...]]:
    if len(keys) == 1:
        return lambda row: (row[keys[0]],)
    picker: Callable[[Any], tuple[Any, ...]] = itemgetter(*keys)
    return picker
