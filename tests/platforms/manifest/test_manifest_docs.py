"""docs/manifest.md says everything about the format, and its examples are good."""

import re
from collections.abc import Iterator
from pathlib import Path

from apps.platforms.manifest.layout import INSTANCE, TOP, Layout
from apps.platforms.manifest.reader import read_manifest
from apps.platforms.snapshot.fields import fields_of

DOCS = Path("docs/manifest.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)


def layouts(layout: Layout) -> Iterator[Layout]:
    yield layout
    for inner in [*layout.lists.values(), *layout.beside]:
        yield from layouts(inner.layout)


def test_every_key_of_the_format_is_described() -> None:
    every = [found for top in TOP.values() for found in layouts(top)]
    keys = {key for layout in every for key in [*layout.fields, *layout.lists]} | set(TOP) | set(INSTANCE)
    assert [key for key in sorted(keys) if f"`{key}`" not in DOCS] == []


def test_keys_that_must_be_given_are_bold() -> None:
    for heading, layout in (("Projects", TOP["projects"]), ("Templates", TOP["templates"])):
        section = DOCS.split(f"### {heading}\n")[1].split("\n### ")[0]
        bold = set(re.findall(r"\| \*\*`(\w+)`\*\*", section))
        names = {name: key for key, name in layout.fields.items()}
        required = {names[name] for name, field in fields_of(layout.record).items() if field.is_required}
        assert bold == required


def test_the_examples_are_good_manifests() -> None:
    whole = [block for block in BLOCKS if block.startswith("version:")]
    assert whole
    for block in whole:
        assert read_manifest(block.encode()).snapshot.apps
    head = "version: 1\nprojects:\n- key: p\n  name: P\n  apps:\n  - key: a\n    name: A\n    source: {type: upload}\n"
    for block in BLOCKS:
        if block.startswith(("health:", "runtime:")):
            read_manifest((head + re.sub(r"(?m)^", "    ", block)).encode())
        if block.startswith("edge:"):
            domain = "    domains:\n    - key: d\n      host: a.example\n" + re.sub(r"(?m)^", "      ", block)
            read_manifest((head + domain).encode())
