"""Rows that are found by where they are: within a project and, where it has any, within an environment."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar

from django.apps import apps
from django.db import models, transaction
from django.db.models import OuterRef, Subquery

from apps.orgs.models.named import NamedQuerySet
from apps.orgs.models.versioned import Versioned, VersionedQuerySet

PLACE = ("within_project", "within_environment")


class PlacedQuerySet(VersionedQuerySet):
    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        rows = list(objs)
        place(rows)
        return super().bulk_create(rows, *args, **kwargs)


class NamedPlacedQuerySet(NamedQuerySet, PlacedQuerySet):  # type: ignore[override]  # of as_manager: each has its own
    pass


class Placed(Versioned):
    """A row with the project and the environment of its application, so that an index finds those of either.

    They follow by themselves: when a row is made, and when its application moves.
    """

    # With its project a row goes by way of its application: nothing is left to do, and no constraint to check.
    within_project = models.ForeignKey(
        "orgs.Project", models.DO_NOTHING, null=True, editable=False, related_name="+", db_index=False,
        db_constraint=False,
    )  # fmt: skip
    within_environment = models.ForeignKey(
        "orgs.Environment", models.SET_NULL, null=True, editable=False, related_name="+", db_index=False
    )

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(PlacedQuerySet)()

    class Meta:
        abstract = True

    def save_base(self, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("update_fields") is None:
            place([self])
        super().save_base(*args, **kwargs)


def place(rows: Sequence[Any]) -> None:
    """Fills in where new rows are. One query for those that belong to applications, one for those of environments."""
    rows = [row for row in rows if row.within_project_id is None]
    apps_ = _places("orgs.App", "project_id", {row.app_id for row in rows if row.app_id is not None})
    stages = {id for row in rows if (id := getattr(row, "environment_id", None)) is not None}
    environments = _places("orgs.Environment", "project_id", stages)
    for row in rows:
        if row.app_id is not None:
            row.within_project_id, row.within_environment_id = apps_.get(row.app_id, (None, None))
        elif row.environment_id is not None:
            row.within_project_id, row.within_environment_id = environments.get(row.environment_id, (None, None))
        else:
            row.within_project_id = row.project_id


def _places(model: str, project: str, ids: Collection[str]) -> dict[str, tuple[str | None, str | None]]:
    if not ids:
        return {}
    environment = "environment_id" if model == "orgs.App" else "id"
    rows = apps.get_model(model)._default_manager.filter(pk__in=ids).values_list("pk", project, environment)
    return {pk: (project_id, environment_id) for pk, project_id, environment_id in rows}


class MovingQuerySet(NamedQuerySet):
    """Applications: what belongs to one moves with it."""

    def update(self, **values: Any) -> int:
        if {"project", "project_id", "environment", "environment_id"}.isdisjoint(values):
            return super().update(**values)
        with transaction.atomic(using=self.db):
            ids = list(self.order_by().values_list("pk", flat=True))
            written = super().update(**values)
            move(ids)
        return written


def move(app_ids: Collection[str]) -> None:
    """What belongs to these applications is where they are now."""
    app = apps.get_model("orgs.App")._default_manager.filter(pk=OuterRef("app_id"))
    columns = {f"within_{name}": Subquery(app.values(f"{name}_id")[:1]) for name in ("project", "environment")}
    placed: list[Any] = [model for model in apps.get_models() if issubclass(model, Placed)]
    for model in placed:
        model._default_manager.filter(app_id__in=app_ids).update(**columns)
