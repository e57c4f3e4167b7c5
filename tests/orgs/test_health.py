"""How an application's health is judged, through the tool that answers it."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from apps.orgs.models import App, Deployment, Domain, EdgeFact, EdgeStatistics, Platform, RuntimeFact
from tests.api import Api
from tests.factories import START, Fill, make, make_app, make_edge

LATER = timedelta(days=100)
NOTHING = "Nothing recent is stored that tells whether it works; a deploy status is not health."
ANSWERED = "Every domain that was looked at answered."
TOO_OLD = "The last look at its domains is too old to rely on."


@pytest.fixture(autouse=True)
def _stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_at(monkeypatch, START)


def stop_at(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: moment)


@pytest.fixture
def app(acme: Fill) -> App:
    """An application that was deployed well, and of which nothing else is known."""
    app = make_app(acme.project, "it", status="deployed")
    make(Deployment, acme.organization, app=app, title="x", status="succeeded", created_at=START)
    return app


def domain(app: App, host: str = "a.example.com", **fields: Any) -> Domain:
    return make(Domain, app.organization, app=app, host=host, **{"https": True} | fields)


def look(app: App, host: str = "a.example.com", path: str = "/", **facts: Any) -> EdgeFact:
    return make_edge(domain(app, host, path=path), **facts)


def runs(app: App, running: int | None, desired: int | None = None, **fields: Any) -> RuntimeFact:
    return RuntimeFact.objects.create(
        organization=app.organization, app=app, running_replicas=running, desired_replicas=desired,
        **{"period": None} | fields,
    )  # fmt: skip


def platform(app: App, at: datetime | None = START) -> Platform:
    """A platform whose own period says nothing of a fact's age: it is a second."""
    return Platform.objects.create(
        organization=app.organization, kind="dokploy", name="probed", sync_period=1, last_sync_at=at
    )


def judged(api: Api, app: App) -> tuple[str, list[str]]:
    answer = api("get_app_health", applicationId=app.id)
    return answer["health"], answer["reasons"]


def edge(api: Api, app: App) -> dict[str, Any]:
    return api("get_app_health", applicationId=app.id)["edge"]


# Nothing to go by


@pytest.mark.parametrize("status", ["idle", "deployed", "unknown"])
def test_a_good_deployment_alone_is_not_health(api: Api, app: App, status: str) -> None:
    app.status = status
    app.save()
    assert judged(api, app) == ("unknown", [NOTHING, "It has no domain to look at."])


def test_a_domain_that_nobody_looked_at_tells_nothing(api: Api, app: App) -> None:
    domain(app)
    assert judged(api, app) == ("unknown", [NOTHING, "None of its domains has been looked at yet."])


def test_a_failed_deployment_alone_is_a_reason_but_no_level(api: Api, app: App) -> None:
    app.deployments.update(status="failed")
    assert judged(api, app) == ("unknown", [NOTHING, "The last deployment failed.", "It has no domain to look at."])


def test_statistics_without_a_word_about_instances_tell_nothing(api: Api, app: App) -> None:
    EdgeStatistics.objects.create(organization=app.organization, app=app, uptime_24h=1.0)
    assert judged(api, app)[0] == "unknown"
    assert api("get_app_health", applicationId=app.id)["runtime"] is None


def test_instances_without_a_number_tell_too_little(api: Api, app: App) -> None:
    runs(app, None, 2, instances=[{"state": "running", "since": None, "message": None}])
    assert judged(api, app) == (
        "unknown",
        [NOTHING, "The platform does not say how many instances are running.", "It has no domain to look at."],
    )


def test_disabled_domains_and_those_of_previews_tell_nothing(api: Api, app: App, acme: Fill) -> None:
    make_edge(domain(app, is_enabled=False))
    make_edge(domain(app, preview=acme.preview))
    assert judged(api, app)[0] == "unknown"
    assert edge(api, app)["domains"] == []


# Seen from outside


@pytest.mark.parametrize("status", [None, 200, 204, 301, 399])
def test_a_domain_that_answers_is_healthy(api: Api, app: App, status: int | None) -> None:
    look(app, http_status=status)
    assert judged(api, app) == ("healthy", [ANSWERED])
    assert edge(api, app)["status"] == "up"


@pytest.mark.parametrize("status", [400, 401, 404, 429, 499])
def test_a_clients_error_is_an_answer_that_is_told(api: Api, app: App, status: int) -> None:
    look(app, http_status=status)
    assert judged(api, app) == ("healthy", [ANSWERED, f"a.example.com answered with status {status}."])


@pytest.mark.parametrize("status", [500, 502, 503, 599])
def test_a_servers_error_is_down(api: Api, app: App, status: int) -> None:
    look(app, http_status=status)
    assert judged(api, app) == ("down", [f"a.example.com answered with status {status}."])
    assert edge(api, app)["status"] == "down"


def test_no_answer_is_down(api: Api, app: App) -> None:
    look(app, reachable=False, http_status=None)
    assert judged(api, app) == ("down", ["a.example.com did not answer."])


