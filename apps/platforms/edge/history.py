"""The history of checks: four bytes a check, an hour a row (EdgeHour), and what many checks come to."""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from apps.orgs.models import EdgeHour

Packed = bytes | memoryview  # psycopg gives memory
NO_LATENCY = 2**19 - 1
PASSED = 2**19
MAX_CHECKS = 720  # in an hour
KEPT_WHOLE, KEPT = timedelta(hours=48), timedelta(days=30)
BATCH = 500


@dataclass(frozen=True, slots=True)
class Statistics:
    """What checks come to. `uptime` is the share that passed; latencies (ms) are those of the nearest rank."""

    uptime: float | None
    p50: int | None
    p95: int | None


def hour_of(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def add_check(hour: EdgeHour, at: datetime, *, has_passed: bool, latency_ms: int | None) -> None:
    """Adds a check of that hour to the row, unless it is full."""
    if hour.count >= MAX_CHECKS:
        return
    second = int((at - hour.hour).total_seconds())
    latency = NO_LATENCY if latency_ms is None else min(latency_ms, NO_LATENCY - 1)
    hour.checks = bytes(hour.checks) + (second << 20 | has_passed << 19 | latency).to_bytes(4, "big")
    hour.count += 1
    hour.passed += has_passed


def statistics(checks: Iterable[Packed]) -> Statistics:
    """Of all of these. A round asks this of a million checks and more: each step is one that Python does in C."""
    numbers = _unpacked(b"".join(checks))
    latencies = sorted(map(NO_LATENCY.__and__, numbers))
    del latencies[bisect_left(latencies, NO_LATENCY) :]
    passed = sum(map(PASSED.__and__, numbers)) // PASSED
    return Statistics(passed / len(numbers) if numbers else None, _rank(latencies, 50), _rank(latencies, 95))


def since(at: datetime, packed: Packed) -> Packed:
    """The checks of the hour in which `at` is that came after it."""
    whole, first = bytes(packed), (at - hour_of(at)).total_seconds()
    kept = [index for index, check in enumerate(_unpacked(whole)) if check >> 20 > first]  # clocks may differ
    return b"".join(whole[4 * index : 4 * index + 4] for index in kept)


def _unpacked(checks: Packed) -> Sequence[int]:
    numbers = array("I", bytes(checks))
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


def _rank(ordered: list[int], percent: int) -> int | None:
    """The nearest rank: the smallest that is not under `percent` of all."""
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else None


def thin(now: datetime) -> None:
    """Leaves of hours that are two days old what they come to, and nothing of those that are thirty days old."""
    _delete_before(hour_of(now - KEPT))
    before, last = hour_of(now - KEPT_WHOLE), 0
    while rows := list(_whole(before).filter(pk__gt=last).order_by("pk")[:BATCH]):
        for row in rows:
            its = statistics([row.checks])
            row.checks, row.latency_p50_ms, row.latency_p95_ms = b"", its.p50, its.p95
        EdgeHour.objects.bulk_update(rows, ["checks", "latency_p50_ms", "latency_p95_ms"])
        last = rows[-1].pk


def _whole(before: datetime) -> QuerySet[EdgeHour]:
    return EdgeHour.objects.filter(hour__lt=before).exclude(checks=b"")


def _delete_before(hour: datetime) -> None:
    while ids := list(EdgeHour.objects.filter(hour__lt=hour).values_list("pk", flat=True)[:BATCH]):
        EdgeHour.objects.filter(pk__in=ids).delete()
