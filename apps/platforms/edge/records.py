"""Keeping what a round saw: the last check of each domain, its history, and what they come to, per organization."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, OperationalError, transaction

from apps.orgs.certificates import certificate_status
from apps.orgs.health import SERVER_ERROR
from apps.orgs.models import Domain, EdgeFact, EdgeHour, EdgeStatistics
from apps.orgs.models.facts import PROBE_PERIOD
from apps.orgs.models.judged import judging_once
from apps.orgs.overview import STALE_PERIODS
from apps.orgs.versions import raise_checks_version, raise_keeping_counts, raising_oneself
from apps.platforms.edge.history import Packed, Statistics, add_check, hour_of, since, statistics
from apps.platforms.edge.targets import Outcome

DAY = timedelta(hours=24)
ATTEMPTS = 3
BATCH = 500
# What a check tells beside when it was and how long the answer took.
TOLD = ("reachable", "http_status", "dns_status", "tls_issuer", "tls_not_after", "tls_is_valid", "error")
FACT_COLUMNS = (*TOLD, "checked_at", "latency_ms", "period")
HOUR_COLUMNS = ("checks", "count", "passed")
STATISTICS_COLUMNS = ("checked_at", "period", "uptime_24h", "latency_p50_ms", "latency_p95_ms")


@dataclass(frozen=True, slots=True)
class Check:
    """What was seen of a domain (Outcome.key is its id), and when."""

    outcome: Outcome
    at: datetime


def record(organization_id: str, checks: Sequence[Check]) -> None:
    """Keeps an organization's checks in one transaction, and raises its counters by what changed.

    A sync may delete a domain in the meantime, which shows when the transaction ends, or as a deadlock: then once more.
    """
    ordered = sorted(checks, key=lambda check: check.outcome.key)  # every writer locks rows in the same order
    for attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                _record(organization_id, ordered)
            return
        except (IntegrityError, OperationalError):
            if attempt == ATTEMPTS - 1:
                raise


def _record(organization_id: str, checks: Sequence[Check]) -> None:
    ids = [check.outcome.key for check in checks]
    apps: dict[str, str] = {}  # by domain
    before: dict[str, EdgeFact] = {}
    for some in _batches(ids):
        apps |= Domain.objects.filter(id__in=some).values_list("id", "app_id")
        before |= EdgeFact.objects.in_bulk(some)
    ours = [check for check in checks if (id := check.outcome.key) in apps and _is_ours(before.get(id))]
    if not ours:
        return
    facts = [_fact(organization_id, check) for check in ours]
    checked_apps = sorted({apps[check.outcome.key] for check in ours})
    is_news = any(_is_news(before.get(fact.pk), fact) for fact in facts)
    with raising_oneself(but_health=not is_news), judging_once():  # which raises: last, for others wait for that row
        _upsert(EdgeFact, facts, ["domain"], FACT_COLUMNS)
        _add_to_history([check for check in ours if check.outcome.reachable is not None])
        statistics = _statistics(organization_id, checked_apps, max(check.at for check in ours))
        _upsert(EdgeStatistics, statistics, ["app"], STATISTICS_COLUMNS)
    raise_checks_version(organization_id)
    if is_news:
        raise_keeping_counts([organization_id])


def _is_ours(fact: EdgeFact | None) -> bool:
    """What a platform began to tell while we were checking stays the platform's."""
    return fact is None or fact.platform_id is None


def _fact(organization_id: str, check: Check) -> EdgeFact:
    seen = check.outcome
    return EdgeFact(
        organization_id=organization_id, domain_id=seen.key, period=PROBE_PERIOD, checked_at=check.at,
        reachable=seen.reachable, http_status=seen.http_status, latency_ms=seen.latency_ms, dns_status=seen.dns_status,
        tls_issuer=seen.certificate.issuer if seen.certificate else None, tls_is_valid=seen.is_verified,
        tls_not_after=seen.certificate.not_after if seen.certificate else None, error=seen.error,
    )  # fmt: skip


