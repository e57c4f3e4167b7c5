"""How often one caller may ask. The clock is the test's."""

import threading
from typing import Any

import pytest

from apps.tools import throttle
from apps.web import limits
from apps.web.limits import Buckets
from tests.api import Api


def test_a_burst_is_allowed_and_then_one_waits() -> None:
    buckets = Buckets(burst=3, per_second=2.0)
    assert [buckets.take("a", 100.0) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]


def test_after_the_wait_there_is_one_more() -> None:
    buckets = Buckets(burst=1, per_second=2.0)
    assert buckets.take("a", 0.0) == 0.0
    wait = buckets.take("a", 0.0)
    assert buckets.take("a", wait - 0.01) > 0
    assert buckets.take("a", wait) == 0.0
    assert buckets.take("a", wait) > 0


def test_waiting_in_vain_costs_nothing() -> None:
    buckets = Buckets(burst=1, per_second=1.0)
    buckets.take("a", 0.0)
    for hundredth in range(100):
        assert buckets.take("a", hundredth / 100) > 0
    assert buckets.take("a", 1.0) == 0.0


def test_no_more_than_a_burst_is_saved_up() -> None:
    buckets = Buckets(burst=2, per_second=10.0)
    buckets.take("a", 0.0)
    assert [buckets.take("a", 1e6) > 0 for _ in range(3)] == [False, False, True]


def test_callers_do_not_share() -> None:
    buckets = Buckets(burst=1, per_second=1.0)
    assert buckets.take("a", 0.0) == 0.0
    assert buckets.take("b", 0.0) == 0.0
    assert buckets.take("a", 0.0) > 0


def test_the_memory_for_callers_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_KEYS", 3)
    buckets = Buckets(burst=1, per_second=0.001)
    for key in "abc":
        buckets.take(key, 0.0)
    assert buckets.take("a", 0.0) > 0  # and so it is b that asked longest ago
    buckets.take("d", 0.0)
    assert len(buckets._buckets) == 3
    assert buckets.take("b", 0.0) == 0.0
    assert buckets.take("a", 0.0) > 0


def test_a_clock_that_is_read_in_another_order_does_no_harm() -> None:
    buckets = Buckets(burst=1, per_second=1.0)
    assert buckets.take("a", 10.0) == 0.0
    assert 0 < buckets.take("a", 9.9) <= 1.2


def test_threads_share_one_bucket() -> None:
    buckets = Buckets(burst=50, per_second=0.001)
    allowed = []

    def ask() -> None:
        allowed.extend(buckets.take("a", 0.0) == 0.0 for _ in range(20))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(allowed) == 50


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Two calls at once, one a second."""
    settings.RATE_LIMITS = True
    clock = Clock()
    monkeypatch.setattr(throttle, "_buckets", Buckets(burst=2, per_second=1 / 3))
    monkeypatch.setattr(throttle, "time", clock)
    return clock


def test_a_caller_is_told_when_to_come_back(api: Api, clock: Clock) -> None:
    assert [api.post("list_apps").status_code for _ in range(3)] == [200, 200, 429]
    response = api.post("list_apps")
    assert response.json()["code"] == "rate_limited"  # type: ignore[attr-defined]
    assert response["Retry-After"] == "3"
    clock.now += 3
    assert api.post("list_apps").status_code == 200


def test_retry_after_is_rounded_up(api: Api, clock: Clock) -> None:
    api.post("list_apps")
    api.post("list_apps")
    clock.now += 0.5
    assert api.post("list_apps")["Retry-After"] == "3"
    clock.now += 2.4
    assert api.post("list_apps")["Retry-After"] == "1"


def test_every_call_of_a_known_tool_counts_and_no_other(api: Api, clock: Clock) -> None:
    for _ in range(5):
        assert api.post("no_such_tool").status_code == 404
        assert api.post("list_apps", method="PUT").status_code == 405
        assert api.post("list_apps", authorization="Bearer wrong").status_code == 401
    assert api.post("list_apps", b"not json").status_code == 422
    assert api.post("get_account").status_code == 200
    assert api.post("list_apps", b"not json").status_code == 429


def test_limits_can_be_off(api: Api, clock: Clock, settings: Any) -> None:
    settings.RATE_LIMITS = False
    assert {api.post("list_apps").status_code for _ in range(10)} == {200}


def test_a_limit_costs_no_query(api: Api, clock: Clock, django_assert_num_queries: Any) -> None:
    api.post("list_apps")
    api.post("list_apps")
    with django_assert_num_queries(1):  # the bearer's
        assert api.post("list_apps").status_code == 429
