"""Snapshots for tests: one rich in everything, and what it takes to apply one."""

from datetime import UTC, datetime
from typing import Any

from apps.orgs.models import Organization, Platform
from apps.platforms.snapshot import base
from apps.platforms.snapshot.check import Problem, problems_of
from apps.web.characters import is_plain

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def manifest_platform(slug: str = "acme", kind: str = "manifest", name: str = "default") -> Platform:
    organization, _ = Organization.objects.get_or_create(slug=slug, defaults={"name": slug.title()})
    return Platform.objects.create(organization=organization, kind=kind, name=name)


def app(key: str = "web", **fields: Any) -> base.App:
    return base.App(**{"key": key, "project": "p", "name": "Web", "source_type": "upload", **fields})


def project(key: str = "p", **fields: Any) -> base.Project:
    return base.Project(**{"key": key, "name": "Project", **fields})


def deployment(key: str = "d1", **fields: Any) -> base.Deployment:
    return base.Deployment(**{"key": key, "app": "web", "title": "Deploy", "created_at": NOON, **fields})


def rich() -> base.Snapshot:
    """Every collection, twice over, with awkward text."""
    return base.Snapshot(
        connections=(
            base.Connection(key="gh", type="github", name="no", account_login="0123", credentials="working"),
            base.Connection(key="git", type="git", name="Öffentlich: alles", base_url="https://git.example.com"),
        ),
        projects=(
            project(description="two\n\n  lines:\n\ttabbed \n", created_at=NOON),
            project("q", name="null", created_at=NOON),
        ),
        environments=(
            base.Environment(key="prod", project="p", name="production", is_default=True),
            base.Environment(key="0777", project="q", name="yes"),
        ),
        apps=(
            app(
                environment="prod",
                slug="8080",
                description="# not a comment: 'quoted' \"twice\" \u00a0 \U0001f98a",
                source_type="github",
                repository="acme/web",
                branch="feature/#1",
                connection="gh",
                status="deployed",
                names_skipped=3,
                created_at=NOON,
            ),
            app("compose", project="q", kind="compose", source_type="docker", image="a/b:1.0", created_at=NOON),
        ),
        previews=(
            base.Preview(key="pv", app="web", branch="x", pull_request_number=7, status="idle", created_at=NOON),
            base.Preview(key="pv2", app="web", branch="~", expires_at=NOON.replace(year=2027), created_at=NOON),
        ),
        domains=(
            base.Domain(key="d1", app="web", host="web.example.com", port=80, created_at=NOON),
            base.Domain(key="d2", app="web", host="a.example.com", https=False, path="/x", created_at=NOON),
            base.Domain(key="d3", app="web", host="0.example.com", preview="pv", created_at=NOON),
        ),
        deployments=(
            deployment(status="succeeded", finished_at=NOON.replace(hour=13, microsecond=120_000), trigger="api"),
            deployment("d2", preview="pv", status="failed", error_message="- item\n- item", commit_sha="0" * 40),
        ),
        variables=(
            base.Variable(name="A", app="web"),
            base.Variable(name="A", app="web", scope="build", references=("project.B",), updated_at=NOON),
            base.Variable(name="A", project="p", scope="project"),
            base.Variable(name="NULL", environment="prod", scope="environment"),
        ),
        secrets=(
            base.Secret(name="S"),
            base.Secret(name="S", scope="project", project="p", provider="vault: x"),
            base.Secret(name="S", scope="environment", environment="prod", updated_at=NOON),
            base.Secret(name="S", scope="vault", environment="0777"),
        ),
        templates=(
            base.Template(key="t", name="T", description="D", tags=("b", "a", "no"), version="1.10"),
            base.Template(key="u", name="U", description="D", docs_url="https://docs.example.com/?a=b#c"),
        ),
        edges=(
            base.Edge(domain="d1", checked_at=NOON, reachable=True, tls_issuer="CA", tls_not_after=NOON),
            base.Edge(domain="d2", checked_at=NOON, reachable=False, error="=", tls_is_valid=False),
        ),
        edge_statistics=(
            base.EdgeStatistics(app="web", uptime_24h=0.00001, checked_at=NOON),
            base.EdgeStatistics(app="compose", latency_p50_ms=0),
        ),
        runtimes=(
            base.Runtime(
                app="web",
                checked_at=NOON.replace(minute=1),
                desired_replicas=2,
                instances=(base.Instance(state="running", since=NOON), base.Instance(state="x", message="<<")),
            ),
            base.Runtime(app="compose", running_replicas=0),
        ),
    )


def problems_but_unseen(snapshot: base.Snapshot) -> list[Problem]:
    """Without those of identifiers that hold what nobody sees: they are left to `fitted`, which counts them."""
    return [problem for problem in problems_of(snapshot) if not _is_unseen(snapshot, problem)]


def _is_unseen(snapshot: base.Snapshot, problem: Problem) -> bool:
    value = getattr(getattr(snapshot, problem.collection)[problem.index], problem.field, None)
    return isinstance(value, str) and not is_plain(value)
