"""Every tool at 10,000 deployments and at many more, for a typical organization and for a large one. For make soak.

What is timed is the work of this thread and of its database server.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from statistics import median
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from apps.installation.synthetic.load import load
from apps.installation.synthetic.rows import RARE
from apps.installation.synthetic.sizes import Sizes
from apps.orgs.models import App, Deployment
from apps.orgs.scope import OrgScope, scope_by_slug
from apps.orgs.search_indexes import missing_indexes
from tests.factories import START
from tests.orgs.two_sizes import clock

pytestmark = [pytest.mark.django_db, pytest.mark.soak]
SMALL = Sizes(organizations=3, apps=200, deployments=10_000, tokens=500, largest=100, seed=1, now=START)
TIMES = int(os.environ.get("GROWTH", "40"))
GROWTH, NOISE = 1.5, 0.0015  # seconds: what a busy machine adds
FEW = 0.005  # seconds: what it takes to read up to 500 rows one by one, where a filter finds no more
FILTERED = ("apps by health", "a rare query")
ROUNDS = 15
Calls = dict[str, Callable[[], object]]


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: START + timedelta(seconds=40))


def test_tools_take_as_long_for_a_typical_organization_and_for_a_large_one() -> None:
    few = timed(SMALL)
    many = timed(replace(
        SMALL, organizations=3 * TIMES, apps=200 * TIMES, deployments=10_000 * TIMES, tokens=500 * TIMES,
        largest=100 * TIMES,
    ))  # fmt: skip
    slow = []
    for name, took in many.items():
        line = f"{name}: {few[name] * 1000:.2f} ms, {took * 1000:.2f} ms"
        sys.stdout.write(f"{connection.vendor} {line}\n")
        most = GROWTH * few[name] + NOISE + FEW * name.startswith(FILTERED)
        slow += [line] if took > most else []
    assert slow == [], "\n".join(slow)


def timed(sizes: Sizes) -> dict[str, float]:
    """Seconds of each call, of a database of that size."""
    with transaction.atomic():
        load(sizes)
        took = {}
        for kind, number in (("typical", sizes.organizations - 1), ("large", 0)):
            org = scope_by_slug(f"synthetic-{number}")
            assert org
            took |= {f"{name} of a {kind} one": seconds(call) for name, call in calls(org).items()}
        transaction.set_rollback(True)
    return took


def seconds(call: Callable[[], object]) -> float:
    now, takes = clock(), []
    call()
    for _ in range(ROUNDS):
        began = now()
        call()
        takes.append(now() - began)
    return median(takes)


def calls(org: OrgScope) -> Calls:
    busiest = App.objects.filter(organization_id=org.organization_id, hidden_at=None).order_by("external_id")[0]
    of_app: dict[str, Any] = {"application_id": busiest.pk}
    middle = deep(org)
    searches: Calls = {} if connection.vendor == "sqlite" or missing_indexes() else {
        "a rare query": partial(page, org, "apps", query=RARE),
        "a query that nothing has": partial(page, org, "apps", query="nothing like it"),
    }  # fmt: skip
    return searches | {
        "get_account": lambda: (org.overview(), org.connections()),
        "projects": lambda: org.projects(query="").page(None, 5),
        "apps": partial(page, org, "apps"),
        "apps by status": partial(page, org, "apps", status="error"),
        "apps of a project": partial(page, org, "apps", project_id=busiest.project_id),
        "domains": partial(page, org, "domains"),
        "previews": partial(page, org, "previews"),
        "deployments": partial(page, org, "deployments"),
        "deployments from the middle": lambda: org.deployments().page(middle, 50),
        "deployments by status": partial(page, org, "deployments", status="failed"),
        "deployments of an app": partial(page, org, "deployments", **of_app),
        "health": lambda: org.app(busiest.pk).health(),
        "apps by health": partial(page, org, "apps", health="unhealthy"),
        "variables": partial(page, org, "variable_names"),
        "variables of an app": lambda: org.variable_names(**of_app).page(None, 10),
        "variables by name": partial(page, org, "variable_names", name="DATABASE_URL_0"),
        "secrets": partial(page, org, "secret_names", project_id=None),
    }  # fmt: skip


def page(org: OrgScope, kind: str, **inputs: Any) -> object:
    return getattr(org, kind)(**inputs).page(None, 50)


def deep(org: OrgScope) -> list[str]:
    """A position with as many deployments before it as after."""
    deployments = Deployment.objects.filter(organization_id=org.organization_id).order_by("-created_at", "-id")
    created_at, id = deployments.values_list("created_at", "id")[deployments.count() // 2]
    return [created_at.isoformat(), id]
