"""As many rows as are wanted of whatever is listed, spread over applications: written by the database itself.

Each column of the n-th row is drawn from n by a number of its own, so that no two columns follow each other. Rare
values have 50 rows at either size, spread over all.
"""

from datetime import timedelta
from typing import Any

from django.db import connection

from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EdgeFact,
    Environment,
    EnvVarName,
    HealthTimetable,
    Platform,
    Preview,
    Project,
)
from apps.orgs.overview import FOREVER
from tests.factories import START, Fill, make

APPS, PROJECTS = 500, 10
COMMIT, HOST = "abcdef0123", "c4ca4238a0b923820dcc509a6f75849b.example"  # of n = 1
STRIDES = (2654435761, 2246822519, 3266489917, 668265263, 374761393, 3042594569)


def make_applications(acme: Fill) -> None:
    """500 in ten projects, each with an environment. The first has half of all that belongs to applications."""
    Deployment.objects.all().delete()
    Domain.objects.all().delete()
    Preview.objects.all().delete()
    EnvVarName.objects.all().delete()
    projects = [make(Project, acme.organization, name=f"{number}") for number in range(PROJECTS)]
    stages = [make(Environment, acme.organization, project=project, name="live") for project in projects]
    Platform.objects.create(
        id=1, organization=acme.organization, kind="dokploy", sync_period=60, last_sync_status="ok",
        last_sync_at=START - timedelta(seconds=10),
    )  # fmt: skip
    App.objects.bulk_create(
        App(
            id=f"app_{number:026}", organization=acme.organization, project=projects[number % PROJECTS],
            environment=stages[number % PROJECTS], name=f"{number}", slug=f"{number}", source_type="docker",
        )
        for number in range(APPS)
    )  # fmt: skip


def drawn(number: int, of: int) -> str:
    """SQL: one of 0 … of - 1, for the n-th row's column of this number."""
    return f"(CAST(n AS bigint) * {STRIDES[number]} / 65536 % {of})"


def moment(seconds: str) -> str:
    """SQL: START plus as many seconds, as the database keeps times."""
    if connection.vendor == "postgresql":
        return f"TIMESTAMPTZ '2026-03-01 12:00:00+00' + ({seconds}) * INTERVAL '1 second'"
    return f"DATETIME('2026-03-01 12:00:00', ({seconds}) || ' seconds')"


def spread(rows: int) -> str:
    """SQL: whether the n-th row has the rare values."""
    return f"n % ({rows} / 50) = 3"


def key(prefix: str, number: str = "n") -> str:
    return f"'{prefix}_' || LPAD(CAST({number} AS text), 26, '0')"


AN_APP = f"CASE WHEN {drawn(0, 2)} = 0 THEN 0 ELSE {drawn(1, APPS)} END"


def insert(model: Any, rows: int, organization: str, columns: dict[str, str], app: str = AN_APP) -> None:
    """`rows` rows, the n-th from SQL over n and its application `a`, of the number `app`; other columns are null."""
    known = {field.column: "NULL" for field in model._meta.concrete_fields}
    known |= {"organization_id": f"'{organization}'"} | columns
    names = ", ".join(map(connection.ops.quote_name, known))
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {rows}) "
            f"INSERT INTO {model._meta.db_table} ({names}) "
            f"SELECT {', '.join(known.values())} "
            f"FROM numbers JOIN {App._meta.db_table} a ON a.id = {key('app', app)}"
        )


WITHIN = {"within_project_id": "a.project_id", "within_environment_id": "a.environment_id"}
OF_APP = {"app_id": "a.id"} | WITHIN


def fill_deployments(rows: int, organization: str) -> None:
    rare = spread(rows)
    insert(
        Deployment, rows, organization,
        OF_APP | {
            "id": key("dep"), "is_preview": f"{drawn(2, 5)} = 0", "title": "'x'", "search_key": "'x'",
            "created_at": moment("-n"), "trigger": "'api'",
            "status": f"CASE WHEN {rare} THEN 'queued' WHEN {drawn(3, 10)} = 1 THEN 'failed' ELSE 'succeeded' END",
            "branch": f"CASE WHEN {rare} THEN 'rare' WHEN {drawn(4, 3)} = 0 THEN 'main' ELSE 'other' END",
            "commit_sha": f"CASE WHEN {rare} THEN '{COMMIT}' ELSE MD5(CAST(n AS text)) END",
        },
    )  # fmt: skip


def fill_domains(rows: int, organization: str) -> None:
    insert(
        Domain, rows, organization,
        OF_APP | {
            "id": key("dom"), "https": "1 = 1", "path": "'/'", "host": "MD5(CAST(n AS text)) || '.example'",
            "certificate_type": "'none'", "is_enabled": "1 = 1", "created_at": moment("0"),
        },
    )  # fmt: skip
    ends = f"CASE WHEN {spread(rows)} THEN 1 WHEN {drawn(3, 3)} = 0 THEN 86400 ELSE 8640000 END"
    insert(
        EdgeFact, rows, organization,
        {
            "domain_id": key("dom"), "checked_at": moment("0"), "dns_status": "'resolves'",
            "tls_not_after": moment(ends),
        },
    )  # fmt: skip


