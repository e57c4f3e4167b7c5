"""What is due when, and what applications and operators can change about it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks.base import Task

from apps.jobs import scheduling
from apps.jobs.models import Schedule
from tests.jobs import work

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


@pytest.mark.parametrize(
    ("late", "following"), [(0, 60), (1, 59), (30, 30), (31, 89), (59, 61), (60, 60), (3600, 60), (3590, 70)]
)
def test_a_schedule_keeps_its_beat_and_never_runs_twice_within_half_a_period(late: int, following: int) -> None:
    now = NOON + seconds(late)
    assert scheduling.next_due(NOON, 60, now) - now == seconds(following)


def test_what_is_registered_exists_and_is_a_task() -> None:
    registered = {periodic.name: periodic for periodic in scheduling.registered()}
    assert {"prune:tasks", "prune:tokens", "prune:sessions", "docs-index", "mirrors"} <= set(registered)
    for periodic in registered.values():
        assert isinstance(import_string(periodic.task), Task), periodic


def test_workers_make_rows_of_what_is_registered_once_and_for_each_data_dir(db: None) -> None:
    for data_dir in ("one", "two", "one"):
        scheduling.install(data_dir)
    names = set(Schedule.objects.values_list("name", "data_dir"))
    assert {("prune:tokens", ""), ("mirrors:one", "one"), ("mirrors:two", "two")} <= names
    once = [periodic for periodic in scheduling.registered() if not periodic.per_data_dir]
    assert len(names) == 2 * len(scheduling.registered()) - len(once)


def test_what_a_release_changed_reaches_the_row_and_a_pause_stays(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "_registered", {})
    scheduling.every("beat", work.beat, 60)
    scheduling.install("one")
    scheduling.pause("beat")
    scheduling.every("beat", work.hang, 30)
    scheduling.install("one")
    row = Schedule.objects.get()
    assert (row.task, row.period, row.is_paused) == ("tests.jobs.work.hang", 30, True)


def test_many_schedules_begin_at_different_moments_of_their_period(db: None) -> None:
    for number in range(50):
        scheduling.schedule(f"platform:{number}", work.beat, {}, 60)
    due = list(Schedule.objects.order_by("due_at").values_list("due_at", flat=True))
    assert len(set(due)) > 40
    assert seconds(30) < due[-1] - due[0] < seconds(61)


def test_a_schedule_that_is_made_again_stays_when_it_was(db: None) -> None:
    make(period=60, at_once=True)
    before = Schedule.objects.values().get()
    make(period=60)
    assert Schedule.objects.values().get() == before


def test_a_new_period_begins_with_the_last_run(db: None) -> None:
    make(period=60)
    begun = timezone.now() - seconds(10)
    Schedule.objects.update(started_at=begun)
    make(period=120)
    assert Schedule.objects.get().due_at == begun + seconds(120)


def test_what_is_paused_does_not_run_now_and_is_due_when_it_is_resumed(db: None) -> None:
    make(period=3600)
    Schedule.objects.update(due_at=NOON + seconds(10**9))
    assert scheduling.pause("platform:1")
    assert not scheduling.run_now("platform:1")
    assert scheduling.resume("platform:1")
    assert not scheduling.resume("platform:1")
    assert Schedule.objects.get().due_at <= timezone.now()


def test_run_now_is_due_at_once_and_what_is_unscheduled_is_gone(db: None) -> None:
    make(period=3600)
    assert scheduling.run_now("platform:1")
    assert Schedule.objects.get().due_at <= timezone.now()
    scheduling.unschedule("platform:1")
    assert not scheduling.run_now("platform:1")


def make(**options: Any) -> None:
    scheduling.schedule("platform:1", work.beat, {"name": "1", "path": "/dev/null"}, **options)
