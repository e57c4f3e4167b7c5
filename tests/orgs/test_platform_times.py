"""Platforms as rows tell them along: what was remembered of them is never taken for what is there."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.orgs import platform_times
from apps.orgs.models import Organization, Platform, RuntimeFact
from apps.orgs.platform_times import PlatformTimes, remembered_platforms, seen_platforms, times_of
from apps.orgs.scope import OrgScope
from apps.orgs.versions import Reading
from tests.factories import START, Fill, make_app

LATER = START + timedelta(days=1)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    times = [START]
    monkeypatch.setattr("django.utils.timezone.now", lambda: times[-1])
    return times


@pytest.fixture
def synced(acme: Fill) -> Platform:
    """A platform that says of an application what runs, as of its last sync."""
    platform: Platform = Platform.objects.create(
        organization=acme.organization, kind="dokploy", name="x", sync_period=60, last_sync_at=START
    )
    RuntimeFact.objects.create(
        organization=acme.organization, app=make_app(acme.project, "run", status="deployed"), platform=platform,
        period=60, desired_replicas=1, running_replicas=1,
    )  # fmt: skip
    return platform


def healthy(acme: Fill) -> list[str]:
    found, _ = OrgScope(acme.organization.pk, None).apps(health="healthy", query="run").page(None, 10)
    return [row["name"] for row in found]


def test_they_are_told_as_they_are_stored(acme: Fill, synced: Platform) -> None:
    moments: list[dict[str, Any]] = [
        {"last_sync_at": START + timedelta(microseconds=1)}, {"as_of": START, "stale_after": 0}, {"as_of": LATER},
    ]  # fmt: skip
    for number, moment in enumerate(moments):
        Platform.objects.create(organization=acme.organization, kind="manifest", name=f"m{number}", **moment)
    stored = Platform.objects.filter(organization=acme.organization).order_by("id")
    seen = times_of(seen_platforms(acme.organization.pk, None))
    assert seen == tuple(map(PlatformTimes._make, stored.values_list(*PlatformTimes._fields)))
    assert times_of(seen_platforms("org_" + "0" * 26, None)) == ()


def test_a_sync_that_changes_nothing_else_is_seen_also_by_a_list_that_finds_nothing(
    acme: Fill, synced: Platform, now: list[datetime]
) -> None:
    assert healthy(acme) == ["run"]
    now.append(LATER)
    assert healthy(acme) == []
    Platform.objects.filter(pk=synced.pk).update(last_sync_at=LATER)
    assert healthy(acme) == ["run"]
    Platform.objects.filter(pk=synced.pk).update(last_sync_at=START)
    assert healthy(acme) == []


def test_who_asks_again_reads_them_beside_the_rows(acme: Fill, synced: Platform) -> None:
    scope = OrgScope(acme.organization.pk, None)
    scope.apps().page(None, 1)
    with CaptureQueriesContext(connection) as captured:
        scope.apps().page(None, 1)
        assert len(captured) == 1
        Platform.objects.filter(pk=synced.pk).update(as_of=LATER)
        before = len(captured)
        scope.apps().page(None, 1)
        assert len(captured) - before == 2


def test_what_tells_the_platforms_tells_the_versions(acme: Fill, django_assert_num_queries: Any) -> None:
    scope, reading = OrgScope(acme.organization.pk, None), Reading()
    seen_platforms(scope.organization_id, reading)
    with django_assert_num_queries(0):
        reading.is_of(None, scope.organization_id)  # type: ignore[arg-type]


def test_so_many_are_remembered(acme: Fill, rival: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_times, "MAX_REMEMBERED", 1)
    monkeypatch.setattr(platform_times, "_remembered", {})
    for organization in Organization.objects.all():
        assert times_of(remembered_platforms(organization.pk))
        assert list(platform_times._remembered) == [organization.pk]
