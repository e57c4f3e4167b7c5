"""What every row that belongs to an organization has in common."""

from django.db import models

from apps.orgs.models.organizations import Organization, Platform
from apps.orgs.models.versioned import Versioned


class Owned(models.Model):
    """A row of one organization, synced from one platform under that platform's id for it.

    `platform` is null for what operators enter by hand; applying a snapshot touches only its own platform's rows.
    """

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+", db_index=False)
    platform = models.ForeignKey(Platform, models.CASCADE, null=True, editable=False, related_name="+", db_index=False)

    class Meta:
        abstract = True


class Keyed(Owned, Versioned):
    """An owned row that its platform has an id for: `external_id`, unique per platform and kind of row."""

    external_id = models.CharField(max_length=128, null=True, blank=True, editable=False)

    class Meta:
        abstract = True


def keyed_constraint(name: str) -> models.UniqueConstraint:
    return models.UniqueConstraint(fields=["platform", "external_id"], name=name)