def test_no_answer_where_the_name_does_not_resolve(api: Api, app: App) -> None:
    look(app, reachable=False, http_status=None, dns_status="unresolved")
    assert judged(api, app) == ("down", ["a.example.com did not answer: its name does not resolve."])


def test_one_of_two_domains_is_degraded(api: Api, app: App) -> None:
    look(app)
    look(app, "b.example.com", path="/admin/", reachable=False)
    assert judged(api, app) == ("degraded", ["b.example.com/admin did not answer."])
    assert edge(api, app)["status"] == "degraded"


def test_two_of_two_domains_are_down(api: Api, app: App) -> None:
    look(app, http_status=502)
    look(app, "b.example.com", reachable=False)
    assert judged(api, app) == (
        "down",
        ["a.example.com answered with status 502.", "b.example.com did not answer."],
    )


@pytest.mark.parametrize(
    ("left", "is_valid", "level", "reason"),
    [
        (LATER, True, "healthy", None),
        (timedelta(days=21), True, "healthy", None),
        (timedelta(days=20, hours=23), True, "healthy", "The certificate of a.example.com expires on 2026-03-22."),
        (timedelta(0), True, "degraded", "The certificate of a.example.com has expired."),
        (-LATER, False, "degraded", "The certificate of a.example.com has expired."),
        (LATER, False, "degraded", "The certificate of a.example.com is invalid: browsers refuse it."),
        (None, False, "degraded", "The certificate of a.example.com is invalid: browsers refuse it."),
        (None, None, "healthy", None),
    ],
)
def test_a_certificate_that_browsers_refuse_is_degraded(
    api: Api, app: App, left: timedelta | None, is_valid: bool | None, level: str, reason: str | None
) -> None:
    look(app, tls_not_after=None if left is None else START + left, tls_is_valid=is_valid, tls_issuer="CA")
    answered = [ANSWERED] if level == "healthy" else []
    assert judged(api, app) == (level, answered + ([reason] if reason else []))


# How old a look may be


@pytest.mark.parametrize(
    ("age", "level"), [(180, "healthy"), (180.001, "unknown"), (86400, "unknown"), (-5, "healthy")]
)
def test_a_look_counts_for_three_periods(api: Api, app: App, age: float, level: str) -> None:
    look(app, platform=platform(app), period=60, checked_at=START - timedelta(seconds=age))
    assert judged(api, app) == (level, [ANSWERED] if level == "healthy" else [NOTHING, TOO_OLD])
    assert (edge(api, app)["status"], edge(api, app)["isStale"]) == ("up", level == "unknown")


@pytest.mark.parametrize(("age", "level"), [(180, "healthy"), (181, "unknown"), (400 * 86400, "unknown")])
def test_a_look_that_no_platform_told_is_the_probers_and_ages_with_its_period(
    api: Api, app: App, age: float, level: str
) -> None:
    EdgeFact.objects.create(
        organization=app.organization, domain=domain(app), checked_at=START - timedelta(seconds=age), reachable=True
    )
    assert judged(api, app)[0] == level
    assert edge(api, app)["isStale"] == (level == "unknown")


