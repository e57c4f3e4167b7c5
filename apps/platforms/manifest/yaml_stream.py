"""YAML text → nodes that know their lines, read as they are asked for. Scalars stay text; anchors and tags are refused.

Long lists and their entries are read one at a time, so that of a large file only a small part is ever a tree.
"""

import codecs
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import yaml

from apps.web.progress import tell

KIB = 1024
MIB = 1024 * KIB
MAX_BYTES = 512 * MIB
MAX_BYTES_AT_ONCE = 5 * MIB  # of the text of what is a tree at one time; 100 to 200 MB where its values are short
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
NODES = (Scalar, Sequence, Mapping)


@dataclass(slots=True)
class Unread:
    """A sequence or a mapping that starts here: what is in it comes next, and must be read before anything else."""

    line: int
    depth: int
    end: type[yaml.Event]


class YamlStream:
    """One document. Values come as events of the parser: `node` reads one whole, `sequence` and `mapping` only open it.

    Each raises YamlError, which never repeats what the text says; so does the parser, as it is told in `yaml_in`.
    """

    def __init__(self, feed: "_Feed") -> None:
        self._feed = feed
        self._next = Loader(feed).get_event

    def root(self) -> Any:
        """The document's value: nothing where there is no document."""
        for event in iter(self._next, None):
            if isinstance(event, yaml.NodeEvent):
                return event
        return Scalar(1, "", True)

    def end(self) -> None:
        """Reads what is behind the document."""
        for event in iter(self._next, None):
            if isinstance(event, yaml.DocumentStartEvent):
                raise YamlError(_line(event), "a second document starts here: a file holds one")

    def node(self, value: Any, depth: int) -> Node:
        """The whole tree of a value. What is one already is given back, here and below."""
        if isinstance(value, NODES):
            return value
        _check(value, depth)
        if isinstance(value, yaml.ScalarEvent):
            return Scalar(_line(value), value.value, not value.style and value.value in NULLS)
        if isinstance(value, yaml.SequenceStartEvent):
            return Sequence(_line(value), [self.node(item, depth + 1) for item in self._until(yaml.SequenceEndEvent)])
        mapping = Mapping(_line(value))
        for key, line, child in self.pairs(Unread(mapping.line, depth, yaml.MappingEndEvent)):
            mapping.items[key] = self.node(child, depth + 1)
            mapping.keys[key] = line
        return mapping

    def sequence(self, value: Any, depth: int) -> Node | Unread:
        """An unread sequence; a whole tree where it is something else."""
        if not isinstance(value, yaml.SequenceStartEvent):
            return self.node(value, depth)
        _check(value, depth)
        return Unread(_line(value), depth, yaml.SequenceEndEvent)

    def mapping(self, value: Any, depth: int) -> Node | Unread:
        """An unread mapping; a whole tree where it is something else."""
        if not isinstance(value, yaml.MappingStartEvent):
            return self.node(value, depth)
        _check(value, depth)
        return Unread(_line(value), depth, yaml.MappingEndEvent)

    def items(self, sequence: Sequence | Unread) -> Iterator[Any]:
        """The values in a sequence. Nobody needs one any more when the next is asked for."""
        if isinstance(sequence, Sequence):
            yield from sequence.items
            return
        feed = self._feed
        held, line = feed.held, feed.line
        for event in self._until(yaml.SequenceEndEvent):
            feed.line = _line(event)
            yield event
            feed.held = held
        feed.line = line

    def pairs(self, mapping: Mapping | Unread) -> Iterator[tuple[str, int, Any]]:
        """The keys of a mapping, their lines, and the values."""
        if isinstance(mapping, Mapping):
            yield from ((key, mapping.keys[key], child) for key, child in mapping.items.items())
            return
        seen: set[str] = set()
        next_event = self._next
        while not isinstance(event := next_event(), yaml.MappingEndEvent):
            _refuse_features(event)
            if not isinstance(event, yaml.ScalarEvent):
                raise YamlError(_line(event), "a key must be plain text")
            if event.value in seen:
                raise YamlError(_line(event), "the same key is there twice")
            seen.add(event.value)
            yield event.value, _line(event), next_event()

    def _until(self, end: type[yaml.Event]) -> Iterator[Any]:
        next_event = self._next
        while not isinstance(event := next_event(), end):
            yield event


@contextmanager
def yaml_in(file: BinaryIO) -> Iterator[YamlStream]:
    """The YAML in a file, which is read from its beginning. Raises YamlError, also for what the parser says."""
    _check_text(file)
    file.seek(0)
    try:
        yield YamlStream(_Feed(file))
    except yaml.reader.ReaderError as error:
        raise YamlError(_line_at(file, error.position), "holds a character that YAML refuses") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(mark.line + 1 if mark else 1, "cannot be read as YAML here, or just before") from None


class _Feed:
    """What the parser reads a file through. `held` are the bytes whose nodes may be in memory, from `line` on."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.size = file.seek(0, os.SEEK_END)
        self.read_so_far = file.seek(0)
        self.held = 0
        self.line = 1

    def read(self, size: int) -> bytes:
        content = self.file.read(size)
        self.read_so_far += len(content)
        tell("Reading the manifest", self.read_so_far // KIB, self.size // KIB, "KiB")
        self.held += len(content)
        if self.held > MAX_BYTES_AT_ONCE:
            what = f"what starts here is larger than {MAX_BYTES_AT_ONCE // MIB} MiB"
            raise YamlError(self.line, f"{what}: an entry's lists do not count where its `key` comes first")
        return content


def _check_text(file: BinaryIO) -> None:
    """Raises YamlError unless all of a file is UTF-8, and no more than may be."""
    decoder, size, lines = codecs.getincrementaldecoder("utf-8")(), 0, 1
    file.seek(0)
    while piece := file.read(MIB):
        size += len(piece)
        if size > MAX_BYTES:
            raise YamlError(1, f"the file is larger than {MAX_BYTES // MIB} MiB")
        _decode(decoder, piece, lines)
        lines += piece.count(b"\n")
    _decode(decoder, b"", lines, final=True)


def _decode(decoder: codecs.IncrementalDecoder, piece: bytes, lines: int, final: bool = False) -> None:
    try:
        decoder.decode(piece, final)
    except UnicodeDecodeError as error:
        # The error's own bytes may begin with the end of the piece before, in which there is no line break.
        raise YamlError(lines + error.object.count(b"\n", 0, error.start), "is not UTF-8 text") from None


def _line_at(file: BinaryIO, position: int) -> int:
    """The line of a byte."""
    file.seek(0)
    lines = 1
    while position > 0 and (piece := file.read(min(position, MIB))):
        position -= len(piece)
        lines += piece.count(b"\n")
    return lines


def _check(event: Any, depth: int) -> None:
    _refuse_features(event)
    if depth > MAX_DEPTH:
        raise YamlError(_line(event), "is nested too deeply")


def _refuse_features(event: Any) -> None:
    if event.anchor is not None:  # an alias has one too
        raise YamlError(_line(event), "anchors and aliases are not allowed")
    if event.tag is not None:
        raise YamlError(_line(event), "tags are not allowed")


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
