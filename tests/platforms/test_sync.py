"""A platform is synced in two lanes: what is read, what stays as it is, and what operators are told."""

import logging
import threading
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from apps.orgs.models import (
    App,
    DataVersion,
    Deployment,
    Domain,
    EdgeFact,
    EnvVarName,
    OrgSecretName,
    Platform,
    Preview,
    RuntimeFact,
    SourceConnection,
    Template,
)
from apps.platforms.connector import Identity, State, UpstreamError
from apps.platforms.models import PlatformConnection
from apps.platforms.snapshot import base
from apps.platforms.snapshot.hiding import TooManyDeletions
from apps.platforms.sync.run import Outcome, sync_platform
from tests.platforms.memory import KEY, Memory, MemoryConnector, connected, key_of, rows_written
from tests.platforms.snapshots import NOON

pytestmark = pytest.mark.django_db

FIVE_DETAILS = 6 + 5 * 4  # calls a minute: the state, and so many applications


def sync(connection: PlatformConnection, memory: Memory) -> Outcome:
    outcome = sync_platform(connection.pk, connect=lambda _: memory.connector)
    connection.refresh_from_db()
    connection.platform.refresh_from_db()
    return outcome


def refused(connection: PlatformConnection, memory: Memory, error: type[Exception] = UpstreamError) -> Any:
    with pytest.raises(error) as caught:
        sync(connection, memory)
    connection.refresh_from_db()
    connection.platform.refresh_from_db()
    return caught.value


def visible() -> set[str]:
    return set(App.objects.filter(hidden_at__isnull=True).values_list("external_id", flat=True))


def test_a_first_sync_reads_everything_however_little_may_be_asked() -> None:
    connection, memory = connected(), Memory.of(30, deployments=3)
    memory.calls_per_minute = FIVE_DETAILS
    outcome = sync(connection, memory)
    assert (outcome.read, outcome.apps, outcome.is_whole) == (30, 30, True)
    assert App.objects.count() == RuntimeFact.objects.count() == Domain.objects.count() == 30
    assert Deployment.objects.count() == 90
    assert connection.platform.organization.synced_at == connection.platform.last_sync_at
    assert connection.platform.last_sync_status == "ok"
    assert connection.last_counts["apps"] == 30
    assert connection.last_error is connection.progress is None


@pytest.mark.django_db(transaction=True)
def test_no_connection_to_the_database_is_kept_while_a_platform_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    connection, memory = connected(), Memory.of(1)
    memory.state_error, told = UpstreamError("It is away."), []
    monkeypatch.setattr(connections["default"], "close", lambda: told.append("given back"))

    class Noting(MemoryConnector):
        def read_state(self, *, is_first: bool = False) -> State:
            told.append("read")
            return super().read_state()

    with pytest.raises(UpstreamError):
        sync_platform(connection.pk, connect=lambda _: Noting(memory))
    assert told == ["given back", "read"]


def test_details_are_read_four_at_once_and_no_more() -> None:
    memory, connectors = Memory.of(20), []

    def connect(_: Any) -> MemoryConnector:
        connectors.append(memory.connector)
        return connectors[0]

    together = threading.Barrier(4, timeout=5)
    memory.on_detail = lambda key: together.wait() and None
    sync_platform(connected().pk, connect=connect)
    assert connectors[0].most_at_once == 4


def test_an_unchanged_sync_writes_no_row_of_the_organization() -> None:
    connection, memory = connected(), Memory.of(12)
    sync(connection, memory)
    version = DataVersion.objects.values_list("data_version", flat=True).get()
    tables = set(rows_written(lambda: sync(connection, memory)))
    assert tables == {"orgs_platform", "orgs_organization", "orgs_dataversion", "platforms_platformconnection"}
    assert DataVersion.objects.values_list("data_version", flat=True).get() == version


def test_the_calls_that_are_left_are_for_changed_applications_and_then_for_the_others_in_turn() -> None:
    connection, memory = connected(), Memory.of(12)
    sync(connection, memory)
    memory.calls_per_minute = FIVE_DETAILS
    memory.change(key_of(11), status="error")
    memory.deploy(key_of(10), "new", "building")
    memory.add("brand-new")
    memory.asked.clear()
    sync(connection, memory)
    assert set(memory.asked[:3]) == {"brand-new", key_of(11), key_of(10)}
    assert sorted(memory.asked[3:]) == [key_of(0), key_of(1)]
    memory.asked.clear()
    for _ in range(3):
        sync(connection, memory)
    assert set(memory.asked) >= {key_of(number) for number in range(2, 12)} | {"brand-new"}


