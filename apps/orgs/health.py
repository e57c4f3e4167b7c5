"""An application's health, judged from stored facts: what an outside check saw and what the platform says is running.

A deploy status is not health: a service can have been deployed well and have died since. Without a fact that is
recent enough, health is `unknown`. Bad news from one recent check counts; good news needs every check to be recent.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from apps.orgs.models import Deployment, Status
from apps.orgs.overview import is_stale
from apps.orgs.rows import Row

EXPIRING = timedelta(days=21)
CLIENT_ERROR, SERVER_ERROR = 400, 500
MAX_SHOWN = 20
MAX_NAME = 300


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


def health_of(app: Row, facts: Row | None, last_deployment: Row | None, domains: list[Row]) -> Health:
    """Judges `app` (AppScope.COLUMNS) by its `facts` (APP_FACTS), and `domains` by the edge__* facts of each.

    `period` of a domain is the number of seconds between two checks.
    """
    now = timezone.now()
    checks = [_check(row, now) for row in domains if row["edge__checked_at"] is not None]
    checks.sort(key=_is_good)  # those in trouble first, else as they came
    runtime = _runtime(facts)
    health = Health(app, last_deployment, _edge(facts, checks), runtime)
    _judge(health, _recent_edge_status(checks), _runtime_status(runtime))
    health.reasons += _deployment_reasons(health) + _runtime_reasons(runtime) + _edge_reasons(domains, checks)
    return health


def _judge(health: Health, edge: str, runtime: str) -> None:
    if health.app["status"] == Status.DEPLOYING:
        health.level = "deploying"
        health.reasons.append("A deployment is in progress.")
    elif edge == runtime == "unknown":
        health.level = "unknown"
        health.reasons.append("Nothing recent is stored that tells whether it works; a deploy status is not health.")
    elif "down" in (edge, runtime):
        health.level = "down"
    elif "degraded" in (edge, runtime) or _deployment_reasons(health):
        health.level = "degraded"
    else:
        health.level = "healthy"


def _deployment_reasons(health: Health) -> list[str]:
    if health.last_deployment is not None and health.last_deployment["status"] == Deployment.Status.FAILED:
        return ["The last deployment failed."]
    return ["The platform says that it is in error."] if health.app["status"] == Status.ERROR else []


# What was seen from outside


def _check(row: Row, now: datetime) -> Row:
    not_after = row["edge__tls_not_after"]
    tls = None
    if row["edge__tls_issuer"] is not None and not_after is not None:
        tls = {"issuer": row["edge__tls_issuer"], "not_after": not_after, "days_left": (not_after - now).days}
    return {
        "host": row["host"],
        "name": (row["host"] + row["path"].rstrip("/"))[:MAX_NAME],
        "reachable": bool(row["edge__reachable"]),
        "is_known": row["edge__reachable"] is not None,
        "http_status": row["edge__http_status"],
        "latency_ms": row["edge__latency_ms"],
        "tls": tls,
        "dns_status": row["edge__dns_status"],
        "error": row["edge__error"],
        "checked_at": row["edge__checked_at"],
        "is_stale": is_stale(row["edge__checked_at"], row["period"]),
        "certificate": certificate_status(row, now),
        "not_after": not_after,
    }


def _edge(facts: Row | None, checks: list[Row]) -> dict[str, Any]:
    return {
        "status": _edge_status(checks),
        "checked_at": min((check["checked_at"] for check in checks), default=None),
        "is_stale": any(check["is_stale"] for check in checks),
        "domains": checks[:MAX_SHOWN],
        "uptime_24h": facts["edge_statistics__uptime_24h"] if facts else None,
        "latency_p50_ms": facts["edge_statistics__latency_p50_ms"] if facts else None,
        "latency_p95_ms": facts["edge_statistics__latency_p95_ms"] if facts else None,
    }


def _edge_status(checks: list[Row]) -> str:
    checks = [check for check in checks if check["is_known"]]
    if not checks:
        return "unknown"
    if all(map(_is_good, checks)):
        return "up"
    return "degraded" if any(map(_answers, checks)) else "down"


def _recent_edge_status(checks: list[Row]) -> str:
    recent = [check for check in checks if not check["is_stale"]]
    status = _edge_status(recent)
    return "unknown" if status == "up" and len(recent) < len(checks) else status


def _answers(check: Row) -> bool:
    return check["reachable"] and (check["http_status"] or 0) < SERVER_ERROR


def _is_good(check: Row) -> bool:
    return _answers(check) and check["certificate"] not in ("expired", "invalid")


def _edge_reasons(domains: list[Row], checks: list[Row]) -> list[str]:
    if not domains:
        return ["It has no domain to look at."]
    if not checks:
        return ["None of its domains has been looked at yet."]
    reasons = []
    if any(check["is_stale"] for check in checks):
        reasons.append("The last look at its domains is too old to rely on.")
    elif _edge_status(checks) == "up":
        reasons.append("Every domain that was looked at answered.")
    for check in checks:
        if not check["is_stale"]:
            reasons += _check_reasons(check)
    return reasons


def _check_reasons(check: Row) -> list[str]:
    reasons, name = [], check["name"]
    if not check["is_known"]:
        reasons.append(f"{name} cannot be checked from outside, so nothing is known of it.")
    elif not check["reachable"]:
        why = ": its name does not resolve" if check["dns_status"] == "unresolved" else ""
        reasons.append(f"{name} did not answer{why}.")
    elif (check["http_status"] or 0) >= CLIENT_ERROR:
        # Under 500 this is no trouble by itself: much that works answers 401 or 404 at its root.
        reasons.append(f"{name} answered with status {check['http_status']}.")
    match check["certificate"]:
        case "expired":
            reasons.append(f"The certificate of {name} has expired.")
        case "invalid":
            reasons.append(f"The certificate of {name} is invalid: browsers refuse it.")
        case "expiring":
            reasons.append(f"The certificate of {name} expires on {check['not_after'].date()}.")
    return reasons


# What the platform says is running


def _runtime(facts: Row | None) -> dict[str, Any] | None:
    if facts is None or facts["runtime__app_id"] is None:
        return None
    checked_at = facts["runtime__checked_at"] or facts["runtime__platform__last_sync_at"]
    return {
        "desired_replicas": facts["runtime__desired_replicas"],
        "running_replicas": facts["runtime__running_replicas"],
        "instances": facts["runtime__instances"][:MAX_SHOWN],
        "is_stale": is_stale(checked_at, facts["runtime__period"]),
    }


def _runtime_status(runtime: dict[str, Any] | None) -> str:
    if runtime is None or runtime["is_stale"] or runtime["running_replicas"] is None:
        return "unknown"
    if runtime["running_replicas"] == 0:
        return "down"
    return "degraded" if runtime["running_replicas"] < (runtime["desired_replicas"] or 0) else "up"


def _runtime_reasons(runtime: dict[str, Any] | None) -> list[str]:
    if runtime is None:
        return []
    running, desired = runtime["running_replicas"], runtime["desired_replicas"]
    if runtime["is_stale"]:
        return ["What the platform said is running is too old to rely on."]
    if running is None:
        return ["The platform does not say how many instances are running."]
    if desired == running == 0:
        return ["No instance is running, and none is wanted."]
    number = f"{running} of {desired}" if desired is not None else str(running)
    return [f"Running instances: {number}."]
