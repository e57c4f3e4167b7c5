"""The end of what was hidden: applications that no source has had for seven days."""

from datetime import datetime, timedelta

from django.utils import timezone
from django_tasks import task

from apps.orgs.models import App
from apps.orgs.versions import raising_oneself

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


@task()
def purge_hidden_applications() -> int:
    """Once a day is enough."""
    return purge_hidden(timezone.now() - KEPT)
