"""The v1 registry: every tool in catalog/, by name. A file there is a tool; its name is the tool's."""

from importlib import import_module
from inspect import isclass
from pkgutil import iter_modules

from apps.tools import catalog
from apps.tools.base import ListTool, Tool


def _discover() -> dict[str, Tool]:
    names = sorted(module.name for module in iter_modules(catalog.__path__))
    return {name: _tool_of(name) for name in names}


def _tool_of(name: str) -> Tool:
    module = import_module(f"{catalog.__name__}.{name}")
    (tool,) = (
        value
        for value in vars(module).values()
        if isclass(value) and issubclass(value, Tool) and value not in (Tool, ListTool)
    )
    return tool(name)


TOOLS = _discover()
NO_SUCH_TOOL = f"There is no tool of this name. There are {', '.join(TOOLS)}."
