"""YAML text → a tree of nodes that know their lines. Every scalar stays text; anchors and tags are refused."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_BYTES = 5 * 1024 * 1024
MAX_DEPTH = 20
NULLS = ("", "~", "null", "Null", "NULL")


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Only its parser is used: it tells events, and builds no objects. The one in C where there is one: it is fast."""


class YamlError(ValueError):
    """Text that is not the YAML we read. `line` counts from 1."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line


@dataclass(slots=True)
class Scalar:
    line: int
    text: str
    is_null: bool


@dataclass(slots=True)
class Sequence:
    line: int
    items: list["Node"] = field(default_factory=list)


@dataclass(slots=True)
class Mapping:
    """`keys` tells the line of each key."""

    line: int
    items: dict[str, "Node"] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)


Node = Scalar | Sequence | Mapping


def read_tree(content: bytes) -> Node:
    """Raises YamlError, which never repeats what the text says."""
    if len(content) > MAX_BYTES:
        raise YamlError(1, f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise YamlError(content.count(b"\n", 0, error.start) + 1, "is not UTF-8 text") from None
    try:
        return _tree(_events(text))
    except yaml.reader.ReaderError as error:
        raise YamlError(text.count("\n", 0, error.position) + 1, "holds a character that YAML refuses") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(mark.line + 1 if mark else 1, "cannot be read as YAML here, or just before") from None


def _events(text: str) -> Iterator[Any]:
    loader = Loader(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _tree(events: Iterator[Any]) -> Node:
    documents = 0
    root: Node = Scalar(1, "", True)
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise YamlError(_line(event), "a second document starts here: a file holds one")
        elif isinstance(event, yaml.NodeEvent):
            root = _node(event, events, 1)
    return root


def _node(event: Any, events: Iterator[Any], depth: int) -> Node:
    _refuse_features(event)
    if depth > MAX_DEPTH:
        raise YamlError(_line(event), "is nested too deeply")
    if isinstance(event, yaml.SequenceStartEvent):
        return _sequence(event, events, depth)
    if isinstance(event, yaml.MappingStartEvent):
        return _mapping(event, events, depth)
    return Scalar(_line(event), event.value, not event.style and event.value in NULLS)


def _sequence(start: Any, events: Iterator[Any], depth: int) -> Sequence:
    sequence = Sequence(_line(start))
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            break
        sequence.items.append(_node(event, events, depth + 1))
    return sequence


def _mapping(start: Any, events: Iterator[Any], depth: int) -> Mapping:
    mapping = Mapping(_line(start))
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            break
        _refuse_features(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise YamlError(_line(event), "a key must be plain text")
        if event.value in mapping.items:
            raise YamlError(_line(event), "the same key is there twice")
        mapping.keys[event.value] = _line(event)
        mapping.items[event.value] = _node(next(events), events, depth + 1)
    return mapping


def _refuse_features(event: Any) -> None:
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        raise YamlError(_line(event), "anchors and aliases are not allowed")
    if getattr(event, "tag", None) is not None:
        raise YamlError(_line(event), "tags are not allowed")


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
