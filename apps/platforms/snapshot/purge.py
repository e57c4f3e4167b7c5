"""The end of what was hidden: applications that no source has had for seven days, and platforms left without any."""

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone
from django_tasks import task

from apps.orgs.models import App, Platform
from apps.orgs.versions import raising_oneself
from apps.platforms.models import PlatformConnection

KEPT = timedelta(days=7)
BATCH = 20  # an application may have thousands of deployments


def purge_hidden(before: datetime) -> int:
    """Deletes the applications that were hidden before a moment, with all that belongs to them. Says how many.

    No version is raised: nobody sees them.
    """
    ids = list(App.objects.filter(hidden_at__lt=before).order_by("pk").values_list("pk", flat=True))
    with raising_oneself():
        for start in range(0, len(ids), BATCH):
            # Asked again: one of them may have come back meanwhile.
            App.objects.filter(pk__in=ids[start : start + BATCH], hidden_at__lt=before).delete()
    return len(ids)


def purge_disconnected() -> None:
    """Deletes the platforms that nobody reads any more, when the last of their applications is gone."""
    disconnected = Platform.objects.exclude(kind=Platform.Kind.MANIFEST).filter(
        ~Exists(PlatformConnection.objects.filter(platform=OuterRef("pk"))),
        ~Exists(App.objects.filter(platform=OuterRef("pk"))),
        sync_period__isnull=True,
        last_sync_at__isnull=True,
    )
    disconnected.delete()


@task()
def purge_hidden_applications() -> int:
    """Once a day is enough."""
    count = purge_hidden(timezone.now() - KEPT)
    purge_disconnected()
    return count
