"""First pages of lists at a million rows: by an index, and hardly slower than at ten thousand. For make soak."""

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from statistics import median
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from apps.orgs.counts import keep_counts
from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EdgeFact,
    Environment,
    EnvVarName,
    HealthTimetable,
    Preview,
    Project,
)
from apps.orgs.scope import OrgScope
from tests.factories import START, Fill
from tests.orgs import rows_at_scale as fills
from tests.orgs.two_sizes import Size, clock, explained, two_sizes

pytestmark = [pytest.mark.django_db, pytest.mark.soak]
SMALL, LARGE = 10_000, int(os.environ.get("LARGE_ROWS", "1000000"))
GROWTH, NOISE = 1.5, 0.0002  # seconds: what a busy machine adds to a page of a millisecond
FAR = 0.0015  # and what 500 rows that lie anywhere among a million add: memory is farther away
WALKED = 0.0045  # and a page of three conditions, which no index has together: a walk over some 600 rows
TAKES, ENOUGH, ROUNDS = 4, 3, 25

PLACES: dict[str, dict[str, str]] = {
    "all": {},
    "project": {"project_id": "1"},
    "environment": {"environment_id": "1"},
    "application": {"application_id": f"app_{1:026}"},
    "large application": {"application_id": f"app_{0:026}"},
}
Filters = list[dict[str, Any]]
DEPLOYMENTS: Filters = [
    {}, {"target": "preview"}, {"target": "production"}, {"status": "failed"}, {"status": "queued"},
    {"branch": "main"}, {"branch": "rare"}, {"branch": "none"}, {"commit_sha": fills.COMMIT}, {"commit_sha": "0000000"},
    {"status": "failed", "target": "production"}, {"branch": "main", "status": "queued"},
    {"branch": "main", "target": "preview"}, {"branch": "main", "target": "preview", "commit_sha": fills.COMMIT},
    {"since": START - timedelta(hours=1), "branch": "main"},
    {"until": START - timedelta(hours=2), "status": "failed", "branch": "main"},
]  # fmt: skip
DOMAINS: Filters = [
    {}, {"host": fills.HOST}, {"host": "none.example"}, {"certificate_expires_before": START},
    {"certificate_expires_before": START + timedelta(hours=1)},
    {"certificate_expires_before": START + timedelta(days=9)},
    {"host": fills.HOST, "certificate_expires_before": START + timedelta(days=9)},
]  # fmt: skip
PREVIEWS: Filters = [
    {}, {"status": "idle"}, {"status": "error"}, {"status": "deploying"}, {"pull_request_number": 7},
    {"pull_request_number": 1}, {"pull_request_number": 2}, {"pull_request_number": 7, "status": "idle"},
    {"pull_request_number": 1, "status": "error"},
]  # fmt: skip
VARIABLES: Filters = [
    {}, {"name": "DATABASE_URL"}, {"name": "RARE"}, {"name": "NONE"}, {"scope": "build"}, {"scope": "project"},
    {"scope": "preview"}, {"name": "DATABASE_URL", "scope": "build"}, {"name": "RARE", "scope": "app"},
]  # fmt: skip
APPS: Filters = [
    {}, {"status": "idle"}, {"status": "error"}, {"status": "deploying"}, {"branch": "main"}, {"branch": "rare"},
    {"branch": "none"}, *[{"health": level} for level in (*HealthTimetable.Level.values, "unhealthy")],
    {"branch": "main", "status": "idle"}, {"branch": "main", "health": "degraded"},
    {"branch": "rare", "health": "healthy"}, {"branch": "main", "health": "down"},
    {"status": "idle", "health": "unhealthy"}, {"status": "idle", "branch": "main", "health": "unknown"},
]  # fmt: skip


@pytest.fixture
def organization(acme: Fill, monkeypatch: pytest.MonkeyPatch) -> Fill:
    monkeypatch.setattr(timezone, "now", lambda: START)
    fills.make_applications(acme)
    return acme


@pytest.mark.parametrize(
    ("kind", "fill", "models", "filters", "places"),
    [
        ("apps", fills.fill_apps, [HealthTimetable, App], APPS, 3),
        ("deployments", fills.fill_deployments, [Deployment], DEPLOYMENTS, 5),
        ("domains", fills.fill_domains, [EdgeFact, Domain], DOMAINS, 5),
        ("previews", fills.fill_previews, [Preview, Deployment], PREVIEWS, 5),
        ("variable_names", fills.fill_variables, [EnvVarName], VARIABLES, 4),
    ],
)
def test_the_first_page_takes_hardly_longer_and_an_index(
    organization: Fill, kind: str, fill: Callable[[int, str], None], models: list[Any], filters: Filters, places: int
) -> None:
    scope = OrgScope(organization.organization.id, None)
    project = Project.objects.get(organization=organization.organization, name="1")
    ids = {"project_id": project.id, "environment_id": project.environments.get().id}
    found = []
    with two_sizes(models) as (few, many):
        for size, rows in ((few, SMALL), (many, LARGE)):
            with size.inside():
                fill(rows, organization.organization.id)
                analyze(models)
                keep_counts(organization.organization.id)  # as whoever writes that many does
        for place, named in list(PLACES.items())[:places]:
            for filter in filters:
                inputs = {name: ids.get(name, id) for name, id in named.items()} | filter
                shown = {name: str(value)[:16] for name, value in filter.items()}
                allowed = NOISE + FAR * ("health" in filter) + WALKED * (len(filter) > 2)
                complaint = compared(few, many, partial(first_page, scope, kind, inputs), models, allowed)
                sys.stdout.write(f"{kind} of {place} {shown}: {complaint.splitlines()[0]}\n")
                found += [f"{kind} of {place} {shown}: {complaint}"] if "\n" in complaint else []
    transaction.set_rollback(True)
    assert found == [], "\n".join(found)


def analyze(models: list[Any]) -> None:
    """As autovacuum does. SQLite has no figures, as in operation."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for model in {App, Environment, Project, *models}:
                cursor.execute(f"ANALYZE {model._meta.db_table}")


def first_page(scope: OrgScope, kind: str, inputs: dict[str, Any]) -> None:
    getattr(scope, kind)(**inputs).page(None, 20)


def compared(few: Size, many: Size, work: Callable[[], None], models: list[Any], allowed: float = NOISE) -> str:
    """Both times in milliseconds and how often the one goes into the other; the plan besides, if it is bad."""
    takes: list[tuple[float, float]] = []
    for number in range(1, ROUNDS + 1):
        with few.inside():
            small = seconds(work)
        with many.inside():
            takes.append((small, seconds(work)))
        # What else the machine does makes both of a round slower: the rounds' median tells what is ours.
        is_slow = median(large / (GROWTH * small + allowed) for small, large in takes) > 1
        if number >= ENOUGH and not is_slow:
            break
    small, large = (median(column) for column in zip(*takes, strict=True))
    with many.inside():
        plan = explained(work)
    growth = median(large / small for small, large in takes)
    words = f"{small * 1000:.2f} ms, {large * 1000:.2f} ms, {growth:.2f}"
    return f"{words}\n{plan}" if is_slow or any(scans(plan, model._meta.db_table) for model in models) else words


def seconds(work: Callable[[], None]) -> float:
    """The least of some takes."""
    now, takes = clock(), []
    work()
    for _ in range(TAKES):
        began = now()
        work()
        takes.append(now() - began)
    return min(takes)


def scans(plan: str, table: str) -> bool:
    return f"Seq Scan on {table}" in plan or f"SCAN {table}" in plan
