"""Shapes: what goes in and what comes out, declared once for the doors, for openapi.json and for MCP."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from typing import Any

from rest_framework import serializers

from apps.orgs.rows import Row, Shown, Table

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
        return _renderer(cls)((row,))[0]

    @classmethod
    def render_all(cls, rows: Sequence[Row]) -> list[Row]:
        return _renderer(cls, rows.names)(rows.tuples) if isinstance(rows, Table) else _renderer(cls)(rows)

    @classmethod
    def shown(cls) -> Shown | None:
        """What it shows of a row; None where rows stand in it, which `render` takes care of."""
        return _shown(cls)


@cache
def _shown(shape: type[Shape]) -> Shown | None:
    members: list[tuple[str, Any]] = []
    for name, field in shape().fields.items():
        of: Any = field.source or name
        if isinstance(field, Shape) and of == "*":
            of = field.shown()
        elif _renderer_of_value(field):
            of = None
        if of is None:
            return None
        members.append((name, of))
    return tuple(members)


class ToolInput(CamelCased):
    """The shape of an input: unknown keys are refused."""

    default_error_messages = {"unknown_key": "This tool takes no such input: it takes {inputs}."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        fields, value = self._plain_fields, self._left_out.copy()
        errors: dict[str, Any] = {key: [self._unknown()] for key in data if key not in fields}
        for name, field in fields.items():
            if name not in data and not field.required:
                continue
            try:
                value[field.source] = field.run_validation(data.get(name, serializers.empty))
            except serializers.ValidationError as error:
                errors[name] = error.detail
        if errors:
            raise serializers.ValidationError(errors)
        return value

    @cached_property
    def _plain_fields(self) -> dict[str, Any]:
        return dict(self.fields)

    @cached_property
    def _left_out(self) -> dict[str, Any]:
        """What holds where nothing is given, looked up once: DRF would ask each field each time."""
        fields = self._plain_fields.values()
        return {field.source: field.default for field in fields if field.default is not serializers.empty}

    def _unknown(self) -> serializers.ErrorDetail:
        sentence = self.error_messages["unknown_key"].format(inputs=", ".join(self.fields) or "none")
        return serializers.ErrorDetail(sentence, code="unknown_key")


@cache
def _renderer(shape: type[Shape], names: tuple[str, ...] | None = None) -> Callable[[Iterable[Any]], list[Row]]:
    """Renders rows, with `names` such that are tuples. Compiled of the declared fields: no row costs a call."""
    inner: dict[str, Any] = {}
    expression = _expression(shape, names, inner)
    render: Callable[[Iterable[Any]], list[Row]] = eval(f"lambda rows: [{expression} for row in rows]", inner)  # noqa: S307
    return render


def _expression(shape: type[Shape], names: tuple[str, ...] | None, inner: dict[str, Any]) -> str:
    """A `row` as the JSON names and values of this shape. Adds to `inner` the functions that it calls."""
    values = []
    for name, field in shape().fields.items():
        source = field.source or name
        if isinstance(field, Shape) and source == "*":
            values.append(f"{name!r}: {_expression(type(field), names, inner)}")
            continue
        value = f"row[{source if names is None else names.index(source)!r}]"
        if render := _renderer_of_value(field):
            function = f"render_{len(inner)}"
            inner[function] = render
            value = f"{function}({value})"
        values.append(f"{name!r}: {value}")
    return f"{{{', '.join(values)}}}"


def _renderer_of_value(field: Any) -> Callable[[Any], Any] | None:
    """For a row, or rows, inside a row."""
    if isinstance(field, Shape):
        render: Callable[[Any], Any] = type(field).render
    elif isinstance(field, serializers.ListSerializer) and isinstance(field.child, Shape):
        render = type(field.child).render_all
    else:
        return None
    return lambda value: None if value is None else render(value)
