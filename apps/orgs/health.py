"""An application's health, judged from stored facts: what an outside check saw and what the platform says is running.

A deploy status is not health: a service can have been deployed well and have died since. Without a fact that is
recent enough, health is `unknown`. Bad news from one recent check counts; good news needs every check to be recent.

An application's checks are one round, and become too old together. So, of what time alone changes, at most three
moments matter: when the first certificate expires, when the round is too old, and when the word about instances is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from apps.orgs.certificates import certificate_status
from apps.orgs.models import Deployment, Platform, Status
from apps.orgs.overview import FOREVER, NEVER, STALE_PERIODS, TICK, synced_until
from apps.orgs.rows import Row

CLIENT_ERROR, SERVER_ERROR = 400, 500
MAX_NAME = 300
WEIGHTS = ("down", "degraded", "up", "unknown")  # what weighs most comes first


@dataclass(slots=True)
class Verdict:
    """`level` is healthy, degraded, down, deploying or unknown; `reasons` are sentences."""

    level: str
    reasons: list[str]


@dataclass(slots=True)
class Check:
    """What was seen of one domain. `is_old`: so long before the newest check that it says nothing any more."""

    row: Row
    name: str
    is_known: bool
    answers: bool
    is_refused: bool
    not_after: datetime | None
    is_old: bool = False

    @property
    def is_in_trouble(self) -> bool:
        """Whatever the time."""
        return self.is_known and (not self.answers or self.is_refused)

    def has_expired(self, now: datetime) -> bool:
        return self.not_after is not None and self.not_after <= now

    def is_good(self, now: datetime) -> bool:
        return self.answers and not self.is_refused and not self.has_expired(now)


@dataclass(slots=True)
class Facts:
    """What is judged. Checks are recent up to `edge_until`, the runtime up to `runtime_until`.

    `platform_id`: that of which some facts are as old as the last good sync, and recent as long as that is, up to
    `until`; `edge_follows` and `runtime_follows` say which.
    """

    status: str
    last_status: str | None
    has_domains: bool = False
    checks: list[Check] = field(default_factory=list)
    edge_until: datetime = FOREVER
    edge_follows: bool = False
    runtime: Row | None = None
    runtime_until: datetime = FOREVER
    runtime_follows: bool = False
    platform_id: int | None = None
    period: int | None = None
    until: datetime = FOREVER

    def edge_is_stale(self, now: datetime) -> bool:
        return now > (self.until if self.edge_follows else self.edge_until)

    def runtime_is_stale(self, now: datetime) -> bool:
        return now > (self.until if self.runtime_follows else self.runtime_until)

    def changes_at(self) -> list[datetime]:
        """When time alone may change the verdict's level or its first reason: at most three moments, in order."""
        moments = [self._certificate_matters_at()]
        if not self.edge_follows:
            moments.append(self.edge_until + TICK if NEVER < self.edge_until < FOREVER else None)
        if self.runtime is not None and not self.runtime_follows:
            moments.append(self.runtime_until + TICK if NEVER < self.runtime_until < FOREVER else None)
        return sorted({moment for moment in moments if moment is not None})

    def recent_until(self) -> list[datetime]:
        """The last moments at which the checks, and what is running, are recent."""
        edge = self.until if self.edge_follows else self.edge_until
        runtime = self.until if self.runtime_follows else self.runtime_until
        return [edge, runtime]

    def _certificate_matters_at(self) -> datetime | None:
        """Where a domain is in trouble already that one comes first, and others change nothing any more."""
        recent = [check for check in self.checks if check.is_known and not check.is_old]
        trouble = [check for check in recent if check.is_in_trouble]
        return min((check.not_after for check in trouble[:1] or recent if check.not_after), default=None)


# Rows → facts


def facts_of(app: Row, domains: Sequence[Row]) -> Facts:
    """From an application's row with its runtime and `last_status`, and its domains with their edge__* facts."""
    facts = Facts(app["status"], app["last_status"], bool(domains))
    facts.checks = [_check(row) for row in domains if row["edge__checked_at"] is not None]
    _add_runtime(facts, app)
    _add_age_of_checks(facts)
    return facts


def _check(row: Row) -> Check:
    reachable = row["edge__reachable"]
    return Check(
        row=row,
        name=(row["host"] + row["path"].rstrip("/"))[:MAX_NAME],
        is_known=reachable is not None,
        answers=bool(reachable) and (row["edge__http_status"] or 0) < SERVER_ERROR,
        is_refused=row["edge__tls_is_valid"] is False,
        not_after=row["edge__tls_not_after"],
    )


def _add_runtime(facts: Facts, app: Row) -> None:
    if app["runtime__app_id"] is None:
        return
    facts.runtime = app
    at, period = app["runtime__checked_at"], app["runtime__period"]
    is_told = app["runtime__platform_id"] is not None
    if is_told and (app["runtime__platform__kind"] == Platform.Kind.MANIFEST or (at is None and period is not None)):
        facts.runtime_follows = True
        _follow(facts, app, "runtime", period)
    elif period is not None:
        facts.runtime_until = NEVER if at is None else at + timedelta(seconds=STALE_PERIODS * period)


def _add_age_of_checks(facts: Facts) -> None:
    rows = [check.row for check in facts.checks]
    if not rows:
        return
    if all(row["edge__platform__kind"] == Platform.Kind.MANIFEST for row in rows):
        facts.edge_follows = True
        if not facts.runtime_follows:
            _follow(facts, rows[0], "edge", None)
        return
    periods = [row["edge__period"] for row in rows if row["edge__period"] is not None]
    if not periods:
        return
    newest, limit = max(row["edge__checked_at"] for row in rows), timedelta(seconds=STALE_PERIODS * min(periods))
    facts.edge_until = newest + limit
    for check in facts.checks:
        check.is_old = newest - check.row["edge__checked_at"] > limit


