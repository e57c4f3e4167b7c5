"""Who does what is due: claims with a lease, which ends by itself where a worker is killed.

Clocks of machines that share a database have to agree within some seconds.
"""

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks.base import Task, TaskResultStatus
from django_tasks_db.models import DBTaskResult

from apps.jobs.models import Schedule
from apps.jobs.scheduling import next_due

LEASE = timedelta(seconds=30)
RENEW_EVERY = 10.0  # seconds
MAX_RUN = 3 * 3600.0  # seconds: what takes longer hangs for ever, and is given up
MAX_BACKOFF = 15 * 60.0  # seconds
MAX_RETRY_AFTER = 24 * 3600.0
WORKER_LOST = "apps.jobs.leases.LeaseLost"


class LeaseLost(Exception):
    """Another worker has begun this anew: what is not written yet must not be."""


class NoSuchTask(Exception):
    """A schedule names no task of this release."""


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """What a worker does now. `schedule` is None where somebody enqueued it; else `result.pk` is the lease."""

    result: DBTaskResult[Any, Any]
    task: Task[Any, Any]
    schedule: Schedule | None = None

    @property
    def name(self) -> str:
        return self.schedule.name if self.schedule else self.result.task_path


_current: ContextVar[UUID | None] = ContextVar("lease", default=None)


@contextmanager
def held(claim: Claim) -> Iterator[None]:
    token = _current.set(claim.result.pk if claim.schedule else None)
    try:
        yield
    finally:
        _current.reset(token)


def confirm() -> None:
    """For a task, in a transaction that writes, before it ends: nobody else begins until it has. Raises LeaseLost.

    Outside a worker there is no lease, and nothing to confirm.
    """
    lease = _current.get()
    if lease is not None and not _held_by([lease]).update(lease_until=timezone.now() + LEASE):
        raise LeaseLost


def renew(leases: Iterable[UUID]) -> set[UUID]:
    """Those that are lost."""
    wanted = list(leases)
    rows = _held_by(wanted)
    if rows.update(lease_until=timezone.now() + LEASE) == len(wanted):
        return set()
    return set(wanted) - set(rows.values_list("lease", flat=True))


def claim(worker: str, data_dir: str, number: int) -> list[Claim]:
    """At most so many, which nobody else has now. What failed least often goes first, then what is due longest."""
    if not _due(data_dir).exists():  # SQLite begins its transaction only where there is something to write
        return []
    with transaction.atomic():
        rows = _due(data_dir).select_for_update(skip_locked=True).order_by("failures", "due_at")[:number]
        return [claim for row in list(rows) if (claim := _claim(row, worker))]


def take_enqueued(worker: str, number: int) -> list[Claim]:
    """What somebody enqueued without a schedule. Where its worker is killed, it is not begun anew."""
    ready = DBTaskResult.objects.ready()
    if not ready.exists():
        return []
    with transaction.atomic():
        taken = list(ready.select_for_update(skip_locked=True)[:number])
        return [claim for result in taken if (claim := _take(result, worker))]


def succeed(claim: Claim) -> None:
    """A row for each run would be millions a month: how it went is in the schedule."""
    now = timezone.now()
    with transaction.atomic():
        DBTaskResult.objects.filter(pk=claim.result.pk).delete()
        if claim.schedule:
            _end(claim, finished_at=now, succeeded_at=now, failures=0)


def fail(claim: Claim, error: BaseException) -> None:
    """Keeps the name of the error's class, and when it is tried again."""
    now = timezone.now()
    with transaction.atomic():
        _mark_failed([claim.result.pk], name_of(error), now)
        if schedule := claim.schedule:
            again = now + timedelta(seconds=_pause(schedule, error))
            # Somebody may have asked for a run meanwhile.
            due_at = Case(When(due_at=schedule.due_at, then=Value(again)), default=F("due_at"))
            _end(claim, finished_at=now, failures=F("failures") + 1, due_at=due_at)


def bound_locks(seconds: float) -> None:
    """This thread's connection waits no longer for others that write, as long as it is open."""
    milliseconds = round(seconds * 1000)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"PRAGMA busy_timeout = {milliseconds}")
        else:
            cursor.execute(f"SET lock_timeout = {milliseconds}")


def name_of(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"


def _due(data_dir: str) -> QuerySet[Schedule]:
    now = timezone.now()
    is_free = Q(lease_until=None) | Q(lease_until__lt=now)
    return Schedule.objects.filter(is_free, due_at__lte=now, is_paused=False, data_dir__in=("", data_dir))


def _claim(row: Schedule, worker: str) -> Claim | None:
    """None: it cannot even begin, and has failed."""
    now = timezone.now()
    if row.lease:  # of a worker that is gone
        _mark_failed([row.lease], WORKER_LOST, now)
    row.due_at = next_due(row.due_at, row.period, now)
    try:
        task = _task_of(row.task)
        result = task.enqueue(**row.arguments).db_result  # type: ignore[attr-defined]
    except (NoSuchTask, TypeError) as error:
        again = now + timedelta(seconds=_pause(row, error))
        changes = {"due_at": again, "finished_at": now, "failures": row.failures + 1}
        Schedule.objects.filter(pk=row.pk).update(started_at=now, lease=None, lease_until=None, **changes)
        return None
    result.claim(worker)
    row.lease, row.lease_until, row.started_at = result.pk, now + LEASE, now
    row.save(update_fields=["lease", "lease_until", "started_at", "due_at"])
    return Claim(result, task, row)


def _take(result: DBTaskResult[Any, Any], worker: str) -> Claim | None:
    try:
        task = _task_of(result.task_path)
    except NoSuchTask as error:
        _mark_failed([result.pk], name_of(error), timezone.now())
        return None
    result.claim(worker)
    return Claim(result, task)


def _task_of(path: str) -> Task[Any, Any]:
    try:
        task = import_string(path)
    except ImportError:
        raise NoSuchTask from None
    if not isinstance(task, Task):
        raise NoSuchTask
    return task


def _pause(schedule: Schedule, error: BaseException) -> float:
    """Seconds until a schedule that has just failed is tried again."""
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        return min(max(1.0, float(retry_after)), MAX_RETRY_AFTER)
    if getattr(error, "is_permanent", False):
        return MAX_BACKOFF
    doubled = float(schedule.period) * 2 ** min(schedule.failures + 1, 20)
    return min(doubled, MAX_BACKOFF) * random.uniform(0.9, 1.1)  # noqa: S311  (not a secret)


def _held_by(leases: list[UUID]) -> QuerySet[Schedule]:
    return Schedule.objects.filter(lease__in=leases)


def _end(claim: Claim, **changes: Any) -> None:
    """Unless another worker has it."""
    _held_by([claim.result.pk]).update(lease=None, lease_until=None, **changes)


def _mark_failed(results: list[UUID], why: str, now: datetime) -> None:
    """Without the traceback, which repeats what a platform or a caller sent."""
    running = DBTaskResult.objects.filter(pk__in=results).exclude(status=TaskResultStatus.FAILED)
    running.update(status=TaskResultStatus.FAILED, finished_at=now, exception_class_path=why, traceback="")
