"""The history of checks: exact to the check for a day, thinned after two, gone after thirty."""

from datetime import UTC, datetime, timedelta
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.orgs.models import EdgeHour
from apps.platforms.edge.history import (
    MAX_CHECKS,
    NO_LATENCY,
    Statistics,
    add_check,
    hour_of,
    since,
    statistics,
    thin,
)
from tests.examples import examples
from tests.factories import Fill

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
Check = tuple[datetime, bool, int | None]


def hours_of(checks: list[Check]) -> list[EdgeHour]:
    hours: dict[datetime, EdgeHour] = {}
    for at, has_passed, latency in checks:
        row = hours.setdefault(hour_of(at), EdgeHour(hour=hour_of(at)))
        add_check(row, at, has_passed=has_passed, latency_ms=latency)
    return list(hours.values())


def summed_up(checks: list[Check], now: datetime = NOW) -> Statistics:
    day_ago, hours = now - timedelta(hours=24), hours_of(checks)
    whole = [row.checks for row in hours if row.hour > day_ago]
    return statistics([*whole, *(since(day_ago, row.checks) for row in hours if row.hour == hour_of(day_ago))])


def test_without_checks_nothing_is_known() -> None:
    assert summed_up([]) == Statistics(None, None, None)


def test_checks_without_latency_count_for_uptime_alone() -> None:
    checks = [(NOW, True, 10), (NOW - timedelta(minutes=1), False, None)]
    assert summed_up(checks) == Statistics(0.5, 10, 10)


@given(
    st.lists(
        st.tuples(st.integers(0, 48 * 3600), st.booleans(), st.none() | st.integers(0, NO_LATENCY - 1)), max_size=300
    )
)
@example([(24 * 3600, False, 9), (24 * 3600 - 1, True, 1), (0, True, 5)])
@examples(100)
def test_a_day_is_exact_to_the_check(drawn: list[tuple[int, bool, int | None]]) -> None:
    checks = [(NOW - timedelta(seconds=age), has_passed, latency) for age, has_passed, latency in drawn]
    day = [(passed, latency) for age, passed, latency in drawn if age < 24 * 3600]
    latencies = sorted(latency for _, latency in day if latency is not None)

    def rank(percent: int) -> int | None:
        return latencies[ceil(len(latencies) * percent / 100) - 1] if latencies else None

    uptime = sum(passed for passed, _ in day) / len(day) if day else None
    assert summed_up(checks) == Statistics(uptime, rank(50), rank(95))


def test_a_latency_that_does_not_fit_is_the_longest_that_does() -> None:
    assert summed_up([(NOW, True, 10**9)]).p50 == NO_LATENCY - 1


def test_an_hour_has_a_bound() -> None:
    [hour] = hours_of([(NOW + timedelta(seconds=n), True, 1) for n in range(MAX_CHECKS + 50)])
    assert (hour.count, hour.passed, len(hour.checks)) == (MAX_CHECKS, MAX_CHECKS, 4 * MAX_CHECKS)


@pytest.fixture
def kept(acme: Fill) -> dict[int, EdgeHour]:
    """An hour of 60 checks for each of these ages in hours."""
    rows = {}
    for age in (0, 47, 48, 49, 24 * 29, 24 * 30, 24 * 30 + 1):
        begins = hour_of(NOW - timedelta(hours=age))
        [row] = hours_of([(begins + timedelta(minutes=n), n % 4 > 0, n + 1) for n in range(60)])
        row.domain = acme.domain
        row.save()
        rows[age] = row
    return rows


def test_old_hours_are_thinned_and_older_ones_deleted(kept: dict[int, EdgeHour]) -> None:
    thin(NOW)
    found = {row.pk: row for row in EdgeHour.objects.all()}
    after = {age: found[row.pk] for age, row in kept.items() if row.pk in found}
    assert {age: len(row.checks) for age, row in after.items()} == {0: 240, 47: 240, 48: 240, 49: 0, 696: 0, 720: 0}
    for age in (49, 696):
        row = after[age]
        assert (row.count, row.passed, row.latency_p50_ms, row.latency_p95_ms) == (60, 45, 30, 57)


def test_thinning_again_changes_nothing(kept: dict[int, EdgeHour]) -> None:
    thin(NOW)
    before = list(EdgeHour.objects.order_by("pk").values())
    thin(NOW)
    assert list(EdgeHour.objects.order_by("pk").values()) == before
