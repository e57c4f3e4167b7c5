"""Rows whose sort and search keys follow from their own words however they are written, and those with a name."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar

from django.db import models

from apps.orgs.models.fields import FollowingField
from apps.orgs.models.versioned import Versioned, VersionedQuerySet


class FollowingMixin:
    """Mixed into a QuerySet: bulk writes take along the columns that follow from what they write."""

    model: Any

    def bulk_create(
        self,
        objs: Iterable[Any],
        batch_size: int | None = None,
        ignore_conflicts: bool = False,
        update_conflicts: bool = False,
        update_fields: Collection[str] | None = None,
        unique_fields: Collection[str] | None = None,
    ) -> list[Any]:
        if update_fields is not None:
            update_fields = with_following(self.model, update_fields)
        created: list[Any] = super().bulk_create(  # type: ignore[misc]
            objs, batch_size, ignore_conflicts, update_conflicts, update_fields, unique_fields
        )
        return created

    def bulk_update(self, objs: Iterable[Any], fields: Iterable[str], *args: Any, **kwargs: Any) -> int:
        rows, names = tuple(objs), with_following(self.model, list(fields))
        for field in _following(self.model, names):
            for row in rows:
                field.pre_save(row, add=False)
        written: int = super().bulk_update(rows, names, *args, **kwargs)  # type: ignore[misc]
        return written

    def update(self, **values: Any) -> int:
        """Raises TypeError where what is given does not say what a sort or search key has to become."""
        written: int = super().update(**values | _followed(self.model, values))  # type: ignore[misc]
        return written


class Following(models.Model):
    """A row with a SortKeyField or a SearchKeyField, which fills itself. Its manager is of FollowingQuerySet."""

    class Meta:
        abstract = True

    def save_base(self, *args: Any, **kwargs: Any) -> None:
        # Not `save`: that is where Django decides which columns to write, when not all of them were loaded.
        if (names := kwargs.get("update_fields")) is not None:
            kwargs["update_fields"] = frozenset(with_following(type(self), names))
        super().save_base(*args, **kwargs)


class FollowingQuerySet(FollowingMixin, models.QuerySet):
    pass


class NamedQuerySet(FollowingMixin, VersionedQuerySet):
    pass


class Named(Following, Versioned):
    """A row with a name that tools read."""

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(NamedQuerySet)()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return str(self.name)  # type: ignore[attr-defined]


def with_following(model: type[models.Model], names: Collection[str]) -> list[str]:
    """The names of columns to write, and of those that follow from them."""
    following = [field.name for field in _following(model, names)]
    return [*names, *(name for name in following if name not in names)]


def _following(model: type[models.Model], names: Collection[str]) -> list[FollowingField]:
    """The columns that follow from one of `names`, or are one of them."""
    fields = [field for field in model._meta.concrete_fields if isinstance(field, FollowingField)]
    return [field for field in fields if field.name in names or not set(field.of).isdisjoint(names)]


def _as_stored(model: type[models.Model], name: str, value: Any) -> Any:
    """An expression is none yet: whoever follows it refuses it."""
    field: Any = model._meta.get_field(name)
    return field.to_python(value) if isinstance(value, str) else value


def _followed(model: type[models.Model], values: Mapping[str, Any]) -> dict[str, Any]:
    followed = {}
    for field in _following(model, values):
        if hasattr(values.get(field.name), "resolve_expression"):
            continue  # bulk_update, which writes the rows' own keys
        if missing := [name for name in field.of if name not in values]:
            raise TypeError(
                f"update() cannot tell {field.name}, which also follows from {', '.join(missing)}: "
                "give these too, or use save() or bulk_update()."
            )
        followed[field.name] = field.follow(*(_as_stored(model, name, values[name]) for name in field.of))
    return followed
