"""What happens in the background for its own sake: what tells of past runs is deleted."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone
from django_tasks import task
from django_tasks.base import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from apps.jobs import leases
from apps.jobs.models import Schedule

KEPT = timedelta(days=7)  # results, also those that failed
KEPT_OF_DATA_DIRS = timedelta(days=30)  # what no worker of theirs has done for so long


@task
def prune() -> None:
    now = timezone.now()
    DBTaskResult.objects.finished().filter(finished_at__lt=now - KEPT).delete()
    # Nobody renews what was enqueued without a schedule: of a worker that was killed, it says that it runs for ever.
    is_lost = Q(status=TaskResultStatus.RUNNING, started_at__lt=now - timedelta(seconds=leases.MAX_RUN))
    DBTaskResult.objects.filter(is_lost).update(
        status=TaskResultStatus.FAILED, finished_at=now, exception_class_path=leases.WORKER_LOST
    )
    Schedule.objects.exclude(data_dir="").filter(due_at__lt=now - KEPT_OF_DATA_DIRS).delete()