def _follow(facts: Facts, row: Row, fact: str, period: int | None) -> None:
    columns = ("kind", "last_sync_at", "as_of", "stale_after")
    platform = {column: row[f"{fact}__platform__{column}"] for column in columns}
    facts.platform_id = row[f"{fact}__platform_id"]
    facts.period = None if platform["kind"] == Platform.Kind.MANIFEST else period
    facts.until = synced_until(platform, period)


# The verdict


def judge(facts: Facts, now: datetime) -> Verdict:
    checks, is_edge_stale = in_order(facts.checks, now), facts.edge_is_stale(now)
    recent = [] if is_edge_stale else [check for check in checks if not check.is_old]
    edge = edge_status(recent, now)
    if edge == "up" and len(recent) < len(checks):
        edge = "unknown"
    runtime, deployment = _runtime_status(facts, now), _deployment_reasons(facts)
    level, reasons = _level(facts, edge, runtime, has_failed=bool(deployment))
    seen = [(runtime, _runtime_reasons(facts, now)), (edge, _edge_reasons(facts, checks, recent, now))]
    seen.sort(key=lambda part: WEIGHTS.index(part[0]))  # lists tell the first reason alone
    return Verdict(level, reasons + deployment + seen[0][1] + seen[1][1])


def _level(facts: Facts, edge: str, runtime: str, *, has_failed: bool) -> tuple[str, list[str]]:
    if facts.status == Status.DEPLOYING:
        return "deploying", ["A deployment is in progress."]
    if edge == runtime == "unknown":
        return "unknown", ["Nothing recent is stored that tells whether it works; a deploy status is not health."]
    if "down" in (edge, runtime):
        return "down", []
    return "degraded" if "degraded" in (edge, runtime) or has_failed else "healthy", []


def _deployment_reasons(facts: Facts) -> list[str]:
    if facts.last_status == Deployment.Status.FAILED:
        return ["The last deployment failed."]
    return ["The platform says that it is in error."] if facts.status == Status.ERROR else []


def in_order(checks: Iterable[Check], now: datetime) -> list[Check]:
    """Those in trouble first; then of those whose certificate has expired the first one; else as they came."""

    def order(check: Check) -> tuple[Any, ...]:
        if check.is_in_trouble:
            return (0,)
        return (1, check.not_after) if check.is_known and check.has_expired(now) else (2,)

    return sorted(checks, key=order)


def edge_status(checks: list[Check], now: datetime) -> str:
    """up, degraded, down or unknown."""
    checks = [check for check in checks if check.is_known]
    if not checks:
        return "unknown"
    if all(check.is_good(now) for check in checks):
        return "up"
    return "degraded" if any(check.answers for check in checks) else "down"


def _edge_reasons(facts: Facts, checks: list[Check], recent: list[Check], now: datetime) -> list[str]:
    if not facts.has_domains:
        return ["It has no domain to look at."]
    if not checks:
        return ["None of its domains has been looked at yet."]
    of_checks = [reason for check in recent for reason in _check_reasons(check, now)]
    too_old = ["The last look at its domains is too old to rely on."] if len(recent) < len(checks) else []
    if edge_status(recent, now) in ("down", "degraded"):
        return of_checks + too_old
    if not too_old and edge_status(checks, now) == "up":
        return ["Every domain that was looked at answered.", *of_checks]
    return too_old + of_checks


def _check_reasons(check: Check, now: datetime) -> list[str]:
    """What is wrong comes before what may be right."""
    answer, certificate = _answer_reason(check), _certificate_reason(check, now)
    is_cause = check.answers and not check.is_good(now)
    return [reason for reason in ((certificate, answer) if is_cause else (answer, certificate)) if reason]


def _answer_reason(check: Check) -> str | None:
    name, status = check.name, check.row["edge__http_status"]
    if not check.is_known:
        return f"{name} cannot be checked from outside, so nothing is known of it."
    if not check.row["edge__reachable"]:
        why = ": its name does not resolve" if check.row["edge__dns_status"] == "unresolved" else ""
        return f"{name} did not answer{why}."
    # Under 500 this is no trouble by itself: much that works answers 401 or 404 at its root.
    return f"{name} answered with status {status}." if (status or 0) >= CLIENT_ERROR else None


def _certificate_reason(check: Check, now: datetime) -> str | None:
    match certificate_status(check.row, now):
        case "expired":
            return f"The certificate of {check.name} has expired."
        case "invalid":
            return f"The certificate of {check.name} is invalid: browsers refuse it."
        case "expiring":
            return f"The certificate of {check.name} expires on {check.row['edge__tls_not_after'].date()}."
    return None


def _runtime_status(facts: Facts, now: datetime) -> str:
    if facts.runtime is None or facts.runtime_is_stale(now):
        return "unknown"
    running, desired = facts.runtime["runtime__running_replicas"], facts.runtime["runtime__desired_replicas"]
    if running is None:
        return "unknown"
    if running == 0:
        return "down"
    return "degraded" if running < (desired or 0) else "up"


def _runtime_reasons(facts: Facts, now: datetime) -> list[str]:
    if facts.runtime is None:
        return []
    running, desired = facts.runtime["runtime__running_replicas"], facts.runtime["runtime__desired_replicas"]
    if facts.runtime_is_stale(now):
        return ["What the platform said is running is too old to rely on."]
    if running is None:
        return ["The platform does not say how many instances are running."]
    if desired == running == 0:
        return ["No instance is running, and none is wanted."]
    number = f"{running} of {desired}" if desired is not None else str(running)
    return [f"Running instances: {number}."]
