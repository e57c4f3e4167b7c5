"""What the documentation says of tools, made from the tools: their own pages, and the tables that list them.

A page has it between two comments, <!-- made by make docs: NAME --> and <!-- end -->. All else is written by hand, and
stays.
"""

import json
import re
from collections.abc import Callable, Iterator
from os.path import relpath
from pathlib import Path
from shlex import quote
from typing import Any

from apps.orgs.callers import SCOPES
from apps.tools.base import Example, ListTool, Tool
from apps.tools.fields import IdInput
from apps.tools.mcp.schemas import Schema, input_schema
from apps.tools.registry import TOOLS
from apps.web.openapi import ContractError

ADDRESS = "http://localhost:8000/api/v1/tools"
BEARER = "porthole-local-dev"
BEGIN, END = "<!-- made by make docs: {0} -->\n", "<!-- end -->\n"
PART = re.compile(r"(<!-- made by make docs: (\w+) -->\n)(?:.*?\n)??(<!-- end -->\n)", re.DOTALL)
NEW_PAGE = "# {0}\n\n" + BEGIN + END
ANY = "…"  # stands for any value, as docs/index.md tells
MAX_TOLD = 2**31  # a greatest number beyond this bounds nothing that anybody means


def pages(root: Path) -> dict[Path, str]:
    """README.md and each page below docs/ as it should be, by its path. A tool without a page gets one.

    Raises ContractError where a page has a part that there is none of, or where a tool's page lacks the tool's part.
    """
    texts = {file: file.read_text(encoding="utf-8") for file in (root / "README.md", *(root / "docs").rglob("*.md"))}
    for name in TOOLS:
        text = texts.setdefault(root / f"docs/tools/{name}.md", NEW_PAGE.format(name))
        if BEGIN.format(name) not in text:
            raise ContractError(f"docs/tools/{name}.md has no {BEGIN.format(name).strip()}.")
    return {file: _filled(text, file, root) for file, text in texts.items()}


def _filled(text: str, file: Path, root: Path) -> str:
    parts = _parts(relpath(root / "docs/tools", file.parent))

    def fill(found: re.Match[str]) -> str:
        begin, name, end = found.groups()
        if name not in parts:
            raise ContractError(f"{file.relative_to(root)} asks for {name}: no tool, and no list of them.")
        return f"{begin}{parts[name]()}\n{end}"

    return PART.sub(fill, text)


def _parts(to_tools: str) -> dict[str, Callable[[], str]]:
    """What may stand on a page from which `to_tools` leads to the pages of tools."""
    lists: dict[str, Callable[[], str]] = {"tools": lambda: _list(to_tools), "scopes": _scopes, "limits": _limits}
    return lists | {name: lambda tool=tool: _tool(tool) for name, tool in TOOLS.items()}


# Lists


def _list(to_tools: str) -> str:
    rows = [
        f"| [{tool.name}]({to_tools}/{tool.name}.md) | {tool.summary} | `{tool.scope}` |".replace("(./", "(")
        for scope in SCOPES
        for tool in _with(scope)
    ]
    return _table("Tool", "Does", "Scope", rows=rows)


def _scopes() -> str:
    rows = [f"| `{scope}` | {', '.join(f'`{tool.name}`' for tool in _with(scope))} |" for scope in SCOPES]
    return _table("Scope", "Tools", rows=rows)


def _limits() -> str:
    """Tools by how many items they answer: the default, then the maximum."""
    names: dict[str, list[str]] = {}
    for tool in TOOLS.values():
        if "limit" in tool.input.fields:
            no_cursor = "" if "cursor" in tool.input.fields else "; there is no cursor"
            names.setdefault(f"{_default_limit(tool)} | {_maximum(tool)}{no_cursor}", []).append(f"`{tool.name}`")
    rows = [f"| {', '.join(tools)} | {limits} |" for limits, tools in names.items()]
    return _table("Tools", "Default", "Maximum", rows=rows)


