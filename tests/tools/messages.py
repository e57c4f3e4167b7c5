"""Every error message that the code of tools, sources and bodies can raise, read from its syntax.

A message is what is given to the exceptions that doors answer. Where a function hands on its own parameter, that
function is one more way to raise, and its callers are read instead; so a new helper cannot hide a message. Whatever
cannot be followed to a text fails here.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from rest_framework import serializers

from apps.tools.registry import TOOLS

ROOT = Path(__file__).parents[2]
READ = ["apps/tools", "apps/sources", "apps/web/body.py", "apps/web/errors.py"]
HOLE = "{…}"
PARAMETER = re.compile("\0(\\w+)\0")
# The place of the message among the arguments of what is raised.
RAISED = {"InvalidInput.because": 1, "Problem": 1, "Unavailable": 0, "Refused": 2, "RpcError": 1}
# Messages of other errors, handed on as they are.
HANDED_ON = {"str(error)", "str(message)", "error.problems[0].msg", "refused.detail"}
# Nothing else of an input's own messages can be reached: bodies with such texts are refused as a whole, every input is
# an object, and numbers are never read from text.
UNREACHABLE = {"max_string_length", "null_only", "not_a_list"}
VALIDATORS = {"ProhibitNullCharactersValidator", "ProhibitSurrogateCharactersValidator"}  # see body.NO_TEXT


@dataclass(frozen=True)
class Function:
    module: str
    node: Any

    @property
    def parameters(self) -> list[str]:
        return [argument.arg for argument in self.node.args.args if argument.arg not in ("self", "cls")]


def raised() -> set[str]:
    """Messages as templates: a hole where a value is put in."""
    found, ways = set[str](), dict[tuple[str, str], set[tuple[str, str]]]()
    while True:
        known = sum(map(len, ways.values())), len(found)
        for function, call in _calls():
            for template in _told(function, call, ways):
                if inner := PARAMETER.search(template):
                    ways.setdefault((function.module, function.node.name), set()).add((inner[1], template))
                else:
                    found.add(template)
        if (sum(map(len, ways.values())), len(found)) == known:
            return found


def declared() -> set[str]:
    """What inputs say for themselves."""
    found = set()
    for tool in TOOLS.values():
        names = {type(validator).__name__ for field in tool.input.fields.values() for validator in field.validators}
        assert names <= VALIDATORS | {
            f"M{which}{what}Validator" for which in ("ax", "in") for what in ("Value", "Length")
        }
        for field in tool.input.fields.values():
            assert type(field).__module__ == "apps.tools.fields", field
            found |= {
                str(text) for code, text in field.error_messages.items() if code not in UNREACHABLE | _unused(field)
            }
        found.add(str(tool.input.error_messages["unknown_key"]))
    return {re.sub(r"\{\w+\}", HOLE, text) for text in found}


def _unused(field: Any) -> set[str]:
    """Codes that DRF declares for a kind of input and that ours never uses."""
    dead = set() if field.required else {"required"}
    if isinstance(field, serializers.ChoiceField):
        dead.add("invalid")
    if (getattr(field, "min_length", None) or 1) < 2:  # "blank" comes first
        dead.add("min_length")
    return dead


def _calls() -> Iterator[tuple[Function, ast.Call]]:
    for module, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Call):
                        yield Function(module, node), inner


@cache
def _trees() -> dict[str, ast.Module]:
    files = [file for name in READ for file in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))]
    names = {str(file.relative_to(ROOT).with_suffix("")).replace("/", "."): file for file in files}
    return {name: ast.parse(file.read_text()) for name, file in names.items() if not name.endswith("__init__")}


def _told(function: Function, call: ast.Call, ways: dict[tuple[str, str], set[tuple[str, str]]]) -> Iterator[str]:
    """The messages of one call, if it is one that tells any."""
    name = ast.unparse(call.func)
    if name in RAISED:
        yield from _texts(function, _argument(call, RAISED[name], ("msg", "message", "detail")))
    elif name == "serializers.ValidationError":
        (argument,) = call.args
        if isinstance(argument, ast.Dict):
            for value in argument.values:
                assert isinstance(value, ast.List), ast.unparse(call)
                for element in value.elts:
                    yield from _texts(function, element)
        else:
            assert ast.unparse(argument) == "errors"  # those of fields, which `declared` has
    target = (_home_of(function.module, name), name.rpartition(".")[2])
    for parameter, template in ways.get(target, ()):
        places = _function(*target).parameters
        for text in _texts(function, _argument(call, places.index(parameter), (parameter,))):
            yield template.replace(f"\0{parameter}\0", text)


def _home_of(module: str, name: str) -> str:
    """Where a function that is called by this name is defined."""
    first, _, rest = name.partition(".")
    value = getattr(import_module(module), first, None)
    if rest and value is not None:
        return str(getattr(value, "__name__", ""))  # of a module
    return str(getattr(value, "__module__", ""))


def _function(module: str, name: str) -> Function:
    (node,) = [n for n in ast.walk(_trees()[module]) if isinstance(n, ast.FunctionDef) and n.name == name]
    return Function(module, node)


def _argument(call: ast.Call, place: int, names: tuple[str, ...]) -> ast.expr:
    for keyword in call.keywords:
        if keyword.arg in names:
            return keyword.value
    return call.args[place]


def _texts(function: Function, value: ast.expr) -> list[str]:
    match value:
        case ast.Constant(value=str(text)):
            return [text] if text else []
        case ast.IfExp():
            return _texts(function, value.body) + _texts(function, value.orelse)
        case ast.JoinedStr():
            return _joined(function, value)
        case ast.Name(id=name):
            return _named(function, name)
    assert ast.unparse(value) in HANDED_ON, f"{function.module}: where does {ast.unparse(value)} come from?"
    return []


def _joined(function: Function, value: ast.JoinedStr) -> list[str]:
    texts = [""]
    for part in value.values:
        inner = part.value if isinstance(part, ast.FormattedValue) else part
        if isinstance(inner, ast.Constant):
            choices = [str(inner.value)]
        elif isinstance(inner, ast.Name) and (choices := _named(function, inner.id, is_part=True)):
            pass
        else:
            choices = [] if ast.unparse(inner) in HANDED_ON else [HOLE]
        texts = [text + choice for text in texts for choice in choices]
    return texts


def _named(function: Function, name: str, *, is_part: bool = False) -> list[str]:
    """A constant's text, a local variable's, or a parameter to be filled in. Parts that are no sentences are holes."""
    constant = getattr(import_module(function.module), name, None)
    if isinstance(constant, str | int):
        return [str(constant)]
    assigned = [
        node
        for node in ast.walk(function.node)
        if isinstance(node, ast.Assign | ast.AugAssign)
        and any(
            isinstance(t, ast.Name) and t.id == name for t in getattr(node, "targets", [getattr(node, "target", 0)])
        )
    ]
    if is_part and not (name in function.parameters and name in ("sentence", "msg")):
        return [HOLE]
    if name in function.parameters:
        return [f"\0{name}\0"]
    assert assigned, f"{function.module}: where does {name} come from?"
    texts = [text for node in assigned if isinstance(node, ast.Assign) for text in _texts(function, node.value)]
    more = [text for node in assigned if isinstance(node, ast.AugAssign) for text in _texts(function, node.value)]
    return texts + [text + addition for text in texts for addition in more]
