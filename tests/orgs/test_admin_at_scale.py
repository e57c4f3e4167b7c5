"""The admin's lists at a million rows: every page of one comes within 300 ms. For make soak.

A machine that needs long to look at every name, as this one does when others are at work on it, has more time: as much
as one plain look and a first page take at the same moment, and a quarter more. So a search that sorts, looks twice or
reads more than names fails on any machine.

Of each kind an organization has half of the rows, and 999 have the others. What is timed is a whole request: the work
of this thread and of its database server.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.urls import reverse

from apps.jobs.models import Schedule
from apps.oauthmcp import models as oauthmcp
from apps.orgs import models as orgs
from apps.orgs.admin.parts import contains
from tests.operators import queries_of
from tests.orgs.rows_at_scale import drawn, key, moment, spread
from tests.orgs.two_sizes import least

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.soak]
ROWS = int(os.environ.get("LARGE_ROWS", "1000000"))
MOST = 0.3  # seconds
ORGANIZATIONS = 1000
MANY, FEW, NONE = "invoice", "zebra", "nothing like it"
# Where searches look, unless the list says so itself; all others look at addresses of people.
PARTS: dict[Any, tuple[Any, tuple[str, ...]]] = {
    orgs.Organization: (orgs.Organization, ("slug", "search_key")),
    orgs.Invitation: (orgs.Invitation, ("email",)),
    oauthmcp.Application: (oauthmcp.Application, ("search_key",)),
}

OWNER = f"(CASE WHEN n / 7 % 2 = 0 THEN 0 ELSE n % {ORGANIZATIONS - 1} + 1 END)"
Columns = dict[str, str]


def words(rows: int) -> str:
    """SQL: the n-th row's name. A sixth has the one word, 50 the other."""
    common = f"CASE WHEN {drawn(0, 6)} = 0 THEN 'Invoices in the mail ' ELSE 'Checkout of orders ' END"
    return f"({common} || CASE WHEN {spread(rows)} THEN 'Zebra ' ELSE '' END || MD5(CAST(n AS text)))"


def insert(model: Any, rows: int, columns: Columns) -> None:
    """`rows` rows, the n-th from SQL over n; columns that are not given have their default, or are null."""
    known = {field.column: _default(field) for field in model._meta.concrete_fields} | columns
    names = ", ".join(map(connection.ops.quote_name, known))
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < {rows}) "
            f"INSERT INTO {model._meta.db_table} ({names}) SELECT {', '.join(known.values())} FROM numbers"
        )


def _default(field: Any) -> str:
    if field.null:
        return "NULL"
    kind = field.get_internal_type()
    if kind == "DateTimeField":
        return moment("-n")
    if kind == "BooleanField":
        return "1 = 1" if field.default is True else "1 = 0"
    if kind == "JSONField":
        return "'[]'" if field.default is list else "'{}'"
    if kind in ("CharField", "TextField", "EmailField"):
        return f"'{field.get_default()}'"
    return "0" if not field.primary_key else "n + 1000"


def owned(prefix: str, **columns: str) -> Columns:
    return {"id": key(prefix), "organization_id": key("org", OWNER)} | columns


def named(rows: int, prefix: str, **columns: str) -> Columns:
    return owned(prefix, **{"name": words(rows), "sort_key": f"LOWER({words(rows)})"} | columns)


OF_APP = {"app_id": key("app", f"900000000 + {OWNER}")}
STATUS = f"CASE WHEN {drawn(1, 10)} = 1 THEN 'failed' ELSE 'succeeded' END"


def fill_few() -> None:
    """1,000 organizations, each with a project, an application, a member and an authorization."""
    few = ORGANIZATIONS
    insert(orgs.Organization, few, {"id": key("org"), "slug": "'organization-' || n", "name": words(few)})
    of_each = {"organization_id": key("org")}
    insert(orgs.Project, few, of_each | {"id": key("prj", "900000000 + n"), "name": "'p'", "sort_key": "'p'"})
    insert(
        orgs.App, few,
        of_each | {"id": key("app", "900000000 + n"), "project_id": key("prj", "900000000 + n"), "name": "'a'",
                   "sort_key": "'a'", "source_type": "'docker'"},
    )  # fmt: skip
    insert(orgs.User, few, {"id": "n + 100000000", "email": "'few' || n || '@example.org'"})
    insert(orgs.Membership, few, of_each | {"id": "n + 100000000", "user_id": "n + 100000000"})


PROJECT = {"project_id": key("prj", f"900000000 + {OWNER}")}
LEVEL = f"CASE WHEN n % ({ROWS} / 50) = 4 THEN 'down' WHEN {drawn(2, 2)} = 0 THEN 'unknown' ELSE 'healthy' END"


