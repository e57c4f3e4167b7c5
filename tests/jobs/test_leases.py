"""Claims: one worker at a time, for as long as it lives; and what remains of a failure."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from apps.jobs import leases, scheduling
from apps.jobs.leases import Claim, LeaseLost
from apps.jobs.models import Schedule
from apps.jobs.worker import call
from tests.jobs import work

CANARY = "porthole-canary-value"


pytestmark = pytest.mark.django_db


def make(name: str = "platform:1", period: int = 60, **arguments: Any) -> None:
    scheduling.schedule(name, work.break_down, arguments, period, at_once=True)


def claim(number: int = 10, data_dir: str = "here") -> list[Claim]:
    return leases.claim("worker", data_dir, number)


def fail(**arguments: Any) -> Schedule:
    """The schedule after a run that failed."""
    make(**arguments)
    Schedule.objects.update(due_at=timezone.now())
    (claimed,) = claim()
    with pytest.raises(Exception) as raised:  # noqa: PT011
        call(claimed)
    leases.fail(claimed, raised.value)
    return Schedule.objects.get()


def due_in(schedule: Schedule) -> float:
    return (schedule.due_at - timezone.now()).total_seconds()


def test_what_is_claimed_is_due_one_period_later_and_belongs_to_nobody_else() -> None:
    make()
    (claimed,) = claim()
    assert claim() == []
    row = Schedule.objects.get()
    assert (row.lease, row.is_running) == (claimed.result.pk, True)
    assert 55 < due_in(row) <= 60


def test_success_leaves_one_row_and_no_result() -> None:
    make()
    Schedule.objects.update(failures=3)
    leases.succeed(*claim())
    row = Schedule.objects.get()
    assert (row.failures, row.lease, row.is_running, row.succeeded_at) == (0, None, False, row.finished_at)
    assert not DBTaskResult.objects.exists()


def test_a_paused_one_and_one_of_another_data_dir_are_nobodys() -> None:
    for name in ("paused", "elsewhere", "here"):
        make(name)
    Schedule.objects.filter(name="paused").update(is_paused=True)
    Schedule.objects.filter(name="elsewhere").update(data_dir="there")
    Schedule.objects.filter(name="here").update(data_dir="here")
    assert [claimed.name for claimed in claim()] == ["here"]
    assert [claimed.name for claimed in claim(data_dir="there")] == ["elsewhere"]


def test_what_failed_goes_behind_what_did_not() -> None:
    for name in ("failed", "well"):
        make(name)
    Schedule.objects.filter(name="failed").update(failures=1)
    assert [claimed.name for claimed in claim(1)] == ["well"]


def test_a_lease_that_ended_is_begun_anew_and_the_first_worker_can_write_nothing() -> None:
    make()
    (first,) = claim()
    Schedule.objects.update(lease_until=timezone.now() - timedelta(seconds=1), due_at=timezone.now())
    (second,) = claim()
    assert DBTaskResult.objects.get(pk=first.result.pk).status == "FAILED"
    assert leases.renew([first.result.pk, second.result.pk]) == {first.result.pk}
    with leases.held(first), pytest.raises(LeaseLost):
        leases.confirm()
    leases.succeed(first)
    leases.fail(first, ValueError())
    assert Schedule.objects.get().lease == second.result.pk
    with leases.held(second):
        leases.confirm()


def test_a_lease_that_ended_can_still_be_renewed_where_nobody_else_began() -> None:
    make()
    (claimed,) = claim()
    Schedule.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert leases.renew([claimed.result.pk]) == set()
    assert Schedule.objects.get().is_running


def test_outside_a_worker_there_is_nothing_to_confirm() -> None:
    leases.confirm()


@pytest.mark.parametrize(("failures", "pause"), [(0, 120), (1, 240), (3, 900), (60, 900)])
def test_failures_back_off_up_to_a_quarter_of_an_hour(failures: int, pause: float) -> None:
    make()
    Schedule.objects.update(failures=failures)
    row = fail()
    assert row.failures == failures + 1
    assert pause * 0.89 < due_in(row) < pause * 1.11


@pytest.mark.parametrize(
    ("says", "pause"), [({"retry_after": 7}, 7), ({"retry_after": 10**9}, 86400), ({"is_permanent": True}, 900)]
)
def test_an_exception_may_say_when_to_try_again(says: dict[str, Any], pause: float) -> None:
    assert due_in(fail(told=True, **says)) == pytest.approx(pause, abs=3)


def test_whoever_asked_for_a_run_meanwhile_gets_it_after_a_failure_too() -> None:
    make()
    (claimed,) = claim()
    scheduling.run_now("platform:1")
    leases.fail(claimed, ValueError())
    assert due_in(Schedule.objects.get()) <= 0


def test_of_an_exception_only_its_class_is_kept() -> None:
    fail(canary=CANARY)
    (result,) = DBTaskResult.objects.all()
    assert (result.exception_class_path, result.traceback) == ("builtins.ValueError", "")


def test_a_task_that_this_release_does_not_have_fails_and_delays_no_other() -> None:
    scheduling.schedule("gone", "apps.jobs.tasks.gone", {}, 60, at_once=True)
    scheduling.schedule("none", "apps.jobs.tasks.KEPT", {}, 60, at_once=True)
    make("well")
    assert [claimed.name for claimed in claim()] == ["well"]
    for row in Schedule.objects.exclude(name="well"):
        assert (row.failures, row.lease) == (1, None)
        assert due_in(row) > 100


def test_what_was_enqueued_without_a_schedule_is_taken_once() -> None:
    work.beat.enqueue("one", "/dev/null")
    (taken,) = leases.take_enqueued("worker", 10)
    assert leases.take_enqueued("worker", 10) == []
    call(taken)
    leases.succeed(taken)
    assert not DBTaskResult.objects.exists()
