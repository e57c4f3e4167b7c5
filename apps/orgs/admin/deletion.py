"""What goes with a row that much hangs on: how many of each kind. Django would put every single row on the page."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db.models import Model

Summary = tuple[list[str], dict[str, int], set[str], list[str]]


def summary_of(rows: Iterable[Model], name: Callable[[Any], str] = str) -> Summary:
    """In the form of ModelAdmin.get_deleted_objects: rows to show, counts, missing permissions, what protects.

    Who may delete such a row may delete what hangs on it, so no permission can be missing.
    """
    chosen = list(rows)
    if not chosen:
        return [], {}, set(), []
    counts = {str(chosen[0]._meta.verbose_name_plural): len(chosen)}
    for model, column in _foreign_keys_to(type(chosen[0])):
        number = model._default_manager.filter(**{f"{column}__in": chosen}).count()
        if number:
            counts[str(model._meta.verbose_name_plural)] = number
    return [f"{name(row)}, and everything counted above" for row in chosen], counts, set(), []


def _foreign_keys_to(model: type[Model]) -> Iterator[tuple[Any, str]]:
    """Every model with a column for such a row, and that column's name."""
    for relation in model._meta.get_fields(include_hidden=True):
        if relation.auto_created and not relation.concrete and relation.one_to_many:
            yield relation.related_model, relation.field.name  # type: ignore[union-attr]
