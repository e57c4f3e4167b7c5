"""Rows that tools read: whoever writes them with the ORM raises their organization's data version.

Cascades need nothing of their own: what goes with a row belongs to the same organization. Those who write every minute,
the prober and `apply`, say themselves which of the two counters to raise.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import time_ns
from typing import Any, ClassVar

from django.apps import apps
from django.db import models, transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

_raises_rows, _raises_health = ContextVar("raises_rows", default=False), ContextVar("raises_health", default=False)


@contextmanager
def raising_oneself(*, but_health: bool = False) -> Iterator[None]:
    """Writes in here raise nothing: who writes much raises once, last, and only where something was changed.

    `but_health`: where applications' health becomes another one through them, that is raised all the same.
    """
    rows, health = _raises_rows.set(True), _raises_health.set(_raises_health.get() or not but_health)
    try:
        yield
    finally:
        _raises_health.reset(health)
        _raises_rows.reset(rows)


def raise_for_health(owners: Iterable[str]) -> None:
    """What lists tell of applications' health is another thing now, though perhaps no row that they are made of."""
    if not _raises_health.get():
        raise_keeping_counts(owners)


def raise_keeping_counts(owners: Iterable[str]) -> None:
    """For what changes no number of rows, such as facts: counts that were current (models/counts.py) stay it."""
    counts = apps.get_model("orgs.OrganizationCounts")._default_manager
    for owner in sorted(owners):
        with transaction.atomic(savepoint=False):
            before = locked_version(owner)
            raise_version([owner])
            if before is not None:
                counts.filter(pk=owner, data_version=before).update(data_version=locked_version(owner))


def locked_version(owner: str) -> int | None:
    """An organization's data version, which nobody else raises before the transaction ends; None: nobody ever has."""
    versions = apps.get_model("orgs.DataVersion")._default_manager.select_for_update(no_key=True)
    return versions.filter(organization_id=owner).values_list("data_version", flat=True).first()


def raise_version(owners: Iterable[str | None], counter: str = "data_version") -> None:
    """Raises a counter of these organizations; that of the catalogue where None, the installation itself, is there."""
    chosen = set(owners)
    for owner in sorted(filter(None, chosen)):  # always in one order: two who raise several do not wait for each other
        _raise("orgs.DataVersion", {"organization_id": owner}, counter)
    if None in chosen:
        _raise("orgs.CatalogueVersion", {"id": 1}, "version")


def raise_every_version() -> None:
    """Whatever anybody was told before counts as changed."""
    apps.get_model("orgs.DataVersion")._default_manager.update(**_higher("data_version"), **_higher("checks_version"))
    apps.get_model("orgs.CatalogueVersion")._default_manager.update(**_higher("version"))


def _raise(model: str, key: dict[str, Any], counter: str) -> None:
    versions = apps.get_model(model)._default_manager
    if not versions.filter(**key).update(**_higher(counter)):
        versions.bulk_create([versions.model(**key)], ignore_conflicts=True)
        versions.filter(**key).update(**_higher(counter))


def _higher(counter: str) -> dict[str, Greatest]:
    """At least the time (microseconds): so a number never comes again with other rows behind it.

    Counting alone would tell the same numbers once more after a backup was restored, or for an organization whose id
    comes again, while processes and clients remember what these stood for.
    """
    return {counter: Greatest(F(counter) + 1, Value(time_ns() // 1000, models.BigIntegerField()))}


class VersionedQuerySet(models.QuerySet):
    """Bulk writes raise the versions of those whose rows they write."""

    def update(self, **values: Any) -> int:
        if not _is_told(self.model, values):
            return super().update(**values)
        with transaction.atomic(using=self.db):
            owners = _owners(self)  # before: the rows may be no longer found by the same condition
            written = super().update(**values)
            if written:
                raise_version(owners)
        return written

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        if not _is_told(self.model):
            return super().bulk_create(objs, *args, **kwargs)
        rows = list(objs)
        with transaction.atomic(using=self.db):
            created = super().bulk_create(rows, *args, **kwargs)
            raise_version({row.owner for row in rows})
        return created

    def delete(self) -> tuple[int, dict[str, int]]:
        model: type[Any] = self.model
        if not (_is_told(model) and model.outlived_by_its_owner):
            return super().delete()
        with transaction.atomic(using=self.db):
            owners = _owners(self)
            deleted = super().delete()
            raise_version(owners)
        return deleted

    delete.queryset_only = True  # type: ignore[attr-defined]


class Versioned(models.Model):
    """A row that tools read. Columns that no version counts are in `uncounted`: times of reading, mostly."""

    uncounted: ClassVar[frozenset[str]] = frozenset()
    owner_column: ClassVar[str] = "organization_id"
    outlived_by_its_owner: ClassVar[bool] = True

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(VersionedQuerySet)()

    class Meta:
        abstract = True

    @property
    def owner(self) -> str | None:
        owner: str | None = getattr(self, self.owner_column)
        return owner

    def save_base(self, *args: Any, **kwargs: Any) -> None:
        if not _is_told(type(self), kwargs.get("update_fields")):
            super().save_base(*args, **kwargs)
            return
        with transaction.atomic(using=kwargs.get("using")):
            super().save_base(*args, **kwargs)
            raise_version([self.owner])

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic():
            owner, deleted = self.owner, super().delete(*args, **kwargs)
            if _is_told(type(self)) and self.outlived_by_its_owner:
                raise_version([owner])
        return deleted


def _is_told(model: type[Any], columns: Collection[str] | None = None) -> bool:
    """Whether a write of these columns (of all, with None) is for a version to count, and nobody else counts it."""
    return not _raises_rows.get() and (columns is None or not set(columns) <= model.uncounted)


def _owners(rows: models.QuerySet[Any]) -> set[str | None]:
    return set(rows.order_by().values_list(rows.model.owner_column, flat=True).distinct())
