"""Keeping counts: of an organization's rows, by whoever has just changed many of them."""

from datetime import UTC, timedelta

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Subquery
from django.db.models.functions import Coalesce, TruncHour
from django.utils import timezone

from apps.orgs.models import OrganizationCounts, Project, ProjectCounts
from apps.orgs.models.versioned import locked_version
from apps.orgs.overview import apps_by_status, counted, deployments_since, hour_of, visible_apps

REMEMBERED = timedelta(days=31)  # of deployments: a day more than is asked for
BATCH = 500


def keep_counts(organization_id: str) -> None:
    """Counts the rows anew, unless that was done at this data version. Call it last in a transaction that changed some.

    Whoever changes rows meanwhile raises the version after us, and so makes what we counted void.
    """
    with transaction.atomic(savepoint=False):
        version = locked_version(organization_id)
        if version is None or OrganizationCounts.objects.filter(pk=organization_id, data_version=version).exists():
            return
        since = (timezone.now() - REMEMBERED).replace(minute=0, second=0, microsecond=0)
        by_hour = deployments_since(organization_id, since).order_by().values_list(TruncHour("created_at", tzinfo=UTC))
        _keep_projects(organization_id)
        OrganizationCounts.objects.update_or_create(
            organization_id=organization_id,
            defaults={
                "data_version": version, "counted_since": since, "apps": apps_by_status(organization_id),
                "deployments": {
                    str(hour_of(hour)): number for hour, number in by_hour.annotate(number=Count("*"))
                },
                **counted(organization_id),
            },
        )  # fmt: skip


def _keep_projects(organization_id: str) -> None:
    """Writes those that differ."""
    numbers = dict(visible_apps(organization_id).order_by().values_list("project_id").annotate(number=Count("*")))
    projects = Project.objects.filter(organization_id=organization_id).values_list("id", "counts__apps")
    changed = [
        ProjectCounts(project_id=id, apps=number)
        for id, kept in projects.iterator()
        if (number := numbers.get(id, 0)) != kept
    ]
    ProjectCounts.objects.bulk_create(
        changed, batch_size=BATCH, update_conflicts=True, unique_fields=["project"], update_fields=["apps"]
    )


def apps_of_project(organization_id: str) -> Coalesce:
    """Of each project of the organization how many applications it has: as it is kept, where counts are current."""
    of_organization = OrganizationCounts.objects.filter(pk=organization_id)
    are_current = Exists(of_organization.filter(data_version=F("organization__version__data_version")))
    kept = ProjectCounts.objects.filter(are_current, project_id=OuterRef("pk")).values("apps")
    apps = visible_apps(organization_id).filter(project_id=OuterRef("pk")).order_by().values("project_id")
    return Coalesce(Subquery(kept), Subquery(apps.annotate(number=Count("*")).values("number")), 0)
