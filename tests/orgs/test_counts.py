"""Kept counts: what is told with them is what is told without them, after every kind of write and at every moment."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.orgs.counts import keep_counts
from apps.orgs.models import App, Deployment, OrganizationCounts, Project, ProjectCounts
from apps.orgs.scope import OrgScope, scope_by_slug
from apps.orgs.versions import raise_data_version, raise_keeping_counts
from apps.platforms.snapshot.apply import apply
from tests.factories import START, Fill, make, make_app
from tests.orgs.test_versions import NO_WRITES, WRITES
from tests.platforms.snapshots import manifest_platform, rich

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    moments = [START]
    monkeypatch.setattr(timezone, "now", lambda: moments[-1])
    return moments


def told(org: OrgScope) -> list[Any]:
    overview = org.overview()
    counts = {project["id"]: project["app_count"] for project in org.projects(query="").page(None, 100)[0]}
    return [overview.organization, overview.apps_by_status, counts]


def counted(org: OrgScope) -> list[Any]:
    """The same without anything that is kept."""
    with transaction.atomic():
        OrganizationCounts.objects.all().delete()
        ProjectCounts.objects.all().delete()
        without = told(org)
        transaction.set_rollback(True)
    return without


def is_kept(org: OrgScope) -> bool:
    with CaptureQueriesContext(connection) as queries:
        org.overview()
    with transaction.atomic():
        ProjectCounts.objects.update(apps=77)
        numbers = {project["app_count"] for project in org.projects(query="").page(None, 100)[0]}
        transaction.set_rollback(True)
    is_counted = any('FROM "orgs_domain"' in query["sql"] or "GROUP BY" in query["sql"] for query in queries)
    return numbers <= {77} and not is_counted


@pytest.mark.parametrize("what", [*WRITES, *NO_WRITES])
def test_they_are_right_after_every_kind_of_write(acme: Fill, rival: Fill, what: str) -> None:
    org = OrgScope(acme.organization.pk, None)
    make_app(acme.project, "hidden", hidden_at=START)
    keep_counts(acme.organization.pk)
    assert is_kept(org)
    assert told(org) == counted(org)

    (WRITES | NO_WRITES)[what](acme)

    assert told(org) == counted(org)
    keep_counts(acme.organization.pk)
    assert is_kept(org)
    assert told(org) == counted(org)


def test_deployments_leave_the_last_30_days_one_by_one(acme: Fill, now: list[datetime]) -> None:
    org = OrgScope(acme.organization.pk, None)
    for minutes in (0, 20, 59, 61, 24 * 60, 29 * 24 * 60, -90):
        make(Deployment, acme.organization, app=acme.app, title="x", created_at=START - timedelta(minutes=minutes))
    raise_data_version(acme.organization.pk)
    keep_counts(acme.organization.pk)
    numbers = []
    for hours in (0, 0.5, 24, 24.1, 719, 719.5, 720, 720.001, 720.4, 721, 722):
        now.append(START + timedelta(hours=hours))
        assert is_kept(org)
        assert told(org) == counted(org)
        numbers.append(told(org)[0]["deployments_last_30_days"])
    assert numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) > 5


def test_a_clock_that_was_set_back_is_no_reason_to_miss_any(acme: Fill, now: list[datetime]) -> None:
    org = OrgScope(acme.organization.pk, None)
    make(Deployment, acme.organization, app=acme.app, title="x", created_at=START - timedelta(days=40))
    keep_counts(acme.organization.pk)
    now.append(START - timedelta(days=20))
    assert told(org) == counted(org)
    assert told(org)[0]["deployments_last_30_days"] == 2


def test_a_sync_keeps_them_and_so_does_one_that_finds_nothing_new(rival: Fill) -> None:
    platform = manifest_platform("many")
    org = scope_by_slug("many")
    assert org
    apply(platform, rich())
    assert is_kept(org)
    assert told(org) == counted(org)
    raise_data_version(platform.organization_id)
    assert not is_kept(org)
    apply(platform, rich())
    assert is_kept(org)


def test_a_version_that_rises_for_facts_leaves_them_current_unless_rows_were_written_too(acme: Fill) -> None:
    org = OrgScope(acme.organization.pk, None)
    raise_data_version(org.organization_id)
    keep_counts(org.organization_id)
    raise_keeping_counts([org.organization_id])
    assert is_kept(org)
    raise_data_version(org.organization_id)
    raise_keeping_counts([org.organization_id])
    assert not is_kept(org)
    keep_counts(org.organization_id)
    raise_keeping_counts([org.organization_id])
    raise_data_version(org.organization_id)
    assert not is_kept(org)


def test_only_what_differs_is_written(acme: Fill) -> None:
    other = make(Project, acme.organization, name="other")
    keep_counts(acme.organization.pk)
    make_app(other, "more")
    with CaptureQueriesContext(connection) as queries:
        keep_counts(acme.organization.pk)
    written = [query["sql"] for query in queries if "INSERT" in query["sql"] and "orgs_projectcounts" in query["sql"]]
    assert len(written) == 1
    assert other.pk in written[0]
    assert acme.project.pk not in written[0]
    with CaptureQueriesContext(connection) as queries:
        keep_counts(acme.organization.pk)
    assert not any("COUNT(" in query["sql"] for query in queries)
    assert App.objects.filter(project=other).count() == 1
