"""What every row that belongs to an organization has in common."""

from typing import Any

from django.db import models

from apps.orgs.models.organizations import Organization, Platform
from apps.orgs.text import fold

WORD_SEPARATOR = (
    "\x1f"  # the unit separator, between the words of a search key: no query reaches from one into the next
)


class Owned(models.Model):
    """A row of one organization, synced from one platform under that platform's id for it.

    `platform` is null for what operators enter by hand; applying a snapshot touches only its own platform's rows.
    """

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+", db_index=False)
    platform = models.ForeignKey(Platform, models.CASCADE, null=True, editable=False, related_name="+", db_index=False)

    class Meta:
        abstract = True


class Keyed(Owned):
    """An owned row that its platform has an id for: `external_id`, unique per platform and kind of row."""

    external_id = models.CharField(max_length=128, null=True, blank=True, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return str(getattr(self, "name", self.pk))


class SearchKeys:
    """Sets `sort_key` (what lists go by) and `search_key` (what `query` looks in) from a row's own words."""

    searched: tuple[str, ...] = ("name",)

    def set_search_keys(self) -> None:
        self.sort_key = fold(self.name)  # type: ignore[attr-defined]
        self.search_key = fold(WORD_SEPARATOR.join(getattr(self, field) or "" for field in self.searched))

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.set_search_keys()
        super().save(*args, **kwargs)  # type: ignore[misc]


def keyed_constraint(name: str) -> models.UniqueConstraint:
    return models.UniqueConstraint(fields=["platform", "external_id"], name=name)
