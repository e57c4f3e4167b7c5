"""Writes the difference between the rows that are there and the rows that should be, in bulk."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from django.db.models import Model

BATCH = 500
NEVER_CHANGED = ("organization_id",)


@dataclass(frozen=True, slots=True)
class Changes:
    """How many rows were written. Rows that went with the one they belong to are not counted.

    `hidden` are applications that a source no longer has.
    """

    created: int = 0
    updated: int = 0
    deleted: int = 0
    hidden: int = 0

    def __add__(self, other: "Changes") -> "Changes":
        return Changes(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    def __str__(self) -> str:
        if self == Changes():
            return "nothing had changed"
        hidden = f", {self.hidden} applications hidden" if self.hidden else ""
        return f"{self.created} rows created, {self.updated} updated, {self.deleted} deleted{hidden}"


@dataclass(slots=True)
class Differences:
    """Rows to create, rows to update, and the columns in which any of the latter differ."""

    new: list[Any] = field(default_factory=list)
    changed: list[Any] = field(default_factory=list)
    columns: set[str] = field(default_factory=set)


def differences(existing: Mapping[Any, Any], wanted: Mapping[Any, Any]) -> Differences:
    """Compares rows by identity; a wanted row that exists must carry the existing row's primary key."""
    result = Differences()
    for identity, row in wanted.items():
        if identity not in existing:
            result.new.append(row)
        elif columns := _differing(existing[identity], row):
            result.changed.append(row)
            result.columns |= columns
    return result


def _differing(old: Model, new: Model) -> set[str]:
    return {
        column.name
        for column in new._meta.concrete_fields
        if not column.primary_key
        and column.attname not in NEVER_CHANGED
        and getattr(old, column.attname) != column.pre_save(new, add=False)  # which also fills what follows
    }


def save(model: type[Model], rows: Differences) -> Changes:
    """Does not call `save()` of the rows: they must be complete."""
    if rows.new:
        model._default_manager.bulk_create(rows.new, batch_size=BATCH)
    if rows.changed:
        model._default_manager.bulk_update(rows.changed, sorted(rows.columns), batch_size=BATCH)
    return Changes(created=len(rows.new), updated=len(rows.changed))


def delete(model: type[Model], ids: Sequence[Hashable]) -> Changes:
    for start in range(0, len(ids), BATCH):
        model._default_manager.filter(pk__in=ids[start : start + BATCH]).delete()
    return Changes(deleted=len(ids))