def test_an_application_whose_previews_deployment_is_under_way_does_not_wait_for_its_turn() -> None:
    """No list tells of it, so only its application's detail can tell that it ended."""
    connection, memory = connected(), Memory.of(12)
    memory.preview(key_of(11), "preview")
    for key, age in (("now", 0), ("lost", 25)):
        memory.deploy(
            key_of(11 if key == "now" else 10), key, "building", created_at=timezone.now() - timedelta(hours=age),
            preview="preview" if key == "now" else None,
        )  # fmt: skip
    sync(connection, memory)
    memory.calls_per_minute = FIVE_DETAILS
    del memory.deployments["lost"]
    memory.deploy(key_of(11), "now", "failed", preview="preview", created_at=timezone.now())
    memory.asked.clear()
    sync(connection, memory)
    assert memory.asked == [key_of(number) for number in (11, 0, 1, 2, 3)]
    assert Deployment.objects.get(external_id="now").status == "failed"
    memory.asked.clear()
    sync(connection, memory)
    assert key_of(11) not in memory.asked


def test_the_state_and_what_is_new_are_stored_before_the_rest_is_read() -> None:
    connection, memory = connected(), Memory.of(4)
    sync(connection, memory)
    before = RuntimeFact.objects.values_list("checked_at", flat=True).distinct().get()
    assert before is None
    read_at = connection.platform.last_sync_at
    memory.change(key_of(2), status="error")
    memory.add("brand-new")
    for key in (key_of(0), key_of(1), key_of(3)):
        memory.errors[key] = UpstreamError("The key is refused.", is_permanent=True)
    refused(connection, memory)
    assert App.objects.get(external_id=key_of(2)).status == "error"
    assert "brand-new" in visible()
    assert connection.last_error == "The key is refused."
    # What was read is as old as this sync, and what was not is no younger than it was.
    assert connection.platform.last_sync_at > read_at
    ages = dict(RuntimeFact.objects.values_list("app__external_id", "checked_at"))
    assert ages == {key_of(2): None, "brand-new": None} | dict.fromkeys((key_of(0), key_of(1), key_of(3)), read_at)


def test_a_sync_is_as_old_as_the_state_that_it_read() -> None:
    connection, memory = connected(), Memory.of(3)
    moments: list[datetime] = []
    memory.on_detail = lambda key: moments.append(timezone.now())
    for _ in range(2):
        moments.clear()
        sync(connection, memory)
        assert connection.platform.last_sync_at < min(moments)


def test_a_changed_state_is_seen_without_the_detail() -> None:
    connection, memory = connected(), Memory.of(8)
    sync(connection, memory)
    memory.calls_per_minute = 4  # nothing is left for details but one
    for number in range(8):
        memory.change(key_of(number), status="deploying", upstream_status="running")
    outcome = sync(connection, memory)
    assert outcome.read < 8
    assert set(App.objects.values_list("status", "upstream_status")) == {("deploying", "running")}
    assert EnvVarName.objects.count() == 16  # what was not read stays
    assert Domain.objects.count() == RuntimeFact.objects.count() == 8


def test_a_new_application_waits_for_its_detail() -> None:
    connection, memory = connected(), Memory.of(4)
    sync(connection, memory)
    memory.add("brand-new")
    memory.errors["brand-new"] = UpstreamError("It hung.")
    outcome = sync(connection, memory)
    assert not outcome.is_whole
    assert "brand-new" not in visible()
    assert not Deployment.objects.filter(external_id__startswith="brand-new").exists()
    memory.errors.clear()
    sync(connection, memory)
    assert "brand-new" in visible()


def test_nothing_is_synced_before_every_application_was_read_or_refused_twice() -> None:
    connection, memory = connected(), Memory.of(4)
    memory.errors[key_of(2)] = UpstreamError("It hung.")
    sync(connection, memory)
    assert App.objects.count() == 3
    assert connection.platform.last_sync_at is connection.platform.organization.synced_at is None
    assert connection.platform.last_sync_status == "never"
    sync(connection, memory)
    assert connection.platform.last_sync_at == connection.platform.organization.synced_at is not None
    assert connection.last_error == "1 of 4 applications could not be read. It hung."


def test_an_application_that_cannot_be_read_keeps_its_rows_and_their_age() -> None:
    connection, memory = connected(), Memory.of(4)
    sync(connection, memory)
    before = connection.platform.last_sync_at
    memory.errors[key_of(1)] = UpstreamError("It hung.")
    memory.variables = dict.fromkeys(memory.apps, ("OTHER",))
    outcome = sync(connection, memory)
    assert (outcome.read, outcome.failed) == (3, 1)
    names = EnvVarName.objects.order_by("sort_key").values_list("name", flat=True)
    assert list(names.filter(app__external_id=key_of(1))) == ["DATABASE_URL", "PORT"]
    assert set(names.exclude(app__external_id=key_of(1))) == {"OTHER"}
    assert RuntimeFact.objects.get(app__external_id=key_of(1)).checked_at == before
    assert RuntimeFact.objects.get(app__external_id=key_of(2)).checked_at is None
    assert connection.platform.last_sync_status == "ok"