def fill_previews(rows: int, organization: str) -> None:
    rare = spread(rows)
    insert(
        Preview, rows, organization,
        OF_APP | {
            "id": key("prv"), "branch": "'b' || n", "created_at": moment("-n"),
            "status": f"CASE WHEN {rare} THEN 'error' WHEN {drawn(3, 3)} = 0 THEN 'idle' ELSE 'deployed' END",
            "pull_request_number": f"CASE WHEN {rare} THEN 1 WHEN {drawn(4, 3)} = 0 THEN 7 ELSE n + 1000 END",
        },
    )  # fmt: skip
    insert(
        Deployment, 10_000, organization,
        OF_APP | {
            "id": key("dep"), "preview_id": key("prv", f"n % {rows}"), "is_preview": "1 = 1", "title": "'x'",
            "search_key": "'x'", "created_at": moment("-n"), "trigger": "'api'", "status": "'succeeded'",
        },
    )  # fmt: skip


def fill_variables(rows: int, organization: str) -> None:
    """The first 1,000 are set on projects, on environments and on 20 applications, which see as many at any size.

    Of the others an application has 2,000, the common name among them ten times: more than there are scopes.
    """
    at_project, at_environment = "n < 1000 AND n % 4 = 1", "n < 1000 AND n % 4 = 3"
    name = f"CASE WHEN {spread(rows)} THEN 'RARE' WHEN {drawn(3, 200)} = 0 THEN 'DATABASE_URL' ELSE 'V' || n END"
    insert(
        EnvVarName, rows, organization,
        WITHIN | {
            "id": key("var"), "name": name, "sort_key": f"LOWER({name})", "references": "'[]'",
            "project_id": f"CASE WHEN {at_project} THEN a.project_id END",
            "environment_id": f"CASE WHEN {at_environment} THEN a.environment_id END",
            "app_id": f"CASE WHEN NOT ({at_project}) AND NOT ({at_environment}) THEN a.id END",
            "scope": f"CASE WHEN {at_project} THEN 'project' WHEN {at_environment} THEN 'environment' "
            f"WHEN {drawn(4, 3)} = 0 THEN 'build' ELSE 'app' END",
        },
        app=f"CASE WHEN n < 1000 THEN n % 20 + 1 ELSE 21 + {drawn(1, APPS - 21)} END",
    )  # fmt: skip


def fill_apps(rows: int, organization: str) -> None:
    """Half of them with one timetable, half with two: for a sync that is recent, as it is, and for one that is not.

    Some steps have ended, so that each level is that of a first step and of a second one, and some are yet to come.
    """
    rare, columns = spread(rows), {field.column for field in App._meta.concrete_fields}
    insert(
        App, rows, organization,
        dict.fromkeys(columns & {"name", "slug", "search_key"}, "'a' || n") | {
            "id": key("zzz"), "project_id": "a.project_id", "environment_id": "a.environment_id",
            "sort_key": "MD5(CAST(n AS text))", "kind": "'application'", "source_type": "'docker'",
            "names_skipped": "0", "created_at": moment("0"),
            "status": f"CASE WHEN {rare} THEN 'error' WHEN {drawn(3, 3)} = 0 THEN 'idle' ELSE 'deployed' END",
            "branch": f"CASE WHEN {rare} THEN 'rare' WHEN {drawn(4, 3)} = 0 THEN 'main' ELSE 'other' END",
        },
        app=drawn(1, APPS),
    )  # fmt: skip
    level = (
        f"CASE WHEN n % ({rows} / 50) = 4 THEN 'down' WHEN n % ({rows} / 50) = 5 THEN 'deploying' "
        f"WHEN {drawn(2, 10)} = 0 THEN 'degraded' WHEN {drawn(2, 10)} < 4 THEN 'unknown' ELSE 'healthy' END"
    )
    ended, ends = f"{drawn(5, 3)} = 0", f"{drawn(5, 3)} = 1"
    far = f"'{FOREVER:%Y-%m-%d %H:%M:%S}'" + ("::timestamptz" if connection.vendor == "postgresql" else "")
    step = {
        "level_1": f"CASE WHEN {ended} THEN 'healthy' ELSE {level} END", "reason_1": "'x'",
        "until_1": f"CASE WHEN {ended} THEN {moment('-60')} WHEN {ends} THEN {moment('60')} ELSE {far} END",
        "level_2": f"CASE WHEN {ended} THEN {level} WHEN {ends} THEN 'unknown' END",
        "until_2": f"CASE WHEN {ended} OR {ends} THEN {far} END",
    }  # fmt: skip
    of_platform = {"platform_id": "1", "period": "60"}
    has_one = "n % 2 = 0"
    insert(
        HealthTimetable, rows, organization,
        step | {
            "id": "n + 2000000000", "app_id": key("zzz"),
            "holds": f"CASE WHEN {has_one} THEN 'always' ELSE 'synced' END",
            "platform_id": f"CASE WHEN {has_one} THEN NULL ELSE 1 END",
            "period": f"CASE WHEN {has_one} THEN NULL ELSE 60 END",
        },
        app="0",
    )  # fmt: skip
    insert(
        HealthTimetable, rows // 2, organization,
        of_platform | {
            "id": "n + 3000000000",
            "app_id": key("zzz", "n * 2 + 1"), "holds": "'unsynced'", "level_1": "'unknown'", "reason_1": "'x'",
            "until_1": far,
        },
        app="0",
    )  # fmt: skip