def fill_apps(rows: int) -> None:
    columns = named(rows, "app", source_type="'docker'") | PROJECT
    insert(orgs.App, rows, columns)
    far = moment("100000000")
    insert(
        orgs.HealthTimetable, rows,
        {"id": "n + 1000", "app_id": key("app"), "organization_id": key("org", OWNER), "level_1": LEVEL,
         "until_1": far},
    )  # fmt: skip


def fill_deployments(rows: int) -> None:
    titles = {"title": words(rows), "search_key": f"LOWER({words(rows)})"}
    insert(orgs.Deployment, rows, owned("dep", status=STATUS) | titles | OF_APP)


def fill_domains(rows: int) -> None:
    host = f"REPLACE(LOWER({words(rows)}), ' ', '-') || '.example'"
    insert(orgs.Domain, rows, owned("dom", host=host) | OF_APP)
    ends = f"CASE WHEN {spread(rows)} THEN -86400 ELSE 400 * 86400 END"
    insert(
        orgs.EdgeFact, rows,
        {"domain_id": key("dom"), "organization_id": key("org", OWNER), "tls_not_after": moment(ends)},
    )  # fmt: skip


def fill_users(rows: int) -> None:
    email = f"REPLACE(LOWER({words(rows)}), ' ', '-') || '@example.com'"
    insert(orgs.User, rows, {"id": "n + 1000", "email": email})
    insert(
        orgs.Membership, rows,
        {"id": "n + 1000", "organization_id": key("org", OWNER), "user_id": "n + 1000", "role": "'member'"},
    )  # fmt: skip


def fill_authorizations(rows: int) -> None:
    fill_users(rows)
    client = oauthmcp.Application.objects.get(client_id=oauthmcp.DOCS_CLIENT).pk
    uuid = "LPAD(CAST(n AS text), 32, '0')"
    uuid = f"CAST({uuid} AS uuid)" if connection.vendor == "postgresql" else uuid
    insert(oauthmcp.Authorization, rows, {"id": uuid, "application_id": str(client), "membership_id": "n + 1000"})
    of_authorization = {"authorization_id": uuid, "application_id": str(client), "user_id": "n + 1000"}
    checksum = {"token_checksum": "MD5(CAST(n AS text))", "token": "''"}
    insert(oauthmcp.AccessToken, rows, of_authorization | checksum)
    insert(oauthmcp.RefreshToken, rows, of_authorization | checksum | {"token": "CAST(n AS text)"})
    insert(oauthmcp.ScriptToken, rows, {"authorization_id": uuid, "name": words(rows)})
    insert(
        oauthmcp.Grant, rows,
        of_authorization | {"membership_id": "n + 1000", "code": "MD5(CAST(n AS text))"},
    )  # fmt: skip


KINDS: dict[str, tuple[list[Any], Callable[[int], None]]] = {
    "apps": ([orgs.App], fill_apps),
    "deployments": ([orgs.Deployment], fill_deployments),
    "domains": ([orgs.Domain], fill_domains),
    "previews": (
        [orgs.Preview],
        lambda rows: insert(orgs.Preview, rows, owned("prv", branch=words(rows)) | OF_APP),
    ),
    "projects": ([orgs.Project], lambda rows: insert(orgs.Project, rows, named(rows, "prj"))),
    "environments": (
        [orgs.Environment],
        lambda rows: insert(orgs.Environment, rows, named(rows, "env") | PROJECT),
    ),
    "variables": (
        [orgs.EnvVarName],
        lambda rows: insert(orgs.EnvVarName, rows, named(rows, "var", name="'V'", scope="'app'") | OF_APP),
    ),
    "secrets": (
        [orgs.OrgSecretName],
        lambda rows: insert(orgs.OrgSecretName, rows, named(rows, "sec", name="'S'", scope="'vault'")),
    ),
    "connections": (
        [orgs.SourceConnection],
        lambda rows: insert(orgs.SourceConnection, rows, named(rows, "con", type="'git'")),
    ),
    "templates": ([orgs.Template], lambda rows: insert(orgs.Template, rows, named(rows, "tpl"))),
    "organizations": (
        [orgs.Organization],
        lambda rows: insert(
            orgs.Organization, rows,
            {"id": key("org", "100000000 + n"), "slug": "MD5(CAST(n AS text))", "name": words(rows),
             "search_key": f"LOWER({words(rows)})"},
        ),
    ),
    "platforms": (
        [orgs.Platform],
        lambda rows: insert(
            orgs.Platform, rows,
            {"id": "n + 10000000", "organization_id": key("org", OWNER), "kind": "'dokploy'", "name": "CAST(n AS text)",
             "last_sync_status": "'ok'", "last_sync_at": moment("0"), "sync_period": "60"},
        ),
    ),
    "invitations": (
        [orgs.Invitation],
        lambda rows: insert(
            orgs.Invitation, rows,
            {"organization_id": key("org", OWNER), "token_hash": "MD5(CAST(n AS text))",
             "email": f"REPLACE(LOWER({words(rows)}), ' ', '-') || '@example.com'"},
        ),
    ),
    "clients": (
        [oauthmcp.Application],
        lambda rows: insert(
            oauthmcp.Application, rows,
            {"id": "n + 1000", "client_id": "MD5(CAST(n AS text))", "name": words(rows),
             "search_key": f"LOWER({words(rows)})", "client_type": "'public'", "registration_source": "'dcr'"},
        ),
    ),
    "authorizations": (
        [oauthmcp.Authorization, oauthmcp.AccessToken, oauthmcp.RefreshToken, oauthmcp.ScriptToken, oauthmcp.Grant,
         orgs.User, orgs.Membership],
        fill_authorizations,
    ),
    "schedules": (
        [Schedule],
        lambda rows: insert(
            Schedule, rows,
            {"name": f"LOWER({words(rows)})", "task": "'x'", "period": "60", "due_at": moment("0")},
        ),
    ),
}  # fmt: skip