@pytest.mark.parametrize("tells_domains", [True, False])
def test_previews_and_their_domains_stay_until_their_application_is_read(tells_domains: bool) -> None:
    connection, memory = connected(), Memory.of(4)
    memory.tells_domains = tells_domains
    memory.preview(key_of(1), "pv")
    memory.deploy(key_of(1), "pv-1", "succeeded", preview="pv")
    sync(connection, memory)
    assert Domain.objects.get(external_id="pv-d").preview == Preview.objects.get()
    memory.errors[key_of(1)] = UpstreamError("It hung.")
    sync(connection, memory)
    assert Domain.objects.get(external_id="pv-d").preview == Preview.objects.get()
    assert Deployment.objects.get(external_id="pv-1").preview == Preview.objects.get()
    del memory.domains["pv-d"], memory.previews["pv"], memory.deployments["pv-1"], memory.errors[key_of(1)]
    sync(connection, memory)
    assert not Preview.objects.exists()
    assert Domain.objects.count() == 4


def test_a_list_that_was_refused_is_unknown_and_not_empty() -> None:
    connection, memory = connected(), Memory.of(2)
    plain = MemoryConnector.read_state

    def read_state(self: MemoryConnector, *, is_first: bool = False) -> State:
        if memory.unread:
            return plain(self)
        return replace(
            plain(self),
            variables=(base.Variable(name="SHARED", scope="environment", environment="e"),),
            secrets=(base.Secret(name="S"),),
            connections=(base.Connection(key="gh", type="github", name="GitHub"),),
            templates=(base.Template(key="t", name="T", description="D"),),
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryConnector, "read_state", read_state)
        sync(connection, memory)
        assert EnvVarName.objects.count() == 5
        memory.unread = frozenset({"connections", "secrets", "templates", "variables"})
        memory.variables[key_of(0)] = ()
        sync(connection, memory)
    assert EnvVarName.objects.count() == 3  # those of the first application are known, and gone
    assert EnvVarName.objects.filter(environment__isnull=False).count() == 1
    assert OrgSecretName.objects.count() == SourceConnection.objects.count() == Template.objects.count() == 1


@pytest.mark.parametrize("in_detail", [False, True])
def test_a_refused_key_stops_the_sync_and_changes_nothing(in_detail: bool) -> None:
    connection, memory = connected(), Memory.of(4)
    sync(connection, memory)
    error = UpstreamError("The key is refused.", is_permanent=True)
    memory.change(key_of(0), status="error")
    if in_detail:
        memory.errors[key_of(0)] = error
    else:
        memory.state_error = error
    assert refused(connection, memory) is error
    assert set(App.objects.values_list("status", flat=True)) == {"deployed"}
    assert connection.last_error == "The key is refused."
    assert connection.platform.last_sync_status == "error"
    memory.errors.clear()
    memory.state_error = None
    sync(connection, memory)
    assert connection.last_error is None
    assert connection.platform.last_sync_status == "ok"


def test_a_key_for_another_organization_brings_nothing() -> None:
    connection, memory = connected(), Memory.of(4)
    memory.identity = Identity(organization_key="org-2", organization_name="Rival", version="0.30.2")
    assert refused(connection, memory).is_permanent
    assert not App.objects.exists()


def test_a_platform_that_is_dead_behind_its_lists_is_not_asked_for_every_detail() -> None:
    connection, memory = connected(), Memory.of(200)
    memory.errors = {key: UpstreamError("It hung.") for key in memory.apps}
    refused(connection, memory)
    assert len(memory.asked) < 30


def test_a_platform_that_asks_for_a_pause_gets_it() -> None:
    connection, memory = connected(), Memory.of(50)
    sync(connection, memory)
    memory.asked.clear()
    memory.errors[key_of(3)] = UpstreamError("Too many calls.", retry_after=30)
    sync(connection, memory)
    assert len(memory.asked) < 15


def test_an_oddity_of_one_application_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    connection, memory = connected(), Memory.of(4)
    sync(connection, memory)

    def break_one(key: str) -> None:
        if key == key_of(1):
            raise KeyError("canary-in-an-exception")

    memory.on_detail = break_one
    outcome = sync(connection, memory)
    assert (outcome.read, outcome.failed) == (3, 1)
    assert "canary-in-an-exception" not in caplog.text
    assert "could not be understood" in (connection.last_error or "")