def _is_news(before: EdgeFact | None, after: EdgeFact) -> bool:
    """Whether it tells more than a new time: also that an old fact is recent again, which health goes by."""
    if before is None or any(getattr(before, column) != getattr(after, column) for column in TOLD):
        return True
    age = after.checked_at - before.checked_at
    was_stale = before.period is None or age > timedelta(seconds=STALE_PERIODS * before.period)
    return was_stale or _certificate_at(before) != _certificate_at(after)


def _certificate_at(fact: EdgeFact) -> str:
    """What was said of the certificate at the time: that it is about to expire comes with time alone."""
    columns = {"edge__tls_not_after": fact.tls_not_after, "edge__tls_is_valid": fact.tls_is_valid}
    return certificate_status(columns, fact.checked_at)


def has_passed(outcome: Outcome) -> bool:
    """As health has it: it answered, by no error of the server, and without a certificate that browsers refuse."""
    return bool(outcome.reachable) and (outcome.http_status or 0) < SERVER_ERROR and outcome.is_verified is not False


def _add_to_history(checks: Sequence[Check]) -> None:
    hours = {hour_of(check.at) for check in checks}
    rows = {
        (row.domain_id, row.hour): row
        for some in _batches([check.outcome.key for check in checks])
        for row in EdgeHour.objects.filter(domain_id__in=some, hour__in=hours)
    }
    changed = []
    for check in checks:
        key = check.outcome.key, hour_of(check.at)
        row = rows.get(key) or EdgeHour(domain_id=key[0], hour=key[1])
        add_check(row, check.at, has_passed=has_passed(check.outcome), latency_ms=check.outcome.latency_ms)
        row.pk = None  # a new row or this one: the domain and the hour tell
        changed.append(row)
    _upsert(EdgeHour, changed, ["domain", "hour"], HOUR_COLUMNS)


def _statistics(organization_id: str, app_ids: Sequence[str], now: datetime) -> list[EdgeStatistics]:
    """Of every application of which no platform tells, over its own domains: those of its previews come and go."""
    day_ago = now - DAY
    told = EdgeStatistics.objects.filter(organization=organization_id, platform__isnull=False)
    its_platforms = set(told.values_list("app_id", flat=True))
    ours = [app_id for app_id in app_ids if app_id not in its_platforms]
    found = []
    for some in _batches(ours, 50):  # each check of a day: an application at 20 addresses has 28,800
        of_app: dict[str, list[Packed]] = defaultdict(list)
        rows = EdgeHour.objects.filter(
            domain__app_id__in=some, domain__preview__isnull=True, domain__is_enabled=True
        ).values_list("domain__app_id", "checks")
        for app_id, packed in rows.filter(hour=hour_of(day_ago)):
            of_app[app_id].append(since(day_ago, packed))
        for app_id, packed in rows.filter(hour__gt=day_ago):
            of_app[app_id].append(packed)
        found += [_row(organization_id, app_id, statistics(of_app[app_id]), now) for app_id in some]
    return found


def _row(organization_id: str, app_id: str, its: Statistics, now: datetime) -> EdgeStatistics:
    return EdgeStatistics(
        organization_id=organization_id, app_id=app_id, checked_at=now, period=PROBE_PERIOD,
        uptime_24h=its.uptime, latency_p50_ms=its.p50, latency_p95_ms=its.p95,
    )  # fmt: skip


def _batches(values: Sequence[str], size: int = BATCH) -> Iterable[Sequence[str]]:
    return (values[start : start + size] for start in range(0, len(values), size))


def _upsert(model: Any, rows: Sequence[Any], unique: list[str], columns: Sequence[str]) -> None:
    model.objects.bulk_create(
        rows, batch_size=BATCH, update_conflicts=True, unique_fields=unique, update_fields=columns
    )
