"""The entries of a manifest → records, one entry at a time; and for some of the records, where they come from."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from apps.platforms.manifest.layout import INSTANCE, TOP, Layout
from apps.platforms.manifest.problems import Path, Problems
from apps.platforms.manifest.yaml_stream import Mapping, Node, Scalar, Sequence, Unread, YamlError, YamlStream
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import Bound, Integer, Items, Time
from apps.platforms.snapshot.fields import fields_of

VERSION = "1"
OF_FILE = ("version", "asOf", "staleAfter")
MAX_ENTRIES = 2_000_000
# A record: its collection, and its index there.
Record = tuple[str, int]
# Where a field comes from: the entry, the place in it, and the line.
Origin = tuple[Path, str, int]


@dataclass(slots=True)
class Entry:
    """An entry that is read. `leaves` are the nodes in it by their place, groups opened, such as source.type."""

    layout: Layout
    path: Path
    line: int
    key: str | None = None
    leaves: dict[str, Node] = field(default_factory=dict)


class Entries:
    """Builds records as well as it can, so that one mistake does not hide the next.

    `complaints` are the fields of records that `problems` speak of already. `origins` tell where the fields in
    `wanted` come from; those that an entry cannot say, because they follow from where it is, come from nowhere.
    """

    def __init__(self, stream: YamlStream, wanted: dict[Record, set[str]] | None = None) -> None:
        self.stream = stream
        self.wanted = wanted or {}
        self.problems = Problems()
        self.records: dict[str, list[Any]] = {name: [] for name in base.COLLECTIONS}
        self.count = 0
        self.complaints: set[tuple[str, int, str]] = set()
        self.origins: dict[tuple[str, int, str], Origin] = {}

    def read(self) -> tuple[datetime | None, int | None]:
        """Reads the file, and returns its `asOf` and `staleAfter`. Raises YamlError and TooManyProblems."""
        root = self.stream.mapping(self.stream.root(), 1)
        age: tuple[datetime | None, int | None] = None, None
        if isinstance(root, Unread):
            age = self._top(root)
        else:
            self._complain(root, (), "manifest", "must start with `version: 1`, and hold lists such as `projects:`")
        self.stream.end()
        return age

    def _top(self, root: Unread) -> tuple[datetime | None, int | None]:
        values: dict[str, Node] = {}
        for key, line, value in self.stream.pairs(root):
            if key in TOP:
                self._list(TOP[key], value, 2, (key,), {})
                continue
            values[key] = self.stream.node(value, 2)
            if key not in OF_FILE:
                self._unknown_key(key, line, (), "manifest", [*OF_FILE, *TOP])
        version = values.get("version")
        if not (isinstance(version, Scalar) and version.text == VERSION):
            self._complain(version or root, (), "version", f"must be {VERSION}")
        as_of = self._of_file(Time(), values, "asOf")
        stale_after = self._of_file(Integer(1), values, "staleAfter")
        if stale_after is not None and "asOf" not in values:
            self._complain(values["staleAfter"], (), "staleAfter", "belongs to `asOf`, which is not there")
        return as_of, stale_after

    def _of_file(self, bound: Bound, values: dict[str, Node], key: str) -> Any:
        if key not in values:
            return None
        try:
            value = _scalar(bound, values[key])
            if sentence := bound.problem(value):
                raise ValueError(sentence)
        except ValueError as error:
            self.problems.add(values[key].line, (), key, str(error), is_last=True)
            return None
        return value

    def _complain(self, node: Node | Unread, path: Path, leaf: str, sentence: str) -> None:
        self.problems.add(node.line, path, leaf, sentence)

    def _list(self, layout: Layout, value: Any, depth: int, path: Path, given: dict[str, Any]) -> None:
        """The entries of a list, each with what is `given` by where the list is. `path` ends with the list's key."""
        found = self.stream.sequence(value, depth)
        if isinstance(found, Sequence | Unread):
            for index, item in enumerate(self.stream.items(found)):
                self._entry(layout, item, depth + 1, (*path, index), given)
        elif not _is_null(found):
            self._complain(found, path, "", "must be a list" + (": values are never stored" if layout.short else ""))

    def _entry(self, layout: Layout, value: Any, depth: int, path: Path, given: dict[str, Any]) -> None:
        found = self.stream.mapping(value, depth)
        entry = Entry(layout, path, found.line)
        if isinstance(found, Scalar) and not found.is_null and layout.short:
            entry.leaves[layout.short] = found
        elif isinstance(found, Mapping | Unread):
            self._read_entry(entry, found, depth)
        else:
            return self._complain(found, path, "", "must be an entry with keys and what they say")
        self._add(layout, entry, given)
        for inner in layout.beside:
            if any(leaf in entry.leaves for leaf in inner.layout.fields):
                self._add(inner.layout, entry, {inner.parent: entry.key})
        return None

    def _read_entry(self, entry: Entry, mapping: Mapping | Unread, depth: int) -> None:
        """Fills an entry, and reads its lists: once its key is known, because what is in them refers to it."""
        said, early, lists = Mapping(entry.line), dict[str, Node](), entry.layout.lists
        for key, line, value in self.stream.pairs(mapping):
            if key not in lists:
                node = said.items[key] = self.stream.node(value, depth + 1)
                said.keys[key] = line
                if key == "key" and isinstance(node, Scalar) and not node.is_null:
                    entry.key = node.text
            elif entry.key is not None:
                self._inner_list(entry, key, value, depth)
            else:
                early[key] = self.stream.node(value, depth + 1)
        entry.leaves.update(self._leaves(entry, entry.layout.keys, said))
        for key, node in early.items():
            self._inner_list(entry, key, node, depth)

    def _inner_list(self, entry: Entry, key: str, value: Any, depth: int) -> None:
        inner = entry.layout.lists[key]
        self._list(inner.layout, value, depth + 1, (*entry.path, key), {inner.parent: entry.key})

    def _leaves(self, entry: Entry, keys: dict[str, Any], said: Mapping, group: str = "") -> Iterator[tuple[str, Node]]:
        """The nodes of an entry by their place in it, groups opened. What is null is as good as left out."""
        holds_names = bool(entry.layout.short) and not group
        self._known_keys(said, entry.path, group.rstrip("."), keys, holds_names)
        for key, child in said.items.items():
            if key not in keys or _is_null(child):
                continue
            inner = keys[key]
            if inner is None:
                yield f"{group}{key}", child
            elif not isinstance(child, Mapping) or not child.items:
                self._complain(child, entry.path, f"{group}{key}", f"must hold keys: {', '.join(inner)}")
            else:
                yield from self._leaves(entry, inner, child, f"{group}{key}.")

    def _known_keys(
        self, node: Mapping, path: Path, leaf: str, known: Iterable[str], holds_names: bool = False
    ) -> None:
        for key, line in node.keys.items():
            if key not in known:
                self._unknown_key(key, line, path, leaf, list(known), holds_names)

    def _unknown_key(
        self, key: str, line: int, path: Path, leaf: str, known: list[str], holds_names: bool = False
    ) -> None:
        close = get_close_matches(key[:50], known, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the keys here are {', '.join(known)}"
        values = "; values are never stored" if holds_names else ""
        self.problems.add(line, path, leaf, f"unknown key: {hint}{values}")

    def _add(self, layout: Layout, entry: Entry, given: dict[str, Any]) -> None:
        """Makes a record of an entry."""
        self.count += 1
        if self.count > MAX_ENTRIES:
            raise YamlError(entry.line, f"there are more than {MAX_ENTRIES} entries, this one and those before it")
        records, leaves, values = self.records[layout.collection], entry.leaves, layout.defaults | given
        for leaf, name, known in layout.values:
            if leaf in leaves:
                value = self._value(known.bound, leaves[leaf], entry.path, leaf)
                if value is None:
                    self.complaints.add((layout.collection, len(records), name))
                else:
                    values[name] = value
        for name in self.wanted.get((layout.collection, len(records)), ()):
            if origin := _origin(name, entry, layout):
                self.origins[layout.collection, len(records), name] = origin
        records.append(layout.record(**values))

    def _value(self, bound: Bound, node: Node, path: Path, leaf: str) -> Any:
        """What a field holds, or None where that was complained of."""
        if isinstance(bound, Items):
            return self._items(bound, node, path, leaf)
        try:
            return _scalar(bound, node)
        except ValueError as error:
            return self._complain(node, path, leaf, str(error))

    def _items(self, bound: Items, node: Node, path: Path, leaf: str) -> tuple[Any, ...] | None:
        if not isinstance(node, Sequence):
            self._complain(node, path, leaf, "must be a list")
            return None
        before = len(self.problems)
        items = [self._item(bound, child, path, f"{leaf}[{index}]") for index, child in enumerate(node.items)]
        return tuple(items) if len(self.problems) == before else None

    def _item(self, bound: Items, node: Node, path: Path, leaf: str) -> Any:
        if not isinstance(bound.of, type):
            return self._value(bound.of, node, path, leaf)
        if not isinstance(node, Mapping):
            return self._complain(node, path, leaf, "must be an entry with keys and what they say")
        self._known_keys(node, path, leaf, INSTANCE)
        known, values = fields_of(bound.of), dict.fromkeys(INSTANCE.values())
        for key, name in INSTANCE.items():
            child = node.items.get(key)
            if child is not None and not _is_null(child):
                values[name] = self._value(known[name].bound, child, path, f"{leaf}.{key}")
        return bound.of(**values)


def _scalar(bound: Bound, node: Node) -> Any:
    """Raises ValueError with a sentence."""
    if not isinstance(node, Scalar):
        raise ValueError("must be a single value")  # a sentence for people, as of the bounds
    return bound.read(node.text)


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.is_null


def _origin(field: str, entry: Entry, layout: Layout) -> Origin | None:
    """Where an entry says a record's field (`instances[0].since`, say). None where entries do not say that field."""
    name, *inside = field.replace("[", ".[").split(".")
    leaf = next((leaf for leaf, known in layout.fields.items() if known == name), None)
    if leaf is None:
        return None
    node = entry.leaves.get(leaf)
    line = entry.line if node is None else node.line
    for place, inner in _inside(inside, node):
        leaf, line = f"{leaf}{place}", line if inner is None else inner.line
    return entry.path, leaf, line


def _inside(parts: list[str], node: Node | None) -> Iterator[tuple[str, Node | None]]:
    """The way to an item of a list, and to a key in that item."""
    for part in parts:
        if isinstance(node, Sequence):
            node = node.items[int(part.strip("[]"))]
            yield part, node
        else:
            key = next(key for key, name in INSTANCE.items() if name == part)
            node = node.items.get(key) if isinstance(node, Mapping) else None
            yield f".{key}", node