def test_what_cannot_be_kept_is_left_out_and_counted() -> None:
    connection, memory = connected(), Memory.of(4)
    sync(connection, memory)
    broken = Domain.objects.get(external_id=f"{key_of(1)}-d")
    memory.domains[f"{key_of(1)}-d"] = base.Domain(key=f"{key_of(1)}-d", app=key_of(1), host="not a host")
    memory.deploy(key_of(2), "odd", "succeeded", commit_sha="not a commit")
    outcome = sync(connection, memory)
    assert outcome.left_out == {"domains": 1}
    assert Domain.objects.get(pk=broken.pk).host == broken.host  # unknown, and so as it was
    assert Deployment.objects.get(external_id="odd").commit_sha is None


def test_an_application_that_cannot_be_kept_does_not_look_as_if_it_were_gone() -> None:
    connection, memory = connected(), Memory.of(4)
    sync(connection, memory)
    memory.change(key_of(1), name="")
    memory.change(key_of(2), status="error")
    sync(connection, memory)
    assert visible() == set(memory.apps)
    assert App.objects.get(external_id=key_of(2)).status == "error"


def test_what_is_gone_is_hidden_and_comes_back() -> None:
    connection, memory = connected(), Memory.of(6)
    sync(connection, memory)
    id = App.objects.get(external_id=key_of(5)).pk
    memory.remove(key_of(5))
    assert sync(connection, memory).changes.hidden == 1
    assert key_of(5) not in visible()
    memory.add(key_of(5))
    sync(connection, memory)
    assert App.objects.get(external_id=key_of(5), hidden_at__isnull=True).pk == id


def test_too_many_deletions_wait_for_somebody_to_confirm_once() -> None:
    connection, memory = connected(), Memory.of(6)
    sync(connection, memory)
    memory.remove(*(key_of(number) for number in range(3)))
    refused(connection, memory, TooManyDeletions)
    assert len(visible()) == 6
    assert connection.deletions_to_confirm["hidden"] == 3
    assert "3 of 6 applications" in connection.last_error
    connection.deletions_to_confirm |= {"is_confirmed": True}
    connection.save()
    sync(connection, memory)
    assert len(visible()) == 3
    assert connection.deletions_to_confirm is None
    memory.remove(key_of(3), key_of(4))
    refused(connection, memory, TooManyDeletions)
    assert len(visible()) == 3


def test_whoever_confirmed_three_did_not_confirm_five() -> None:
    connection, memory = connected(), Memory.of(6)
    sync(connection, memory)
    memory.remove(*(key_of(number) for number in range(3)))
    refused(connection, memory, TooManyDeletions)
    connection.deletions_to_confirm |= {"is_confirmed": True}
    connection.save()
    memory.remove(key_of(3), key_of(4))
    refused(connection, memory, TooManyDeletions)
    assert len(visible()) == 6
    assert "is_confirmed" not in connection.deletions_to_confirm


def test_what_the_prober_found_stays() -> None:
    connection, memory = connected(), Memory.of(3)
    sync(connection, memory)
    domain = Domain.objects.first()
    assert domain is not None
    EdgeFact.objects.create(
        domain=domain, organization=domain.organization, platform=domain.platform, checked_at=NOON, reachable=True
    )
    sync(connection, memory)
    assert EdgeFact.objects.count() == 1


def test_a_large_state_is_read_as_often_as_its_calls_allow() -> None:
    connection, memory = connected(), Memory.of(3)
    memory.calls_of_state, memory.calls_per_minute = 250, 100
    outcome = sync(connection, memory)
    assert outcome.period == 150
    assert connection.platform.sync_period == 150
    assert sync(connection, memory).read == 3  # there are always some calls for details


def test_facts_that_come_around_slowly_have_the_period_of_the_rotation() -> None:
    connection, memory = connected(), Memory.of(40)
    sync(connection, memory)
    assert connection.platform.detail_period is None
    memory.calls_per_minute = FIVE_DETAILS
    sync(connection, memory)
    assert connection.platform.check_period == connection.platform.detail_period
    assert 40 / 5 * 60 <= connection.platform.detail_period <= 2 * 40 / 5 * 60


def test_nothing_of_the_key_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    connection, memory = connected(), Memory.of(3)
    memory.state_error = UpstreamError("The key is refused.", is_permanent=True)
    with caplog.at_level(logging.DEBUG):
        refused(connection, memory)
    assert "The key is refused." in str([record.__dict__ for record in caplog.records])
    assert KEY not in str([record.__dict__ for record in caplog.records])


def test_a_deployment_that_the_platform_forgets_stays() -> None:
    connection, memory = connected(), Memory.of(2)
    sync(connection, memory)
    memory.deployments.clear()
    memory.deploy(key_of(0), "next", "succeeded", created_at=NOON + timedelta(days=1))
    sync(connection, memory)
    assert Deployment.objects.count() == 3
    assert Platform.objects.get().last_sync_status == "ok"
