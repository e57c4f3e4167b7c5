"""Upkeep of what the prober keeps: old hours are thinned, and checks that are not repeated any more are deleted."""

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from apps.orgs.models import EdgeFact, EdgeStatistics, Organization
from apps.orgs.versions import raise_keeping_counts, raising_oneself
from apps.platforms.edge.history import thin
from apps.platforms.edge.rounds import told_platforms


def tidy(now: datetime) -> None:
    thin(now)
    told = told_platforms()
    for organization_id in list(Organization.objects.order_by("id").values_list("id", flat=True)):
        with transaction.atomic(), raising_oneself():
            if _delete_unrepeated(organization_id, told):
                raise_keeping_counts([organization_id])


def _delete_unrepeated(organization_id: str, told: list[int]) -> int:
    """Checks of domains that were disabled, or that a manifest tells about now. How many rows."""
    ours = {"organization_id": organization_id, "platform__isnull": True, "period__isnull": False}
    unrepeated = Q(domain__is_enabled=False) | Q(domain__platform__in=told)
    count, _ = EdgeFact.objects.filter(**ours).filter(unrepeated).delete()
    still = EdgeFact.objects.filter(domain__app=OuterRef("app"))
    of_none, _ = EdgeStatistics.objects.filter(**ours).exclude(Exists(still)).delete()
    return count + of_none
