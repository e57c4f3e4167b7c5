"""What the tests of tools share: shapes in the contract's own notation, bounds of lists, and the longest text."""

from typing import Any

from rest_framework import serializers

from apps.tools.shapes import Shape
from tests.api import Api

# Each takes the most bytes in some way: four in UTF-8; two and six where JSON escapes it.
WIDEST = ("𝔘", '"', "\x01")


def notation(shape: type[Shape]) -> str:
    """A shape as the contract writes it: `{id,name?,status:a|b,tags[],links{docs?}}`."""
    return "{" + ",".join(_field(name, field) for name, field in shape().fields.items()) + "}"


def _field(name: str, field: Any) -> str:
    inner = ""
    if isinstance(field, Shape):
        inner = notation(type(field))
    elif isinstance(field, serializers.ListSerializer):
        inner = f"[{notation(type(field.child))}]"
    elif isinstance(field, serializers.ListField):
        inner = "[]"
    elif isinstance(field, serializers.ChoiceField):
        inner = ":" + "|".join(field.choices)
    return name + inner + ("?" if field.allow_null else "")


def assert_limits(api: Api, tool: str, *, default: int, maximum: int, **inputs: Any) -> None:
    """`limit` has these bounds and this default; there must be more than `default` rows."""
    for limit, problem in (
        (0, "min_value"),
        (-1, "min_value"),
        (maximum + 1, "max_value"),
        (2**63, "max_value"),
        ("7", "invalid"),
        (1.5, "invalid"),
        (True, "invalid"),
    ):
        assert api.refused(tool, limit=limit, **inputs) == [("limit", problem)], limit
    first = api(tool, **inputs)
    assert len(first["items"]) == default
    assert first["nextCursor"]
    assert len(api(tool, limit=maximum, **inputs)["items"]) >= default
    assert api(tool, limit=1, **inputs)["items"] == first["items"][:1]


def assert_fits(api: Api, tool: str, number: int, limit: int, **inputs: Any) -> None:
    """No page of the list is over 64 KiB, and the pages together have `number` rows."""
    seen, cursor = [], None
    while True:
        response = api.post(tool, {**inputs, "limit": limit, **({"cursor": cursor} if cursor else {})})
        assert response.status_code == 200, response.content
        assert len(response.content) <= 64 * 1024
        answer = response.json()
        assert answer["items"]
        seen += [str(item) for item in answer["items"]]
        cursor = answer["nextCursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == number
