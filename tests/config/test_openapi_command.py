"""`manage.py openapi`: it writes what the code publishes, or says why that cannot be published."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from rest_framework import serializers

from apps.tools.base import ListTool
from apps.tools.fields import Choice, Text
from apps.tools.registry import TOOLS
from apps.tools.shapes import Shape
from tests.api import PUBLISHED


def add_list(monkeypatch: pytest.MonkeyPatch, tool: str, shape: str, **fields: serializers.Field) -> None:
    """A tool more, which lists things of this shape."""
    item = type(shape, (Shape,), fields)
    kind = type("ListThings", (ListTool,), {"__doc__": "List things.", "scope": "apps:read", "item": item})
    monkeypatch.setitem(TOOLS, tool, kind(tool))


@pytest.fixture(params=[True, False], ids=["check", "write"])
def is_check(request: pytest.FixtureRequest) -> bool:
    return request.param


def refusal(tmp_path: Path, is_check: bool) -> str:
    """Why the command fails. It leaves the file as it was."""
    file = tmp_path / "openapi.json"
    file.write_bytes(PUBLISHED.read_bytes())
    with pytest.raises(CommandError) as refused:
        call_command("openapi", str(file), check=is_check)
    assert file.read_bytes() == PUBLISHED.read_bytes()
    return str(refused.value)


def test_it_writes_the_document_and_then_finds_nothing_to_change(tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    call_command("openapi", str(file))
    assert file.read_bytes() == PUBLISHED.read_bytes()
    call_command("openapi", str(file), check=True)
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(CommandError, match="make openapi"):
        call_command("openapi", str(file), check=True)


def test_a_tool_more_is_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_list(monkeypatch, "list_things", "ThingShape", name=Text(10), kind=Choice(["small", "large"]))
    call_command("openapi", str(tmp_path / "openapi.json"))
    assert b"/api/v1/tools/list_things" in (tmp_path / "openapi.json").read_bytes()


def test_two_shapes_of_one_name_are_refused(tmp_path: Path, is_check: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    add_list(monkeypatch, "list_things", "ProjectShape", name=Text(10))
    assert 'identical names "Project"' in refusal(tmp_path, is_check)


@pytest.mark.parametrize("shape", ["ErrorShape", "TokenResponseShape"])
def test_a_shape_named_like_one_that_no_tool_has_is_refused(
    tmp_path: Path, is_check: bool, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_list(monkeypatch, "list_things", shape, name=Text(10))
    assert shape.removesuffix("Shape") in refusal(tmp_path, is_check)


def test_lists_of_words_that_need_a_name_of_their_own_are_refused(
    tmp_path: Path, is_check: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_list(monkeypatch, "list_things", "ThingShape", size=Choice(["small", "large"]))
    add_list(monkeypatch, "list_boxes", "BoxShape", size=Choice(["small", "large"]))
    add_list(monkeypatch, "list_bags", "BagShape", size=Choice(["light", "heavy"]))
    assert 'fields named "size"' in refusal(tmp_path, is_check)


def test_whatever_else_is_warned_of_is_refused(tmp_path: Path, is_check: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Nothing(serializers.Field):
        """A field of which nothing is said."""

    add_list(monkeypatch, "list_things", "ThingShape", thing=Nothing())
    assert "Nothing" in refusal(tmp_path, is_check)
