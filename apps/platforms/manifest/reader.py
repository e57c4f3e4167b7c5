"""A manifest, the YAML file of docs/manifest.md, → a Snapshot; or everything that is wrong with it, by line."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from apps.platforms.manifest.layout import INSTANCE, TOP, Layout
from apps.platforms.manifest.yaml_tree import Mapping, Node, Scalar, Sequence, YamlError, read_tree
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import Bound, Items, Time
from apps.platforms.snapshot.check import Problem, problems_of

VERSION = "1"


class ManifestError(ValueError):
    """A file that is no manifest. `problems` are lines such as `line 12: projects[0].name: must be …`.

    They never repeat what the file says: a secret may have slipped in at any place.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Manifest:
    """`as_of` is the moment that the file's times are told from; only `load_demo` moves them."""

    snapshot: base.Snapshot
    as_of: datetime | None


def read_manifest(content: bytes) -> Manifest:
    """Raises ManifestError with everything that is wrong."""
    try:
        tree = read_tree(content)
    except YamlError as error:
        raise ManifestError([f"line {error.line}: {error}"]) from None
    reader = _Reader()
    as_of = reader.top(tree)
    collections: dict[str, Any] = {name: tuple(records) for name, records in reader.records.items()}
    snapshot = base.Snapshot(**collections)
    reader.locate(problems_of(snapshot))
    if reader.problems:
        reader.problems.sort(key=lambda problem: problem[0])
        raise ManifestError([f"line {line}: {place}: {sentence}" for line, place, sentence in reader.problems])
    return Manifest(snapshot, as_of)


@dataclass(slots=True)
class _Origin:
    """Where in the file a record comes from. Fields in `settled` are not the file's fault, or were complained of."""

    place: str
    line: int
    fields: dict[str, tuple[str, int]] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)


