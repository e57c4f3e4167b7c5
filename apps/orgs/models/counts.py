"""How many rows an organization has, counted once by whoever changes many: worth what they say at one data version."""

from django.db import models

from apps.orgs.models.organizations import Organization
from apps.orgs.models.projects import Project


class OrganizationCounts(models.Model):
    """What there was when the organization's data version was this one. With a later one it counts for nothing.

    `apps` by status; `deployments` by hour (hours since 1970, UTC) since `counted_since`. Without what is hidden.
    """

    organization = models.OneToOneField(Organization, models.CASCADE, primary_key=True, related_name="counts")
    data_version = models.PositiveBigIntegerField()
    projects = models.PositiveIntegerField()
    apps = models.JSONField()
    domains = models.PositiveIntegerField()
    previews = models.PositiveIntegerField()
    deployments = models.JSONField()
    counted_since = models.DateTimeField()

    def __str__(self) -> str:
        return f"Counts of {self.organization}"


class ProjectCounts(models.Model):
    """Of a project, under the same condition: that its organization's counts are of the present data version."""

    project = models.OneToOneField(Project, models.CASCADE, primary_key=True, related_name="counts")
    apps = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"Counts of {self.project}"
