"""First pages of lists at a million rows: by an index, and hardly slower than at ten thousand. For make soak."""

import os
import sys
from datetime import timedelta
from time import perf_counter, thread_time
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.orgs.models import App, Deployment, Domain, EdgeFact, Environment, Project
from apps.orgs.scope import OrgScope
from tests.factories import START, Fill, make

pytestmark = [pytest.mark.django_db, pytest.mark.soak]
SMALL, LARGE = 10_000, int(os.environ.get("LARGE_ROWS", "1000000"))
GROWTH, NOISE = 1.5, 0.0005  # seconds: what a busy machine adds to a page of a few milliseconds
APPS, TAKES = 500, 15
RARE = 50  # rows that rare values have, at either size, spread over all
SPREAD = "n % ({rows} / 50) = 3"
COMMIT = "abcdef0123"


@pytest.fixture
def organization(acme: Fill) -> Fill:
    """500 applications in ten projects, each with an environment; one application has half of all rows."""
    Deployment.objects.all().delete()
    Domain.objects.all().delete()
    projects = [make(Project, acme.organization, name=f"{number}") for number in range(10)]
    stages = [make(Environment, acme.organization, project=project, name="live") for project in projects]
    App.objects.bulk_create(
        App(
            id=f"app_{number:026}", organization=acme.organization, project=projects[number % 10],
            environment=stages[number % 10], name=f"{number}", slug=f"{number}", source_type="docker",
        )
        for number in range(APPS)
    )  # fmt: skip
    return acme


def insert(model: Any, rows: int, organization: str, columns: dict[str, str]) -> None:
    """`rows` rows, the n-th from SQL over n and its application `a`; other columns have their defaults."""
    table, tables = model._meta.db_table, App._meta.db_table
    known = {field.column: "NULL" for field in model._meta.concrete_fields}
    known |= {"organization_id": f"'{organization}'"} | columns
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {rows}) "
            f"INSERT INTO {table} ({', '.join(known)}) SELECT {', '.join(known.values())} "
            f"FROM numbers JOIN {tables} a ON a.id = "
            f"'app_' || LPAD(CAST(CASE WHEN n / 3 % 2 = 0 THEN 0 ELSE n / 7 % {APPS} END AS text), 26, '0')"
        )


def moment(seconds: str) -> str:
    """START plus as many seconds, as the database keeps times."""
    if connection.vendor == "postgresql":
        return f"TIMESTAMPTZ '2026-03-01 12:00:00+00' + ({seconds}) * INTERVAL '1 second'"
    return f"DATETIME('2026-03-01 12:00:00', ({seconds}) || ' seconds')"


def fill_deployments(rows: int, organization: str) -> None:
    rare = SPREAD.format(rows=rows)
    insert(
        Deployment, rows, organization,
        {
            "id": "'dep_' || LPAD(CAST(n AS text), 26, '0')", "app_id": "a.id",
            "within_project_id": "a.project_id", "within_environment_id": "a.environment_id",
            "is_preview": "n % 5 = 0", "title": "'x'", "created_at": moment("-n"), "trigger": "'api'",
            "status": f"CASE WHEN {rare} THEN 'queued' WHEN n % 10 = 1 THEN 'failed' ELSE 'succeeded' END",
            "branch": f"CASE WHEN {rare} THEN 'rare' WHEN n % 3 = 0 THEN 'main' ELSE 'other' END",
            "commit_sha": f"CASE WHEN {rare} THEN '{COMMIT}' ELSE MD5(CAST(n AS text)) END",
        },
    )  # fmt: skip
    analyze()


def fill_domains(rows: int, organization: str) -> None:
    rare = SPREAD.format(rows=rows)
    insert(
        Domain, rows, organization,
        {
            "id": "'dom_' || LPAD(CAST(n AS text), 26, '0')", "app_id": "a.id", "https": "1 = 1",
            "within_project_id": "a.project_id", "within_environment_id": "a.environment_id", "path": "'/'",
            "host": "MD5(CAST(n AS text)) || '.example'", "certificate_type": "'none'",
            "is_enabled": "1 = 1", "created_at": moment("0"),
        },
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {EdgeFact._meta.db_table} "
            "(domain_id, organization_id, checked_at, dns_status, tls_not_after) "
            f"SELECT id, organization_id, created_at, 'resolves', CASE WHEN {rare} THEN {moment('1')} "
            f"WHEN n % 3 = 0 THEN {moment('86400')} ELSE {moment('8640000')} END "
            f"FROM (SELECT id, organization_id, created_at, CAST(SUBSTR(id, 5) AS integer) AS n "
            f"FROM {Domain._meta.db_table}) d"
        )
    analyze()