class _Reader:
    """Builds records as well as it can, so that one mistake does not hide the next."""

    def __init__(self) -> None:
        self.problems: list[tuple[int, str, str]] = []
        self.records: dict[str, list[Any]] = {name: [] for name in base.COLLECTIONS}
        self.origins: dict[str, list[_Origin]] = {name: [] for name in base.COLLECTIONS}

    def top(self, tree: Node) -> datetime | None:
        if not isinstance(tree, Mapping):
            self.problem(tree, "manifest", "must start with `version: 1`, and hold lists such as `projects:`")
            return None
        self._known_keys(tree, "manifest", ["version", "asOf", *TOP])
        version = tree.items.get("version")
        if not (isinstance(version, Scalar) and version.text == VERSION):
            self.problem(version or tree, "version", f"must be {VERSION}")
        for key, layout in TOP.items():
            self.entries(layout, tree.items.get(key), key)
        as_of = tree.items.get("asOf")
        return None if as_of is None else self.scalar(Time(), as_of, "asOf")

    def problem(self, node: Node, place: str, sentence: str) -> None:
        self.problems.append((node.line, place, sentence))

    def entries(self, layout: Layout, node: Node | None, place: str, **given: Any) -> None:
        if isinstance(node, Sequence):
            for index, item in enumerate(node.items):
                self.entry(layout, item, f"{place}[{index}]", given)
        elif node is not None and not _is_null(node):
            self.problem(node, place, "must be a list" + (": values are never stored" if layout.short else ""))

    def entry(self, layout: Layout, node: Node, place: str, given: dict[str, Any]) -> None:
        if isinstance(node, Scalar) and not node.is_null and layout.short:
            node = Mapping(node.line, {layout.short: node}, {layout.short: node.line})
        if not isinstance(node, Mapping):
            return self.problem(node, place, "must be an entry with keys and what they say")
        leaves = dict(self.leaves(_keys_of(layout), node, place, holds_names=bool(layout.short)))
        record = self.add(layout, node, place, leaves, given)
        for inner in layout.beside:
            if any(leaf in leaves for leaf in inner.layout.fields):
                self.add(inner.layout, node, place, leaves, {inner.parent: record.key})
        for key, inner in layout.lists.items():
            self.entries(inner.layout, leaves.get(key), f"{place}.{key}", **{inner.parent: record.key})
        return None

    def leaves(
        self, keys: dict[str, Any], node: Mapping, place: str, holds_names: bool = False, prefix: str = ""
    ) -> Iterator[tuple[str, Node]]:
        """The nodes of an entry by their place in it, groups opened. What is null is as good as left out."""
        self._known_keys(node, place, list(keys), holds_names)
        for key, child in node.items.items():
            if key not in keys or _is_null(child):
                continue
            group = keys[key]
            if group is None:
                yield f"{prefix}{key}", child
            elif not isinstance(child, Mapping) or not child.items:
                self.problem(child, f"{place}.{key}", f"must hold keys: {', '.join(group)}")
            else:
                yield from self.leaves(group, child, f"{place}.{key}", prefix=f"{prefix}{key}.")

    def _known_keys(self, node: Mapping, place: str, known: list[str], holds_names: bool = False) -> None:
        for key, line in node.keys.items():
            if key not in known:
                close = get_close_matches(key[:50], known, n=1)
                hint = f"did you mean {close[0]}?" if close else f"the keys here are {', '.join(known)}"
                values = "; values are never stored" if holds_names else ""
                self.problems.append((line, place, f"unknown key: {hint}{values}"))

    def add(self, layout: Layout, node: Node, place: str, leaves: dict[str, Node], given: dict[str, Any]) -> Any:
        """Makes the record of an entry, and remembers where its fields come from."""
        origin = _Origin(place, node.line, settled=set(given))
        values: dict[str, Any] = {**layout.given, **given}
        known = base.fields_of(layout.record)
        for leaf, name in layout.fields.items():
            child = leaves.get(leaf)
            origin.fields[name] = (f"{place}.{leaf}", child.line if child is not None else node.line)
            value = None if child is None else self.value(known[name].bound, child, f"{place}.{leaf}", name, origin)
            values[name] = known[name].default if value is None else value
        for name, known_field in known.items():
            values.setdefault(name, known_field.default)
        record = layout.record(**values)
        self.records[layout.collection].append(record)
        self.origins[layout.collection].append(origin)
        return record

    def value(self, bound: Bound, node: Node, place: str, name: str, origin: _Origin) -> Any:
        """What a field holds, or None where that was complained of."""
        if isinstance(bound, Items):
            value = self.items(bound, node, place, name, origin)
        else:
            value = self.scalar(bound, node, place)
        if value is None:
            origin.settled.add(name)
        return value

    def scalar(self, bound: Bound, node: Node, place: str) -> Any:
        if not isinstance(node, Scalar):
            return self.problem(node, place, "must be a single value")
        try:
            return bound.read(node.text)
        except ValueError as error:
            return self.problem(node, place, str(error))

    def items(self, bound: Items, node: Node, place: str, name: str, origin: _Origin) -> tuple[Any, ...] | None:
        if not isinstance(node, Sequence):
            self.problem(node, place, "must be a list")
            return None
        before = len(self.problems)
        read = [self.item(bound, child, f"{place}[{i}]", f"{name}[{i}]", origin) for i, child in enumerate(node.items)]
        return tuple(read) if len(self.problems) == before else None

    def item(self, bound: Items, node: Node, place: str, name: str, origin: _Origin) -> Any:
        origin.fields[name] = (place, node.line)
        if not isinstance(bound.of, type):
            return self.scalar(bound.of, node, place)
        if not isinstance(node, Mapping):
            return self.problem(node, place, "must be an entry with keys and what they say")
        leaves = dict(self.leaves(dict.fromkeys(INSTANCE), node, place))
        values: dict[str, Any] = {}
        for leaf, inner in INSTANCE.items():
            child = leaves.get(leaf)
            origin.fields[f"{name}.{inner}"] = (f"{place}.{leaf}", node.line if child is None else child.line)
            values[inner] = (
                None if child is None else self.scalar(base.fields_of(bound.of)[inner].bound, child, f"{place}.{leaf}")
            )
        return bound.of(**values)

    def locate(self, problems: Iterator[Problem]) -> None:
        """Adds what `check` found, located by line and place."""
        for found in problems:
            origin = self.origins[found.collection][found.index]
            if found.field not in origin.settled:
                place, line = origin.fields.get(found.field, (origin.place, origin.line))
                self.problems.append((line, place, found.sentence))


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.is_null


def _keys_of(layout: Layout) -> dict[str, Any]:
    """The keys of an entry: None for a value, a dict for a group."""
    keys: dict[str, Any] = {}
    for leaf in [*layout.fields, *(leaf for inner in layout.beside for leaf in inner.layout.fields)]:
        *groups, last = leaf.split(".")
        group = keys
        for name in groups:
            group = group.setdefault(name, {})
        group[last] = None
    return keys | dict.fromkeys(layout.lists)


def only_templates(manifest: Manifest) -> bool:
    """Whether a file holds templates and nothing else, as the installation's catalogue must."""
    return not any(
        getattr(manifest.snapshot, field.name)
        for field in dataclasses.fields(manifest.snapshot)
        if field.name != "templates"
    )