def pages_of(model: Any) -> dict[str, dict[str, str]]:
    """By what they show, the parameters of a list."""
    kind = admin.site._registry[model]
    pages: dict[str, dict[str, str]] = {"first page": {}, "page 90": {"p": "90"}}
    large, small = {"organization": "organization-0"}, {"organization": "organization-7"}
    has_organizations = any("Organization" in str(named) for named in kind.list_filter)
    if has_organizations:
        pages |= {"of the large one": large, "of a small one": small}
    if kind.search_fields:
        pages |= {f"search: {term}": {"q": term} for term in (MANY, FEW, NONE, "qj")}
        if has_organizations:
            pages |= {f"search: {term} in the large one": {"q": term} | large for term in (MANY, FEW, NONE)}
            pages |= {f"search: {MANY} in a small one": {"q": MANY} | small}
    if model is orgs.Deployment:
        day = {"created_at__year": "2026", "created_at__month": "2", "created_at__day": "20"}
        for number in (1, 2, 3):
            pages["date " + "-".join(list(day.values())[:number])] = dict(list(day.items())[:number])
        pages |= {"a day of the large one": day | large, "a day with a search": day | {"q": NONE}}
        pages |= {"failed": {"status__exact": "failed"}, "queued": {"status__exact": "queued"}}
        pages |= {"search in failed": {"status__exact": "failed", "q": FEW}}
    return pages


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_of_a_list_comes_within_300_ms(operator: Client, kind: str) -> None:
    models, fill = KINDS[kind]
    fill_few()
    fill(ROWS)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # as autovacuum does
            cursor.execute("SET max_parallel_workers_per_gather = 0")  # what they did would not be counted
    slow = []
    pages = [(f"{model.__name__}, {shows}", model, address_of(model), parameters)
             for model in models for shows, parameters in pages_of(model).items()]  # fmt: skip
    for shows, model, address, parameters in [("Overview", None, reverse("admin:index"), {}), *pages]:
        took, answer = timed(operator, address, parameters)
        changes = answer.context.get("cl")
        found = f", {changes.result_count} found" if changes else ""
        line = f"{shows}: {took * 1000:.0f} ms{found}"
        sys.stdout.write(f"{connection.vendor} {line}\n")
        if took > MOST and (model is None or timed(operator, address, parameters)[0] > most(operator, model)):
            slow += [line, *slowest(operator, address, parameters)]
    assert slow == [], "\n".join(slow)


def most(operator: Client, model: Any) -> float:
    """Seconds that a search may take here and now."""
    own: Any = getattr(admin.site._registry[model], "parts", ())
    looked_at, parts = PARTS.get(model) or ((model, own) if own else (orgs.User, ("email",)))
    look, _ = least(looked_at._default_manager.filter(contains(parts, NONE)).order_by().count)
    return max(MOST, 1.25 * (look + timed(operator, address_of(model), {})[0]))


def timed(operator: Client, address: str, parameters: dict[str, str]) -> tuple[float, Any]:
    took, answer = least(lambda: operator.get(address, parameters))
    assert answer.status_code == 200
    return took, answer


def slowest(operator: Client, address: str, parameters: dict[str, str]) -> list[str]:
    queries = queries_of(lambda: operator.get(address, parameters))
    return [f"  {query['time']} s: {query['sql'][:2000]}" for query in queries if float(query["time"]) > 0.03]


def address_of(model: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