def _with(scope: str) -> Iterator[Tool]:
    return (tool for tool in TOOLS.values() if tool.scope == scope)


def _default_limit(tool: Tool) -> int:
    default: Any = tool.default_limit if isinstance(tool, ListTool) else tool.input.fields["limit"].default
    return int(default)


def _maximum(tool: Tool) -> int:
    maximum: int = input_schema(tool.name)["properties"]["limit"]["maximum"]
    return maximum


def _table(*titles: str, rows: list[str]) -> str:
    return "\n".join([f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}", *rows])


# A tool's own page


def _tool(tool: Tool) -> str:
    return f"""\
{_linked(tool)}

Scope: `{tool.scope}`.

## Input

{_inputs(tool)}

## Example

```sh
{_call(tool)}
```

```json
{json.dumps(shown(tool.example), indent=2, ensure_ascii=False)}
```"""


def _linked(tool: Tool) -> str:
    """Its description, in which other tools lead to their pages."""
    others = [name for name in TOOLS if name != tool.name]
    return re.sub(rf"\b({'|'.join(others)})\b", r"[\1](\1.md)", tool.description)


def _inputs(tool: Tool) -> str:
    schema = input_schema(tool.name)
    if "properties" not in schema:
        return "None. Send no body, or `{}`."
    required = schema.get("required", [])
    rows = [
        f"| {_name(name, name in required)} | {_type(tool, name, field)} | {_meaning(name, field)} |"
        for name, field in schema["properties"].items()
    ]
    return _table("Input", "Type", "Meaning", rows=rows)


def _name(name: str, is_required: bool) -> str:
    return f"**`{name}`**" if is_required else f"`{name}`"


def _type(tool: Tool, name: str, field: Schema) -> str:
    """What may be sent, with its bounds."""
    if "enum" in field:
        return ", ".join(f"`{word}`" for word in field["enum"])
    if isinstance(tool.input.fields[name], IdInput):
        return "id"
    if field.get("format") == "date-time":
        return "time"
    if field["type"] == "string":
        return f"text{_bounds(field.get('minLength'), field.get('maxLength'), ' characters')}"
    if field["type"] == "integer":
        return f"number{_bounds(field.get('minimum'), field.get('maximum'), '')}"
    return str(field["type"])


def _bounds(least: int | None, most: int | None, unit: str) -> str:
    if most is None or most >= MAX_TOLD - 1:
        return f", from {least:,}{unit}" if least is not None else ""
    return f", {least:,} to {most:,}{unit}" if least is not None else f", up to {most:,}{unit}"


def _meaning(name: str, field: Schema) -> str:
    """Its description. One that has none narrows to what has this value."""
    words: str = field.get("description") or f"Only with this `{name}`."
    return words.replace("|", "\\|")


def _call(tool: Tool) -> str:
    if not tool.example.input:
        return f"curl -sX POST {ADDRESS}/{tool.name} \\\n  -H 'Authorization: Bearer {BEARER}'"
    body = quote(json.dumps(tool.example.input, ensure_ascii=False))
    return (
        f"curl -s {ADDRESS}/{tool.name} \\\n  -H 'Authorization: Bearer {BEARER}' \\\n"
        f"  -H 'Content-Type: application/json' \\\n  -d {body}"
    )


def shown(example: Example) -> Any:
    """The example's answer, with … for what is another one on each installation or at each sync."""
    cursor = {"nextCursor"} if example.output.get("nextCursor") else set()
    return masked(example.output, example.varying | cursor | {"syncedAt"})


def masked(value: Any, paths: frozenset[str] | set[str], path: str = "") -> Any:
    """`value` with … at these paths, such as "items.sha"; an item of a list has the list's path."""
    if path in paths:
        return ANY
    if isinstance(value, dict):
        return {name: masked(member, paths, f"{path}.{name}".lstrip(".")) for name, member in value.items()}
    if isinstance(value, list):
        return [masked(item, paths, path) for item in value]
    return value
