"""An application's health, judged from stored facts: what an outside look saw and what the platform says is running.

A deploy status is not health: a service can have been deployed well and have died since. Without a fact that is
recent enough, health is `unknown`.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from apps.orgs.models import Deployment, Status
from apps.orgs.overview import is_stale
from apps.orgs.rows import Row

EXPIRING = timedelta(days=21)
SERVER_ERROR = 500


@dataclass(slots=True)
class Health:
    """`level` is healthy, degraded, down, deploying or unknown; `reasons` are sentences."""

    app: Row
    last_deployment: Row | None
    edge: dict[str, Any]
    runtime: dict[str, Any] | None
    level: str = "unknown"
    reasons: list[str] = field(default_factory=list)


def certificate_status(row: Row, now: datetime) -> str:
    """valid, expiring (under 21 days), expired, invalid or unknown, from a row with the edge__tls_* columns."""
    not_after: datetime | None = row["edge__tls_not_after"]
    if not_after is not None and not_after <= now:
        return "expired"
    if row["edge__tls_is_valid"] is False:
        return "invalid"
    if not_after is None:
        return "unknown"
    return "expiring" if not_after - now < EXPIRING else "valid"


def health_of(app: Row, last_deployment: Row | None, domains: list[Row]) -> Health:
    """`app` as AppScope.COLUMNS, `domains` with the edge__* facts and `period` (seconds between two looks)."""
    now = timezone.now()
    looked_at = [_domain(row, now) for row in domains if row["edge__checked_at"] is not None]
    stale = any(is_stale(row["edge__checked_at"], row["period"]) for row in domains if row["edge__checked_at"])
    health = Health(app, last_deployment, _edge(app, looked_at, stale), _runtime(app))
    _judge(health)
    return health


def _domain(row: Row, now: datetime) -> Row:
    not_after = row["edge__tls_not_after"]
    tls = None
    if row["edge__tls_issuer"] is not None and not_after is not None:
        tls = {"issuer": row["edge__tls_issuer"], "not_after": not_after, "days_left": (not_after - now).days}
    return {
        "host": row["host"],
        "reachable": row["edge__reachable"],
        "http_status": row["edge__http_status"],
        "latency_ms": row["edge__latency_ms"],
        "tls": tls,
        "dns_status": row["edge__dns_status"],
        "error": row["edge__error"],
        "checked_at": row["edge__checked_at"],
        "certificate": certificate_status(row, now),
    }


def _edge(app: Row, domains: list[Row], stale: bool) -> dict[str, Any]:
    return {
        "status": _edge_status(domains),
        "checked_at": min((domain["checked_at"] for domain in domains), default=None),
        "is_stale": stale,
        "domains": domains,
        "uptime_24h": app["facts__uptime_24h"],
        "latency_p50_ms": app["facts__latency_p50_ms"],
        "latency_p95_ms": app["facts__latency_p95_ms"],
    }


def _edge_status(domains: list[Row]) -> str:
    if not domains:
        return "unknown"
    good = [domain for domain in domains if _is_good(domain)]
    if len(good) == len(domains):
        return "up"
    return "degraded" if any(_answers(domain) for domain in domains) else "down"


def _answers(domain: Row) -> bool:
    return bool(domain["reachable"]) and (domain["http_status"] or 0) < SERVER_ERROR


def _is_good(domain: Row) -> bool:
    return _answers(domain) and domain["certificate"] not in ("expired", "invalid")


def _runtime(app: Row) -> dict[str, Any] | None:
    if not app["facts__has_runtime"]:
        return None
    return {
        "desired_replicas": app["facts__desired_replicas"],
        "running_replicas": app["facts__running_replicas"],
        "instances": app["facts__instances"],
    }


def _judge(health: Health) -> None:
    edge = health.edge["status"] if not health.edge["is_stale"] else "unknown"
    runtime = _runtime_status(health.runtime)
    health.reasons += _edge_reasons(health.edge) + _runtime_reasons(health.runtime, runtime)
    failed = health.last_deployment is not None and health.last_deployment["status"] == Deployment.Status.FAILED
    if failed or health.app["status"] == Status.ERROR:
        health.reasons.append("The last deployment failed.")
    if health.app["status"] == Status.DEPLOYING:
        health.level = "deploying"
        health.reasons.insert(0, "A deployment is in progress.")
    elif edge == runtime == "unknown":
        health.level = "unknown"
        health.reasons.append("No recent fact about its domains or instances is stored; a deploy status is not health.")
    elif "down" in (edge, runtime):
        health.level = "down"
    elif "degraded" in (edge, runtime) or failed:
        health.level = "degraded"
    else:
        health.level = "healthy"
        health.reasons.append("Everything that was looked at answered.")


def _runtime_status(runtime: dict[str, Any] | None) -> str:
    if runtime is None or runtime["running_replicas"] is None:
        return "unknown"
    if runtime["running_replicas"] == 0:
        return "down"
    return "degraded" if runtime["running_replicas"] < (runtime["desired_replicas"] or 0) else "up"


def _edge_reasons(edge: dict[str, Any]) -> list[str]:
    reasons = ["The last look at its domains is too old to rely on."] if edge["is_stale"] else []
    for domain in edge["domains"]:
        if not domain["reachable"]:
            reasons.append(f"{domain['host']} did not answer.")
        elif not _answers(domain):
            reasons.append(f"{domain['host']} answered with status {domain['http_status']}.")
        if domain["certificate"] in ("expired", "invalid", "expiring"):
            reasons.append(f"The certificate of {domain['host']} is {domain['certificate']}.")
    return reasons


def _runtime_reasons(runtime: dict[str, Any] | None, status: str) -> list[str]:
    if runtime is None or status not in ("down", "degraded"):
        return []
    wanted = runtime["desired_replicas"]
    of = f" of {wanted}" if wanted is not None else ""
    return [f"{runtime['running_replicas']}{of} instances are running."]
