"""Syncing as background work."""

import pytest

from apps.jobs.models import Schedule
from apps.orgs.models import App
from apps.platforms.connector import UpstreamError
from apps.platforms.models import PlatformConnection
from apps.platforms.tasks import put_off, schedule_name, schedule_sync, sync
from tests.platforms.memory import Memory, connected

pytestmark = pytest.mark.django_db


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = Memory.of(2)
    monkeypatch.setattr("apps.platforms.connectors.DokployConnector", lambda url, key: memory.connector)
    return memory


def test_a_platforms_schedule_follows_its_size(memory: Memory) -> None:
    connection = connected()
    schedule_sync(connection.pk)
    memory.calls_of_state, memory.calls_per_minute = 300, 100
    sync.call(connection.pk)
    assert App.objects.count() == 2
    assert Schedule.objects.get(name=schedule_name(connection.pk)).period == 180


def test_a_failure_reaches_the_worker_with_what_it_needs_to_try_again(memory: Memory) -> None:
    connection = connected()
    memory.state_error = UpstreamError("Too many calls.", retry_after=30)
    with pytest.raises(UpstreamError) as failed:
        sync.call(connection.pk)
    assert (failed.value.retry_after, failed.value.is_permanent) == (30, False)


def test_a_platform_without_a_connection_is_scheduled_no_more(memory: Memory) -> None:
    connection = connected()
    schedule_sync(connection.pk)
    PlatformConnection.objects.all().delete()
    sync.call(connection.pk)
    assert not Schedule.objects.exists()


def test_what_somebody_else_syncs_now_is_due_later(memory: Memory) -> None:
    connection = connected()
    schedule_sync(connection.pk, at_once=True)
    before = Schedule.objects.get().due_at
    put_off(connection.pk, 3600)
    assert (Schedule.objects.get().due_at - before).total_seconds() > 3000
