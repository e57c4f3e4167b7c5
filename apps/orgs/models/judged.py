"""Rows that health is judged from: whoever writes them with the ORM tells whose health may be another one now.

What is told is `facts_changed`; who listens works it out (apps.orgs.timetables), in the same transaction.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

from django.apps import apps
from django.db import models, transaction
from django.dispatch import Signal

facts_changed = Signal()  # app_ids: a set of applications' ids

_collected: ContextVar[set[str] | None] = ContextVar("collected", default=None)


@contextmanager
def judging_once() -> Iterator[None]:
    """What is written in here is told once, in the end: for those who write much. Nothing is told after an error."""
    if _collected.get() is not None:
        yield
        return
    token = _collected.set(set())
    try:
        yield
        changed = _collected.get() or set()
    finally:
        _collected.reset(token)
    _tell(changed)


def _tell(app_ids: Iterable[str | None]) -> None:
    chosen = {id for id in app_ids if id is not None}
    if not chosen:
        return
    if (collected := _collected.get()) is not None:
        collected |= chosen
    else:
        facts_changed.send(None, app_ids=chosen)


class JudgedQuerySet(models.QuerySet):
    """Bulk writes tell of the applications whose rows they write."""

    def update(self, **values: Any) -> int:
        if not _is_judged(self.model, values):
            return super().update(**values)
        with transaction.atomic(using=self.db, savepoint=False):
            ids = _apps_of(self)  # before: the rows may be no longer found by the same condition
            written = super().update(**values)
            _tell(ids | {_id_of(values[name]) for name in ("app", "app_id") if name in values})
        return written

    def bulk_update(self, objs: Iterable[Any], fields: Iterable[str], *args: Any, **kwargs: Any) -> int:
        rows, names = tuple(objs), list(fields)
        with transaction.atomic(using=self.db, savepoint=False):
            written = super().bulk_update(rows, names, *args, **kwargs)
            if not {"app", "app_id"}.isdisjoint(names):  # where they are now; `update` tells where they were
                _tell(row.app_id for row in rows)
        return written

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        rows = list(objs)
        with transaction.atomic(using=self.db, savepoint=False):
            created = super().bulk_create(rows, *args, **kwargs)
            _tell(_apps_of_rows(self.model, rows))
        return created

    def delete(self) -> tuple[int, dict[str, int]]:
        with transaction.atomic(using=self.db, savepoint=False):
            ids = _apps_of(self)
            deleted = super().delete()
            _tell(ids)
        return deleted

    delete.queryset_only = True  # type: ignore[attr-defined]


class Judged(models.Model):
    """A row that health is judged from: `judged` are the columns that it is judged by, besides that it is there.

    `judged_app` is the path to the application that it tells of.
    """

    judged: ClassVar[frozenset[str]] = frozenset()
    judged_app: ClassVar[str] = "app_id"

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(JudgedQuerySet)()

    class Meta:
        abstract = True

    def save_base(self, *args: Any, **kwargs: Any) -> None:
        names, model = kwargs.get("update_fields"), type(self)
        if names is not None and not _is_judged(model, names):
            super().save_base(*args, **kwargs)
            return
        with transaction.atomic(using=kwargs.get("using"), savepoint=False):
            moves = not self._state.adding and "app" in model.judged
            before = _apps_of(model._default_manager.filter(pk=self.pk)) if moves else set()
            super().save_base(*args, **kwargs)
            _tell(before | _apps_of_rows(model, [self]))

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic(savepoint=False):
            ids = _apps_of_rows(type(self), [self])
            deleted = super().delete(*args, **kwargs)
            _tell(ids)
        return deleted


def apps_of_platform(platforms: models.QuerySet[Any]) -> set[str]:
    """The applications of which rows of these platforms tell: not all of them go with their platform."""
    models_: list[Any] = [model for model in apps.get_models() if issubclass(model, Judged)]
    return set().union(*(_apps_of(model._default_manager.filter(platform__in=platforms)) for model in models_))


class JudgedByQuerySet(models.QuerySet):
    """Platforms: rows go with them that health was judged from."""

    def delete(self) -> tuple[int, dict[str, int]]:
        with transaction.atomic(using=self.db, savepoint=False):
            ids = apps_of_platform(self.order_by())
            deleted = super().delete()
            _tell(ids)
        return deleted

    delete.queryset_only = True  # type: ignore[attr-defined]


class JudgedBy(models.Model):
    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(JudgedByQuerySet)()

    class Meta:
        abstract = True

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic(savepoint=False):
            ids = apps_of_platform(type(self)._default_manager.filter(pk=self.pk))
            deleted = super().delete(*args, **kwargs)
            _tell(ids)
        return deleted


def _is_judged(model: Any, names: Iterable[str] | Mapping[str, Any]) -> bool:
    return any(name.removesuffix("_id") in model.judged for name in names)


def _apps_of(rows: models.QuerySet[Any]) -> set[str]:
    return set(rows.order_by().values_list(rows.model.judged_app, flat=True).distinct())


def _apps_of_rows(model: Any, rows: list[Any]) -> set[str]:
    if "__" not in model.judged_app:
        return {getattr(row, model.judged_app) for row in rows}
    through, path = model.judged_app.split("__")
    related = model._meta.get_field(through).related_model._default_manager
    ids = [getattr(row, f"{through}_id") for row in rows]
    return set(related.filter(pk__in=ids).values_list(path, flat=True))


def _id_of(value: Any) -> str | None:
    """Of what is given for an application; None for an expression, of which bulk_update tells."""
    return value if isinstance(value, str) else getattr(value, "pk", None)