def analyze() -> None:
    """As autovacuum does. SQLite has no figures, as in operation."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for model in (App, Deployment, Domain, EdgeFact):
                cursor.execute(f"ANALYZE {model._meta.db_table}")


PLACES: dict[str, dict[str, str]] = {
    "all": {},
    "project": {"project_id": "1"},
    "environment": {"environment_id": "1"},
    "application": {"application_id": f"app_{1:026}"},
    "large application": {"application_id": f"app_{0:026}"},
}
DEPLOYMENTS: list[dict[str, Any]] = [
    {}, {"target": "preview"}, {"target": "production"}, {"status": "failed"}, {"status": "queued"},
    {"branch": "main"}, {"branch": "rare"}, {"branch": "none"}, {"commit_sha": COMMIT}, {"commit_sha": "0000000"},
    {"status": "failed", "target": "production"}, {"branch": "main", "status": "queued"},
    {"branch": "main", "target": "preview", "commit_sha": COMMIT},
    {"since": START - timedelta(hours=1), "branch": "main"},
    {"until": START - timedelta(hours=2), "status": "failed", "branch": "main"},
]  # fmt: skip
DOMAINS: list[dict[str, Any]] = [
    {}, {"host": "c4ca4238a0b923820dcc509a6f75849b.example"}, {"certificate_expires_before": START},
    {"certificate_expires_before": START + timedelta(hours=1)},
    {"certificate_expires_before": START + timedelta(days=9)},
    {"host": "c4ca4238a0b923820dcc509a6f75849b.example", "certificate_expires_before": START + timedelta(days=9)},
]  # fmt: skip


def first_page(scope: OrgScope, kind: str, inputs: dict[str, Any]) -> None:
    getattr(scope, kind)(**inputs).page(None, 20)


def seconds(scope: OrgScope, kind: str, inputs: dict[str, Any]) -> float:
    # SQLite works in this thread, so that what else the machine does can be left out.
    clock = thread_time if connection.vendor == "sqlite" else perf_counter
    first_page(scope, kind, inputs)
    takes = []
    for _ in range(TAKES):
        begin = clock()
        first_page(scope, kind, inputs)
        takes.append(clock() - begin)
    return min(takes)


def plans(scope: OrgScope, kind: str, inputs: dict[str, Any]) -> str:
    with CaptureQueriesContext(connection) as queries:
        first_page(scope, kind, inputs)
    found = []
    with connection.cursor() as cursor:
        for query in queries:
            is_sqlite = connection.vendor == "sqlite"
            cursor.execute(("EXPLAIN QUERY PLAN " if is_sqlite else "EXPLAIN ") + query["sql"].replace("%", "%%"))
            found += [row[3] if is_sqlite else row[0] for row in cursor.fetchall()]
    return "\n".join(found) + "\n"


@pytest.mark.parametrize(
    ("kind", "fill", "models", "filters"),
    [
        ("deployments", fill_deployments, [Deployment], DEPLOYMENTS),
        ("domains", fill_domains, [EdgeFact, Domain], DOMAINS),
    ],
)
def test_the_first_page_takes_hardly_longer_and_an_index(
    organization: Fill, kind: str, fill: Any, models: list[Any], filters: list[dict[str, Any]]
) -> None:
    scope = OrgScope(organization.organization.id, None)
    project = Project.objects.get(organization=organization.organization, name="1")
    ids = {"project_id": project.id, "environment_id": project.environments.get().id}
    calls = [
        (place, inputs, {name: ids.get(name, id) for name, id in named.items()} | inputs)
        for place, named in PLACES.items()
        for inputs in filters
    ]
    times: dict[int, list[float]] = {}
    for rows in (SMALL, LARGE):
        for model in models:
            model.objects.all()._raw_delete(connection.alias)
        fill(rows, organization.organization.id)
        times[rows] = [seconds(scope, kind, inputs) for _, _, inputs in calls]
    slow = []
    for (place, shown, inputs), small, large in zip(calls, times[SMALL], times[LARGE], strict=True):
        plan = plans(scope, kind, inputs)
        scanned = [
            table
            for table in (model._meta.db_table for model in models)
            if f"Seq Scan on {table}" in plan or f"SCAN {table}\n" in plan
        ]
        words = {name: str(value)[:16] for name, value in shown.items()}
        line = f"{kind} of {place} {words}: {small * 1000:.2f} ms, {large * 1000:.2f} ms, {large / small:.2f}"
        sys.stdout.write(f"{line}\n")
        if scanned or large > GROWTH * small + NOISE:
            slow.append(f"{line}\n{plan}")
    assert slow == [], "\n".join(slow)
