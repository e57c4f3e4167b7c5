"""What is done again and again: each application adds its own when it is ready, others are made at run time.

A task that fails is tried again later and later. Its exception may say otherwise, with these attributes:
`retry_after` (seconds), `is_permanent` (it will not mend itself soon), `sentence` (for the log, and nothing that was
received or that is secret is in it). Nothing else of an exception is kept but the name of its class.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django_tasks.base import Task

from apps.jobs.models import Schedule

MINUTE, HOUR, DAY = 60, 3600, 86400
FIRST_RUN = MINUTE  # seconds within which what is registered is done for the first time


@dataclass(frozen=True, slots=True)
class Periodic:
    name: str
    task: str
    period: int
    per_data_dir: bool


_registered: dict[str, Periodic] = {}


def every(name: str, task: Task[Any, Any] | str, period: int, *, per_data_dir: bool = False) -> None:
    """From now on `task` (or its import path) is due every `period` seconds, once for all workers.

    `per_data_dir`: once for each DATA_DIR instead, and by a worker that has it.
    """
    _registered[name] = Periodic(name, _path_of(task), period, per_data_dir)


def registered() -> list[Periodic]:
    return list(_registered.values())


def install(data_dir: str) -> None:
    """Makes the rows of what is registered; `data_dir` is the id of this worker's."""
    for periodic in registered():
        owner = data_dir if periodic.per_data_dir else ""
        name = f"{periodic.name}:{owner}" if owner else periodic.name
        first = _within(min(periodic.period, FIRST_RUN))
        row = Schedule(name=name, task=periodic.task, period=periodic.period, due_at=first, data_dir=owner)
        Schedule.objects.bulk_create([row], ignore_conflicts=True)
        _change(name, periodic.task, {}, periodic.period)


def schedule(
    name: str, task: Task[Any, Any] | str, arguments: Mapping[str, Any], period: int, *, at_once: bool = False
) -> None:
    """Makes or changes a row. `arguments` are JSON; no secret may be among them.

    A new one is due at some moment of its first period, so that many do not beat together, or else at once.
    """
    path = _path_of(task)
    due_at = timezone.now() if at_once else _within(period)
    row = Schedule(name=name, task=path, arguments=dict(arguments), period=period, due_at=due_at)
    Schedule.objects.bulk_create([row], ignore_conflicts=True)
    _change(name, path, arguments, period)


def unschedule(name: str) -> None:
    """What runs now runs to its end, but can no longer confirm its lease."""
    Schedule.objects.filter(name=name).delete()


def run_now(name: str) -> bool:
    """False: it is paused, or is none. Where it runs at the moment, it runs again when it has ended."""
    return bool(Schedule.objects.filter(name=name, is_paused=False).update(due_at=timezone.now()))


def pause(name: str) -> bool:
    """What runs now runs to its end. False: there is none."""
    return bool(Schedule.objects.filter(name=name).update(is_paused=True))


def resume(name: str) -> bool:
    """It is due at once. False: none was paused."""
    return bool(Schedule.objects.filter(name=name, is_paused=True).update(is_paused=False, due_at=timezone.now()))


def next_due(due_at: datetime, period: int, now: datetime) -> datetime:
    """The first beat after `now` that is no less than half a period away: many that were late do not fall in step."""
    step = timedelta(seconds=period)
    following = due_at + (max(timedelta(), now - due_at) // step + 1) * step
    return following if following - now >= step / 2 else following + step


def _change(name: str, task: str, arguments: Mapping[str, Any], period: int) -> None:
    """Writes only where something differs. A new period begins with the last run."""
    with transaction.atomic():
        row = Schedule.objects.select_for_update().filter(name=name).first()
        if row is None:
            return
        if row.period != period:
            begun = row.started_at or timezone.now()
            Schedule.objects.filter(pk=row.pk).update(period=period, due_at=begun + timedelta(seconds=period))
        if (row.task, row.arguments) != (task, dict(arguments)):
            Schedule.objects.filter(pk=row.pk).update(task=task, arguments=dict(arguments))


def _path_of(task: Task[Any, Any] | str) -> str:
    return task if isinstance(task, str) else task.module_path


def _within(seconds: float) -> datetime:
    return timezone.now() + timedelta(seconds=random.uniform(0, seconds))  # noqa: S311  (a beat, not a secret)
