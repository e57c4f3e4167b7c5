"""What the clock alone changes: at every moment a kept answer is the one that would be made anew."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.orgs.callers import SCOPES, Caller
from apps.orgs.models import App, DataVersion, Domain, EdgeFact, Platform, RuntimeFact
from apps.orgs.scope import scope_by_slug
from apps.platforms.snapshot.apply import apply
from apps.platforms.snapshot.base import Snapshot
from apps.tools import answers, calls
from apps.tools.registry import TOOLS
from tests.factories import Fill, fill, make, make_app

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
# Around which something of what follows happens: checks too old, a sync too old, certificates, days that are left.
MOMENTS = [
    *(NOW + n * SECOND for n in (0, 60, 180, 181, 300, 301, 360, 361)),
    *(NOW + 3 * DAY + n * SECOND for n in (-86400, -1, 0, 1)),
    *(NOW + n * DAY for n in (4, 10, 24)),
]
ASKED = (
    ("list_apps", {}), ("list_apps", {"health": "unhealthy"}), ("list_apps", {"health": "healthy", "limit": 1}),
    ("list_domains", {}), ("get_app_health", {"applicationId": "app_" + "0" * 26}),
    ("get_app_health", {"applicationId": "app_" + "1" * 26}),
)  # fmt: skip


class Clock:
    def __init__(self) -> None:
        self.now = NOW


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", lambda: clock.now)
    return clock


@pytest.fixture
def acme(db: None, clock: Clock) -> Fill:
    """Two applications: what the prober checked, and what a deployment system says is running."""
    acme = fill("acme")
    platform = Platform.objects.create(
        organization=acme.organization, kind="dokploy", sync_period=100, last_sync_at=NOW, last_sync_status="ok"
    )
    for number in range(2):
        app = make_app(acme.project, f"app {number}", id=f"app_{str(number) * 26}")
        told: dict[str, Any] = {"organization": acme.organization}
        for days in (3, 24):
            host = f"d{days}.{app.name.replace(' ', '')}.example.com"
            domain = make(Domain, acme.organization, app=app, host=host, https=True)
            EdgeFact.objects.create(
                **told, domain=domain, checked_at=NOW, reachable=True, http_status=200, dns_status="resolves",
                tls_issuer="Test CA", tls_not_after=NOW + (days + number) * DAY, tls_is_valid=True,
            )  # fmt: skip
        RuntimeFact.objects.create(
            **told, app=app, platform=platform, period=100, checked_at=NOW + 60 * SECOND if number else None,
            desired_replicas=2, running_replicas=1 + number,
        )  # fmt: skip
    return acme


def ask(name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    scope = scope_by_slug("acme")
    assert scope
    caller = Caller(scope, None, frozenset(SCOPES), None, "tests", None)
    told = json.loads(calls.answer(caller, TOOLS[name], dict(inputs)))
    return {field: value for field, value in told.items() if field != "version"}


def fresh(name: str, inputs: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    with monkeypatch.context() as patch:
        patch.setattr(answers.cache, "get", lambda *_: None)
        patch.setattr(answers.cache, "keep", lambda *_: None)
        return ask(name, inputs)


def assert_right(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    told = {}
    for number, (name, inputs) in enumerate(ASKED):
        told[f"{name} {number}"] = ask(name, inputs)
        assert told[f"{name} {number}"] == fresh(name, inputs, monkeypatch)
    return told


def test_a_kept_answer_is_what_would_be_made_anew_at_every_moment(
    acme: Fill, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for moment in sorted(MOMENTS):
        clock.now = moment
        seen.append(json.dumps(assert_right(monkeypatch)))
    assert len(set(seen)) > 10


@pytest.mark.soak
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 26 * 86400 * 10**6), min_size=2, max_size=4), st.data())
def test_at_any_moments(
    acme: Fill, clock: Clock, monkeypatch: pytest.MonkeyPatch, microseconds: list[int], data: Any
) -> None:
    answers.cache.clear()
    near = [data.draw(st.sampled_from(MOMENTS)) + timedelta(microseconds=n % 3 - 1) for n in microseconds]
    for moment in sorted([*near, *(NOW + timedelta(microseconds=n) for n in microseconds)]):
        clock.now = moment
        assert_right(monkeypatch)


def test_answers_are_kept_as_long_as_nothing_changes(acme: Fill, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds, is_kept in ((0, False), (100, True), (180, True), (181, False), (182, True)):
        clock.now = NOW + seconds * SECOND
        monkeypatch.setattr(TOOLS["list_apps"], "call", None if is_kept else type(TOOLS["list_apps"]).call.__get__(
            TOOLS["list_apps"]
        ))  # fmt: skip
        ask("list_apps", {})


def test_facts_that_are_recent_again_are_told(acme: Fill, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sync that brings nothing new after a pause writes no row that a list is made of."""
    platform = Platform.objects.get(kind="dokploy")
    App.objects.filter(name="app 0").update(platform=platform)
    unread = (("projects", None), ("environments", None), ("apps", None), ("edges", None), ("runtimes", None))
    clock.now = NOW + 3600 * SECOND
    stale = assert_right(monkeypatch)
    before = version(acme)
    apply(platform, Snapshot(unread=frozenset(unread)), is_checked=True)
    assert version(acme) > before
    assert assert_right(monkeypatch) != stale


def version(acme: Fill) -> int:
    return DataVersion.objects.get(organization=acme.organization).data_version
