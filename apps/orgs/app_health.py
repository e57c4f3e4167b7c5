"""What get_app_health tells of an application, besides the verdict: what was seen of its domains, and what runs."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from apps.orgs.certificates import certificate_changes_at
from apps.orgs.health import Check, Facts, edge_status, in_order, judge
from apps.orgs.models import Deployment
from apps.orgs.overview import FOREVER, TICK
from apps.orgs.prepared import prepared
from apps.orgs.rows import Row, Rows
from apps.orgs.timetables import BY_APP, app_rows, domain_rows, facts_from
from apps.orgs.versions import Reading

MAX_SHOWN = 20
OF_APP = (
    "edge_statistics__uptime_24h", "edge_statistics__latency_p50_ms", "edge_statistics__latency_p95_ms",
    "runtime__instances", "detail_read_at", "created_at",
)  # fmt: skip
OF_DOMAIN = ("edge__latency_ms", "edge__tls_issuer", "edge__error")
OF_DEPLOYMENT = ("id", "status", "title", "commit_sha", "created_at", "finished_at", "error_message")


@dataclass(slots=True)
class Health:
    """`level` is healthy, degraded, down, deploying or unknown; `reasons` are sentences.

    Before `until` the clock changes none of it.
    """

    app: Row
    last_deployment: Row | None
    edge: dict[str, Any]
    runtime: dict[str, Any] | None
    level: str
    until: datetime
    reasons: list[str] = field(default_factory=list)


def health_of(app: Row, organization_id: str | None = None, reading: Reading | None = None) -> Health:
    """From stored facts, in three queries; `app` has its id. `reading` is told what the last one saw."""
    now = timezone.now()
    row, _, facts = next(facts_from(_apps(app["id"]).read(), _domains(app["id"]).read()))
    last = _deployments(app["id"], organization_id).tell(reading).read(limit=1)
    verdict = judge(facts, now)
    edge, runtime = _edge(row, facts, now), _runtime(row, facts)
    until = min(_moments(facts, now), default=FOREVER)
    return Health(app, last[0] if last else None, edge, runtime, verdict.level, until, verdict.reasons)


def _moments(facts: Facts, now: datetime) -> Iterator[datetime]:
    """When time alone makes something of it another thing: the age of facts, a certificate's status, the days left."""
    yield from (until + TICK for until in facts.recent_until() if now <= until < FOREVER)
    for check in facts.checks:
        if check.not_after is not None:
            yield check.not_after - timedelta(days=(check.not_after - now).days) + TICK
        if (moment := certificate_changes_at(check.row, now)) is not None:
            yield moment


@prepared
def _apps(app_id: str) -> Rows:
    return Rows(app_rows([app_id], more=OF_APP), order=("id",))


@prepared
def _domains(app_id: str) -> Rows:
    return Rows(domain_rows([app_id], more=OF_DOMAIN), order=BY_APP)


@prepared
def _deployments(app_id: str, organization_id: str | None) -> Rows:
    """The newest first, without previews'."""
    deployments = Deployment.objects.filter(app_id=app_id, is_preview=False)
    return Rows(deployments.values(*OF_DEPLOYMENT), order=("-created_at", "-id"), of=organization_id)


def _edge(app: Row, facts: Facts, now: datetime) -> dict[str, Any]:
    checks = in_order(facts.checks, now)
    return {
        "status": edge_status(checks, now),
        "checked_at": min((check.row["edge__checked_at"] for check in checks), default=None),
        "is_stale": bool(checks) and (facts.edge_is_stale(now) or any(check.is_old for check in checks)),
        "domains": [_domain(check, now) for check in checks[:MAX_SHOWN]],
        "uptime_24h": app["edge_statistics__uptime_24h"],
        "latency_p50_ms": app["edge_statistics__latency_p50_ms"],
        "latency_p95_ms": app["edge_statistics__latency_p95_ms"],
    }


def _domain(check: Check, now: datetime) -> Row:
    row, not_after, tls = check.row, check.not_after, None
    if row["edge__tls_issuer"] is not None and not_after is not None:
        tls = {"issuer": row["edge__tls_issuer"], "not_after": not_after, "days_left": (not_after - now).days}
    return {
        "host": row["host"],
        "reachable": bool(row["edge__reachable"]),
        "http_status": row["edge__http_status"],
        "latency_ms": row["edge__latency_ms"],
        "tls": tls,
        "dns_status": row["edge__dns_status"],
        "error": row["edge__error"],
        "checked_at": row["edge__checked_at"],
    }


def _runtime(app: Row, facts: Facts) -> dict[str, Any] | None:
    if facts.runtime is None:
        return None
    of_platform = app["runtime__platform__as_of"] or app["runtime__platform__last_sync_at"]
    at_least = app["detail_read_at"] or app["created_at"]  # before a platform's first whole sync nothing else is known
    return {
        "desired_replicas": app["runtime__desired_replicas"],
        "running_replicas": app["runtime__running_replicas"],
        "instances": app["runtime__instances"][:MAX_SHOWN],
        "checked_at": app["runtime__checked_at"] or of_platform or at_least,
    }
