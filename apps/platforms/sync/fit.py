"""Leaves out of a snapshot what cannot be kept, so that one odd record does not keep all others from being applied."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from apps.platforms.snapshot import base
from apps.platforms.snapshot.check import MAX_ENVIRONMENTS, Problem, problems_of
from apps.platforms.snapshot.check import Stored as Rows
from apps.platforms.snapshot.fields import fields_of

MAX_ROUNDS = 10  # what is left out takes what refers to it along: an application, its previews, their domains


def fitted(snapshot: base.Snapshot, rows: Rows) -> tuple[base.Snapshot, Counter[str]]:
    """The snapshot without what is wrong, and how many records of each collection were left out.

    `rows`: what is stored, which records may refer to. A field that may be empty is emptied; else the record goes.
    Its stored rows stay: they are unread, not gone.
    """
    snapshot, left_out = _with_environments_that_fit(snapshot)
    for _ in range(MAX_ROUNDS):
        problems = list(problems_of(snapshot, rows))
        if not problems:
            break
        snapshot = _without(snapshot, problems, left_out)
    return snapshot, left_out


def _with_environments_that_fit(snapshot: base.Snapshot) -> tuple[base.Snapshot, Counter[str]]:
    seen: Counter[str] = Counter()
    kept = []
    for environment in snapshot.environments:
        seen[environment.project] += 1
        if seen[environment.project] <= MAX_ENVIRONMENTS:
            kept.append(environment)
    left_out = Counter({"environments": len(snapshot.environments) - len(kept)})
    return (snapshot if not +left_out else replace(snapshot, environments=tuple(kept))), +left_out


def _without(snapshot: base.Snapshot, problems: Iterable[Problem], left_out: Counter[str]) -> base.Snapshot:
    wrong: defaultdict[str, defaultdict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for problem in problems:
        wrong[problem.collection][problem.index].add(problem.field)
    unread = set(snapshot.unread)
    changed: dict[str, Any] = {}
    for collection, fields in wrong.items():
        if collection == "snapshot":
            changed["version"] = None
            continue
        records = []
        for index, record in enumerate(getattr(snapshot, collection)):
            kept = _emptied(record, fields[index]) if index in fields else record
            if kept is None:
                left_out[collection] += 1
                unread.add(_rows_of(collection, record))
            else:
                records.append(kept)
        changed[collection] = tuple(records)
    return replace(snapshot, unread=frozenset(unread), **changed)


def _emptied(record: Any, names: set[str]) -> Any:
    """The record with None in these fields; None where one of them must be given, or was empty."""
    kind: type = type(record)
    fields = fields_of(kind)
    for name in names:
        if name not in fields or fields[name].is_required or fields[name].default is not None:
            return None
        if getattr(record, name) is None:
            return None
    return replace(record, **dict.fromkeys(names))


def _rows_of(collection: str, record: Any) -> tuple[str, str | None]:
    """What stays because of it. An application that is left out may not look as if it were gone."""
    if collection in ("apps", "app_states"):
        return "apps", None
    return collection, getattr(record, "app", None)
