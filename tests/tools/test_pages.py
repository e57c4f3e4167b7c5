"""`manage.py docs`: what the docs say of tools is written from the tools, and what people wrote stays."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from rest_framework import serializers

from apps.tools.base import Example, ListTool, Tool
from apps.tools.fields import ChoiceInput, IdInput, IntegerInput, Text, TextInput, TimeInput
from apps.tools.mcp import schemas
from apps.tools.pages import BEGIN, END, shown
from apps.tools.registry import TOOLS
from apps.tools.shapes import Shape, ToolInput


class ThingShape(Shape):
    name = Text(10)


class ListThings(ListTool):
    """List things, as list_apps lists applications."""

    scope = "apps:read"
    item = ThingShape
    default_limit = 7
    max_limit = 9
    example = Example(input={}, output={"items": [], "nextCursor": None, "syncedAt": "2026-06-01T12:00:00.000Z"})


class GetThing(Tool):
    """Tell one thing."""

    scope = "docs:read"
    Output = ThingShape
    example = Example(input={"name": "it's"}, output={"name": "it's"})

    class Input(ToolInput):
        thingId = IdInput("thg", "a thing")
        name = TextInput(min_length=2, max_length=2000, help_text="This | that.")
        note = TextInput(required=False, max_length=20)
        size = IntegerInput(required=False, min_value=1, max_value=2**53)
        count = IntegerInput(required=False, min_value=0, max_value=5000, help_text="How many.")
        kind = ChoiceInput(["small", "large"])
        since = TimeInput(required=False)
        all = serializers.BooleanField(required=False)


@pytest.fixture
def things() -> Iterator[None]:
    """The only tools are list_things and get_thing. Afterwards the others are back, in the order in which they were."""
    real = dict(TOOLS)
    TOOLS.clear()
    TOOLS.update(list_things=ListThings("list_things"), get_thing=GetThing("get_thing"))
    schemas._document.cache_clear()
    yield
    TOOLS.clear()
    TOOLS.update(real)
    schemas._document.cache_clear()


@pytest.fixture
def root(things: None, tmp_path: Path) -> Path:
    """A checkout. list_things has a page, with words of people."""
    (tmp_path / "docs/tools").mkdir(parents=True)
    (tmp_path / "README.md").write_text(f"# Tools\n\n{BEGIN.format('tools')}{END}\nThat is all.\n")
    page = f"# list_things\n\n{BEGIN.format('list_things')}| old |\n{END}\n## Notes\n\nKept.\n"
    (tmp_path / "docs/tools/list_things.md").write_text(page)
    (tmp_path / "docs/lists.md").write_text(f"{BEGIN.format('scopes')}{END}\n{BEGIN.format('limits')}{END}")
    return tmp_path


def page(root: Path, name: str) -> str:
    return (root / f"docs/tools/{name}.md").read_text()


def test_a_tool_without_a_page_gets_one(root: Path) -> None:
    call_command("docs", root)
    text = page(root, "get_thing")
    assert text.startswith(f"# get_thing\n\n{BEGIN.format('get_thing')}Tell one thing.\n\nScope: `docs:read`.\n")
    assert text.endswith(END)


def test_what_people_wrote_stays(root: Path) -> None:
    call_command("docs", root)
    text = page(root, "list_things")
    assert text.endswith(f"{END}\n## Notes\n\nKept.\n")
    assert "old" not in text
    (root / "docs/tools/list_things.md").write_text(text.replace("Kept.", "Changed."))
    call_command("docs", root)
    call_command("docs", root, check=True)
    assert "Changed." in page(root, "list_things")


def test_inputs_are_told_with_their_types_bounds_and_words(root: Path) -> None:
    call_command("docs", root)
    rows = [line for line in page(root, "get_thing").splitlines() if line.startswith("| ") and "`" in line]
    assert rows == [
        "| **`thingId`** | id | Id of a thing: thg_… |",
        "| **`name`** | text, 2 to 2,000 characters | This \\| that. |",
        "| `note` | text, up to 20 characters | Only with this `note`. |",
        "| `size` | number, from 1 | Only with this `size`. |",
        "| `count` | number, 0 to 5,000 | How many. |",
        "| `kind` | `small`, `large` | Only with this `kind`. |",
        "| `since` | time | Only with this `since`. |",
        "| `all` | boolean | Only with this `all`. |",
    ]


def test_the_example_is_a_call_that_a_shell_takes(root: Path) -> None:
    call_command("docs", root)
    assert """-d '{"name": "it'"'"'s"}'\n```\n\n```json\n{\n  "name": "it's"\n}\n```\n""" in page(root, "get_thing")
    assert "-sX POST http://localhost:8000/api/v1/tools/list_things \\\n" in page(root, "list_things")


def test_what_differs_on_each_installation_is_left_open(root: Path) -> None:
    output = {"items": [{"id": "a", "sha": "b"}], "nextCursor": "c…", "syncedAt": "d", "ref": {"name": "e", "at": "f"}}
    example = Example(input={}, output=output, varying=frozenset({"items.sha", "ref.at"}))
    assert shown(example) == {
        "items": [{"id": "a", "sha": "…"}], "nextCursor": "…", "syncedAt": "…", "ref": {"name": "e", "at": "…"},
    }  # fmt: skip
    assert shown(Example({}, {"nextCursor": None})) == {"nextCursor": None}


def test_lists_of_tools_are_told_by_scope_and_by_limit(root: Path) -> None:
    call_command("docs", root)
    row = "| [list_things](docs/tools/list_things.md) | List things, as list_apps lists applications. | `apps:read` |\n"
    assert row in (root / "README.md").read_text()
    lists = (root / "docs/lists.md").read_text()
    assert "| `docs:read` | `get_thing` |\n" in lists
    assert "| `list_things` | 7 | 9 |\n" in lists


def test_a_check_names_the_pages_that_differ_and_changes_nothing(root: Path) -> None:
    call_command("docs", root)
    (root / "README.md").write_text((root / "README.md").read_text().replace("List things", "Lists things"))
    (root / "docs/tools/get_thing.md").unlink()
    with pytest.raises(CommandError, match=r"say: README\.md, docs/tools/get_thing\.md\. Run `make docs`"):
        call_command("docs", root, check=True)
    assert "Lists things" in (root / "README.md").read_text()
    assert not (root / "docs/tools/get_thing.md").exists()


def test_a_page_of_a_tool_that_is_gone_is_refused(root: Path) -> None:
    call_command("docs", root)
    del TOOLS["get_thing"]
    with pytest.raises(CommandError, match=r"docs/tools/get_thing\.md asks for get_thing"):
        call_command("docs", root, check=True)


def test_a_page_without_the_tools_part_is_refused(root: Path) -> None:
    (root / "docs/tools/get_thing.md").write_text("# get_thing\n\nBy hand.\n")
    with pytest.raises(CommandError, match=r"docs/tools/get_thing\.md has no"):
        call_command("docs", root)
