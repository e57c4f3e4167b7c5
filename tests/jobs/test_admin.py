"""What operators see of schedules, and what they can do."""

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.jobs import scheduling
from apps.jobs.models import Schedule
from tests.jobs import work
from tests.operators import client_of, staff_who_may

LIST = reverse("admin:jobs_schedule_changelist")


@pytest.fixture
def schedule(db: None) -> Schedule:
    scheduling.schedule("platform:7", work.beat, {}, 3600)
    return Schedule.objects.get()


def act(browser: Client, action: str, schedule: Schedule) -> Schedule:
    browser.post(LIST, {"action": action, "_selected_action": [schedule.pk]})
    return Schedule.objects.get()


def test_operators_pause_resume_and_run_now_and_that_is_logged(operator: Client, schedule: Schedule) -> None:
    assert act(operator, "pause", schedule).is_paused
    assert "Paused" in operator.get(LIST).content.decode()
    assert not act(operator, "resume", schedule).is_paused
    scheduling.schedule("platform:7", work.beat, {}, 7200)
    assert Schedule.objects.get().due_at > timezone.now()
    assert act(operator, "run_now", schedule).due_at <= timezone.now()
    said = LogEntry.objects.order_by("pk").values_list("change_message", flat=True)
    assert list(said) == ["Paused.", "Resumed.", "Asked for a run at once."]


def test_a_search_finds_what_begins_with_it(operator: Client, schedule: Schedule) -> None:
    for name in ("platform:70", "platform:8", "prune"):
        scheduling.schedule(name, work.beat, {}, 3600)
    for term, found in (("platform:7", 2), (" Platform:", 3), ("prune", 1), ("run", 0), ("p%", 0), ("", 4)):
        assert operator.get(LIST, {"q": term}).context["cl"].result_count == found, term


def test_nothing_is_typed_in_deleted_or_added(operator: Client, schedule: Schedule) -> None:
    page = reverse("admin:jobs_schedule_change", args=[schedule.pk])
    assert "tests.jobs.work.beat" in operator.get(page).content.decode()
    assert operator.post(page, {"task": "os.remove"}).status_code == 403
    assert operator.get(reverse("admin:jobs_schedule_add")).status_code == 403
    assert operator.post(reverse("admin:jobs_schedule_delete", args=[schedule.pk]), {"post": "yes"}).status_code == 403


def test_who_may_only_look_changes_nothing(schedule: Schedule) -> None:
    browser = client_of(staff_who_may("view_schedule"))
    assert "platform:7" in browser.get(LIST, {"q": "platf"}).content.decode()
    assert not act(browser, "pause", schedule).is_paused


def test_the_list_of_single_runs_is_not_there(operator: Client) -> None:
    assert operator.get("/admin/django_tasks_database/dbtaskresult/").status_code == 404