def test_a_look_that_nobody_repeats_does_not_age(api: Api, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    look(app, platform=platform(app), period=None)
    stop_at(monkeypatch, START + timedelta(days=999))
    assert judged(api, app)[0] == "healthy"


def test_old_bad_news_is_no_news(api: Api, app: App) -> None:
    look(app, period=60, checked_at=START - LATER, reachable=False)
    assert judged(api, app) == ("unknown", [NOTHING, TOO_OLD])


def test_what_is_old_does_not_hide_recent_bad_news(api: Api, app: App) -> None:
    look(app, period=60, checked_at=START - LATER)
    look(app, "b.example.com", reachable=False)
    assert judged(api, app) == ("down", ["b.example.com did not answer.", TOO_OLD])


def test_what_is_old_keeps_recent_good_news_from_being_enough(api: Api, app: App) -> None:
    look(app, period=60, checked_at=START - LATER)
    look(app, "b.example.com")
    assert judged(api, app) == ("unknown", [NOTHING, TOO_OLD])
    assert edge(api, app)["checkedAt"] == "2025-11-21T12:00:00.000Z"


# What comes first


def test_what_weighs_most_comes_first(api: Api, app: App) -> None:
    runtime, failed = "Running instances: 2 of 2.", "The last deployment failed."
    runs(app, 2, 2)
    look(app, http_status=404, tls_is_valid=False)
    refused, answered = (
        "The certificate of a.example.com is invalid: browsers refuse it.", "a.example.com answered with status 404.",
    )  # fmt: skip
    assert judged(api, app) == ("degraded", [refused, answered, runtime])
    make(Deployment, app.organization, app=app, status="failed")
    assert judged(api, app) == ("degraded", [failed, refused, answered, runtime])
    Domain.objects.all().delete()
    look(app, reachable=False)
    assert judged(api, app) == ("down", [failed, "a.example.com did not answer.", runtime])


# What the platform says is running


@pytest.mark.parametrize(
    ("running", "desired", "level", "reason"),
    [
        (2, 2, "healthy", "Running instances: 2 of 2."),
        (3, 2, "healthy", "Running instances: 3 of 2."),
        (1, None, "healthy", "Running instances: 1."),
        (1, 0, "healthy", "Running instances: 1 of 0."),
        (1, 2, "degraded", "Running instances: 1 of 2."),
        (0, 2, "down", "Running instances: 0 of 2."),
        (0, None, "down", "Running instances: 0."),
        (0, 0, "down", "No instance is running, and none is wanted."),
    ],
)
def test_instances_are_judged_by_their_number(
    api: Api, app: App, running: int, desired: int | None, level: str, reason: str
) -> None:
    runs(app, running, desired)
    assert judged(api, app) == (level, [reason, "It has no domain to look at."])


@pytest.mark.parametrize(
    ("period", "checked", "synced", "level"),
    [
        (300, None, 900, "healthy"),
        (300, None, 901, "unknown"),
        (300, None, None, "unknown"),
        (300, 900, None, "healthy"),
        (300, 900, 86400, "healthy"),
        (300, 901, 0, "unknown"),
        (None, None, 86400, "healthy"),
        (None, 86400, None, "healthy"),
        (None, None, None, "healthy"),
    ],
)
def test_what_a_platform_said_counts_for_three_periods_of_its_own(
    api: Api, app: App, period: int | None, checked: int | None, synced: int | None, level: str
) -> None:
    at, synced_at = (None if age is None else START - timedelta(seconds=age) for age in (checked, synced))
    runs(app, 1, 1, platform=platform(app, synced_at), period=period, checked_at=at)
    reason = "What the platform said is running is too old to rely on." if level == "unknown" else None
    assert judged(api, app)[0] == level
    assert (reason in judged(api, app)[1]) == (reason is not None)


# Together


@pytest.mark.parametrize(
    ("facts", "running", "level"),
    [
        ({}, 2, "healthy"),
        ({}, 1, "degraded"),
        ({}, 0, "down"),
        ({"reachable": False}, 2, "down"),
        ({"tls_is_valid": False}, 2, "degraded"),
        ({"tls_is_valid": False}, 0, "down"),
        ({}, None, "healthy"),
    ],
)
def test_the_worse_of_both_counts(api: Api, app: App, facts: dict[str, Any], running: int | None, level: str) -> None:
    look(app, **facts)
    runs(app, running, 2)
    assert judged(api, app)[0] == level


def test_a_failed_deployment_on_top_of_what_works_is_degraded(api: Api, app: App) -> None:
    look(app)
    app.deployments.update(status="failed")
    assert judged(api, app) == ("degraded", ["The last deployment failed.", ANSWERED])


def test_a_failed_deployment_that_a_good_one_followed_is_past(api: Api, app: App, acme: Fill) -> None:
    look(app)
    app.deployments.update(status="failed")
    make(Deployment, acme.organization, app=app, title="y", status="succeeded", created_at=START + timedelta(minutes=1))
    assert judged(api, app) == ("healthy", [ANSWERED])


def test_a_failed_deployment_of_a_preview_is_the_previews(api: Api, app: App, acme: Fill) -> None:
    look(app)
    make(
        Deployment, acme.organization, app=app, preview=None, is_preview=True, title="y", status="failed",
        created_at=START + timedelta(minutes=1),
    )  # fmt: skip
    assert judged(api, app) == ("healthy", [ANSWERED])


def test_an_error_of_the_platform_on_top_of_what_works_is_degraded(api: Api, app: App) -> None:
    look(app)
    app.status = "error"
    app.save()
    assert judged(api, app) == ("degraded", ["The platform says that it is in error.", ANSWERED])


def test_down_stays_down_after_a_failed_deployment(api: Api, app: App) -> None:
    runs(app, 0, 1)
    app.deployments.update(status="failed")
    assert judged(api, app)[0] == "down"


def test_what_is_wrong_is_told_before_what_is_not(api: Api, app: App) -> None:
    runs(app, 1, 1)
    fact = look(app, tls_not_after=START - timedelta(days=1))
    expired = "The certificate of a.example.com has expired."
    assert judged(api, app) == ("degraded", [expired, "Running instances: 1 of 1."])
    assert [item["healthReason"] for item in api("list_apps", query="it")["items"]] == [expired]
    fact.delete()
    assert judged(api, app)[1][0] == "Running instances: 1 of 1."


def test_deploying_goes_before_everything(api: Api, app: App) -> None:
    app.status = "deploying"
    app.save()
    assert judged(api, app) == ("deploying", ["A deployment is in progress.", "It has no domain to look at."])
    look(app, reachable=False)
    runs(app, 0, 1)
    assert judged(api, app) == (
        "deploying",
        ["A deployment is in progress.", "Running instances: 0 of 1.", "a.example.com did not answer."],
    )
