"""What is pruned in the background, and what is not."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from apps.accounts import tasks as accounts
from apps.jobs import leases, tasks
from apps.jobs.models import Schedule
from apps.oauthmcp import tasks as oauthmcp
from apps.oauthmcp.models import AccessToken
from apps.orgs.models import Organization
from tests.jobs import work
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member

pytestmark = pytest.mark.django_db


def ago(**span: float) -> Any:
    return timezone.now() - timedelta(**span)


def result(**values: Any) -> Any:
    made = work.beat.enqueue("one", "/dev/null")
    DBTaskResult.objects.filter(pk=made.id).update(**values)
    return made.id


def test_old_results_go_and_what_a_dead_worker_was_at_has_failed() -> None:
    result(status="FAILED", finished_at=ago(days=8))
    recent = result(status="FAILED", finished_at=ago(days=6))
    ready = result()
    running = result(status="RUNNING", started_at=ago(minutes=5))
    lost = result(status="RUNNING", started_at=ago(days=1))
    tasks.prune.call()
    left = {str(row.pk): row for row in DBTaskResult.objects.all()}
    assert set(left) == {recent, ready, running, lost}
    assert (left[lost].status, left[lost].exception_class_path) == ("FAILED", leases.WORKER_LOST)
    assert left[running].status == "RUNNING"


def test_schedules_of_data_dirs_that_are_gone_go() -> None:
    for name, data_dir, due_at in (
        ("gone", "one", ago(days=31)),
        ("there", "two", ago(days=29)),
        ("all", "", ago(days=99)),
    ):
        Schedule.objects.create(name=name, task="", period=60, due_at=due_at, data_dir=data_dir)
    tasks.prune.call()
    assert set(Schedule.objects.values_list("name", flat=True)) == {"there", "all"}


def test_sessions_and_tokens_that_ended_go() -> None:
    for key, ends in (("ended", ago(days=1)), ("open", ago(days=-1))):
        Session.objects.create(session_key=key, expire_date=ends, session_data="")
    member = make_member(Organization.objects.create(slug="acme", name="Acme"))
    authorization = make_authorization(make_client(), member)
    for _ in range(2):
        make_access_token(authorization)
    AccessToken.objects.filter(pk=AccessToken.objects.latest("pk").pk).update(expires=ago(days=2))
    accounts.prune.call()
    oauthmcp.prune.call()
    assert list(Session.objects.values_list("session_key", flat=True)) == ["open"]
    assert AccessToken.objects.count() == 1
