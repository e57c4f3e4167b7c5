"""A manifest, the YAML file of docs/manifest.md, → a Snapshot; or everything that is wrong with it, by line.

A file is read once where it is good. Where it is not, it is read again to tell the lines, which good files never need.
"""

import dataclasses
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from itertools import islice
from typing import Any, BinaryIO

from apps.platforms.manifest.entries import Entries
from apps.platforms.manifest.problems import MAX_FOUND, ManifestError, Problems, TooManyProblems
from apps.platforms.manifest.yaml_stream import YamlError, yaml_in
from apps.platforms.snapshot import base
from apps.platforms.snapshot.check import Problem, problems_of


@dataclass(frozen=True, slots=True)
class Manifest:
    """`as_of` is the moment of which the file's facts are; `load_demo` moves its times from there."""

    snapshot: base.Snapshot
    as_of: datetime | None = None
    stale_after: int | None = None  # seconds


def read_manifest(content: bytes | BinaryIO) -> Manifest:
    """The manifest in bytes, or in a file that can be read twice. Raises ManifestError with what is wrong."""
    file = BytesIO(content) if isinstance(content, bytes) else content
    try:
        return _read(file)
    except YamlError as error:
        raise ManifestError([f"line {error.line}: {error}"]) from None


def _read(file: BinaryIO) -> Manifest:
    with yaml_in(file) as stream:
        entries = Entries(stream)
        try:
            as_of, stale_after = entries.read()
        except TooManyProblems:
            raise entries.problems.error() from None
    collections: dict[str, Any] = {name: tuple(records) for name, records in entries.records.items()}
    entries.records.clear()
    snapshot = base.Snapshot(**collections)
    unsettled = (
        problem
        for problem in problems_of(snapshot)
        if (problem.collection, problem.index, problem.field) not in entries.complaints
    )
    if found := list(islice(unsettled, MAX_FOUND)):
        del collections, snapshot, unsettled
        raise _located(file, found).error()
    if entries.problems:
        raise entries.problems.error()
    return Manifest(snapshot, as_of, stale_after)


def _located(file: BinaryIO, found: list[Problem]) -> Problems:
    """All problems: those that a second reading of the file tells, and what `check` found, by line and place."""
    wanted: dict[tuple[str, int], set[str]] = defaultdict(set)
    for problem in found:
        wanted[problem.collection, problem.index].add(problem.field)
    with yaml_in(file) as stream:
        entries = Entries(stream, wanted)
        with suppress(TooManyProblems):
            entries.read()
            for problem in found:
                if origin := entries.origins.get((problem.collection, problem.index, problem.field)):
                    path, leaf, line = origin
                    entries.problems.add(line, path, leaf, problem.sentence, is_last=True)
    return entries.problems


def only_templates(manifest: Manifest) -> bool:
    """Whether a file holds templates and nothing else, as the installation's catalogue must."""
    return not any(
        getattr(manifest.snapshot, field.name)
        for field in dataclasses.fields(manifest.snapshot)
        if field.name != "templates"
    )
