"""What goes with an organization: how many of each kind. Django would put every single row on the page."""

from collections.abc import Iterable, Iterator
from typing import Any

from apps.orgs.models import Organization

Summary = tuple[list[str], dict[str, int], set[str], list[str]]


def summary_of(organizations: Iterable[Organization]) -> Summary:
    """In the form of ModelAdmin.get_deleted_objects: rows to show, counts, missing permissions, what protects.

    Who may delete an organization may delete what it owns, so no permission can be missing.
    """
    chosen = list(organizations)
    counts = {str(Organization._meta.verbose_name_plural): len(chosen)}
    for model, column in _owned():
        number = model._default_manager.filter(**{f"{column}__in": chosen}).count()
        if number:
            counts[str(model._meta.verbose_name_plural)] = number
    return [f"{row.name} ({row.slug}), and everything counted above" for row in chosen], counts, set(), []


def _owned() -> Iterator[tuple[Any, str]]:
    """Every model with a column for its organization, and that column's name."""
    for relation in Organization._meta.get_fields(include_hidden=True):
        if relation.auto_created and not relation.concrete and relation.one_to_many:
            yield relation.related_model, relation.field.name  # type: ignore[union-attr]
