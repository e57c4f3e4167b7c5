"""Rows for tests: an organization with something in every table, and single rows with defaults."""

import pickle
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from django.db import connection

from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EdgeFact,
    EdgeStatistics,
    Environment,
    EnvVarName,
    Organization,
    OrgSecretName,
    Platform,
    Preview,
    Project,
    RuntimeFact,
    SourceConnection,
    Template,
)
from apps.orgs.models.judged import judging_once
from apps.orgs.text import fold
from apps.orgs.versions import raising_oneself

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
_numbers = count(1)
_platform_ids = count(1_000_000, 1_000)  # no sequence gets there, nor SQLite, which goes on from the highest


@dataclass
class Fill:
    """What `fill` made, by kind."""

    organization: Organization
    platform: Platform
    connection: SourceConnection
    project: Project
    environment: Environment
    app: App
    preview: Preview
    domain: Domain
    deployment: Deployment
    variable: EnvVarName
    secret: OrgSecretName
    template: Template


_recorded: dict[str, tuple[list[tuple[str, Any]], bytes]] = {}  # what `fill` wrote and gave, by slug


def fill(slug: str) -> Fill:
    """An organization with something in every table, its ids the same throughout a run.

    Most cases begin with this, so only the first call in a process goes through the ORM; the others write the same.
    """
    if slug not in _recorded:
        statements: list[tuple[str, Any]] = []

        def record(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            if sql.startswith(("INSERT", "UPDATE")):  # what was only asked need not be asked again
                statements.append((sql, params))
            return execute(sql, params, many, context)

        with connection.execute_wrapper(record), raising_oneself(), judging_once():
            made = _fill(slug)
        _recorded[slug] = statements, pickle.dumps(made)
        return made
    statements, pickled = _recorded[slug]
    with connection.cursor() as cursor:
        for sql, params in statements:
            cursor.execute(sql, params)
    return pickle.loads(pickled)


def _fill(slug: str) -> Fill:
    organization = Organization.objects.create(slug=slug, name=slug.capitalize(), plan="team", synced_at=START)
    platform = Platform.objects.create(
        id=next(_platform_ids), organization=organization, kind="manifest", last_sync_at=START, last_sync_status="ok"
    )
    connection = make(SourceConnection, organization, type="git", name=f"{slug} git")
    project = make(Project, organization, name=f"{slug} project")
    environment = make(Environment, organization, project=project, name="production", is_default=True)
    app = make_app(project, name=f"{slug} app", environment=environment, connection=connection, external_id="same-key")
    preview = make(Preview, organization, app=app, branch=f"{slug}-branch", pull_request_number=7, created_at=START)
    domain = make(Domain, organization, app=app, host=f"{slug}.example.com", https=True)
    deployment = make(Deployment, organization, app=app, title=f"{slug} deploys", status="succeeded", created_at=START)
    told = {"organization": organization, "platform": platform, "period": None}
    EdgeFact.objects.create(
        **told, domain=domain, checked_at=START, reachable=True, http_status=200, latency_ms=12,
        dns_status="resolves", tls_issuer="Test CA", tls_not_after=START + timedelta(days=3650), tls_is_valid=True,
    )  # fmt: skip
    EdgeStatistics.objects.create(**told, app=app, uptime_24h=0.99)
    RuntimeFact.objects.create(
        **told, app=app, desired_replicas=1, running_replicas=1,
        instances=[{"state": "running", "since": "2026-03-01T12:00:00.000Z", "message": None}],
    )  # fmt: skip
    variable = make(
        EnvVarName, organization, app=app, name=f"{slug.upper()}_URL", scope="app", references=["project.X"]
    )
    secret = make(OrgSecretName, organization, project=project, name=f"{slug.upper()}_KEY", scope="project")
    template = make(Template, organization, name=f"{slug} template", description="A template.", tags=",web,")
    return Fill(
        organization, platform, connection, project, environment, app, preview, domain, deployment, variable, secret,
        template,
    )  # fmt: skip


def make(model: type[Any], organization: Organization, **fields: Any) -> Any:
    """A row of `model` in the organization."""
    if model is Project:
        fields.setdefault("external_id", f"key-{next(_numbers)}")
    return model.objects.create(organization=organization, **fields)


def make_app(project: Project, name: str, **fields: Any) -> App:
    fields.setdefault("source_type", "docker")
    fields.setdefault("slug", fold(name).replace(" ", "-"))
    return make(App, project.organization, project=project, name=name, **fields)


def make_edge(domain: Domain, **facts: Any) -> EdgeFact:
    """The last check of a domain: it answered and does not age, unless `facts` say otherwise."""
    facts = {
        "period": None,
        "checked_at": START,
        "reachable": True,
        "http_status": 200,
        "dns_status": "resolves",
    } | facts
    return EdgeFact.objects.create(organization=domain.organization, domain=domain, **facts)


def make_more(fill: Fill, number: int) -> None:
    """`number` more rows of everything that is listed, all under the same application where they belong to one."""
    organization, app, project = fill.organization, fill.app, fill.project
    many = [f"{organization.slug} {n:04}" for n in range(number)]
    times = [START - timedelta(minutes=n // 2) for n in range(number)]  # two rows each share a time
    projects = [Project(organization=organization, name=name) for name in many]
    apps = [
        App(organization=organization, project=project, name=name, slug=name, source_type="docker") for name in many
    ]
    templates = [Template(organization=organization, name=name, description="More.") for name in many]
    for rows in (
        projects,
        apps,
        templates,
        [Environment(organization=organization, project=project, name=name) for name in many[:40]],
        [
            Preview(organization=organization, app=app, branch=name, created_at=at)
            for name, at in zip(many, times, strict=True)
        ],
        [Domain(organization=organization, app=app, host=f"{n:04}.example.com", https=True) for n in range(number)],
        [
            Deployment(organization=organization, app=app, title=name, created_at=at)
            for name, at in zip(many, times, strict=True)
        ],
        [EnvVarName(organization=organization, app=app, name=f"V{n}", scope="app") for n in range(number)],
        [OrgSecretName(organization=organization, name=f"S{n}", scope="vault") for n in range(number)],
        [SourceConnection(organization=organization, type="git", name=name) for name in many],
    ):
        type(rows[0]).objects.bulk_create(rows)
    domains = Domain.objects.filter(app=app, edge__isnull=True)
    EdgeFact.objects.bulk_create(
        EdgeFact(organization=organization, domain=domain, checked_at=START, reachable=False, error="No answer.")
        for domain in domains
    )
