"""A round: what is checked, what is kept of it, and which counters it raises."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.orgs.counts import keep_counts
from apps.orgs.models import (
    App,
    DataVersion,
    Domain,
    EdgeFact,
    EdgeHour,
    EdgeStatistics,
    Organization,
    OrganizationCounts,
    Platform,
)
from apps.platforms.edge import records, rounds
from apps.platforms.edge.certificates import Certificate
from apps.platforms.edge.lookups import Lookups
from apps.platforms.edge.probe import Prober
from apps.platforms.edge.rounds import Probe, probe_round
from apps.platforms.edge.targets import Outcome, Target
from apps.platforms.edge.tasks import probe_domains, tidy_checks
from apps.platforms.edge.upkeep import tidy
from tests.api import Api
from tests.factories import Fill, make, make_app, make_edge
from tests.platforms.edge import sites

pytestmark = pytest.mark.usefixtures("counted_versions")
NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def site(acme: Fill) -> Domain:
    """A domain of which nobody tells, of an application that has no other. That of `acme` is told by a manifest."""
    site = make(Domain, acme.organization, app=make_app(acme.project, "it"), host="site.example.com", https=True)
    DataVersion.objects.all().delete()  # what made it counts as a change
    return site


def seeing(asked: list[str] | None = None, **fields: Any) -> Probe:
    """Every domain answers with status 200 within 20 ms, but for `fields`."""

    def probe(targets: list[Target]) -> list[Outcome]:
        if asked is not None:
            asked.extend(target.url for target in targets)
        told = {"reachable": True, "http_status": 200, "latency_ms": 20, "dns_status": "resolves"} | fields
        return [Outcome(target.key, **told) for target in targets]

    return probe


def versions(organization: Organization) -> tuple[int, int]:
    row = DataVersion.objects.filter(organization=organization).first()
    return (row.data_version, row.checks_version) if row else (1, 1)


# What is checked


def test_every_enabled_domain_of_a_visible_application_is_checked(site: Domain, acme: Fill, rival: Fill) -> None:
    hidden = make_app(acme.project, "hidden", hidden_at=NOW)
    make(Domain, acme.organization, app=hidden, host="hidden.example.com", https=True)
    make(Domain, acme.organization, app=site.app, host="off.example.com", https=True, is_enabled=False)
    make(Domain, acme.organization, app=site.app, host="plain.example.com", path="/a", https=False)
    make(Domain, acme.organization, app=site.app, host="preview.example.com", https=True, preview=acme.preview)
    asked: list[str] = []
    made = probe_round(NOW, seeing(asked))
    assert sorted(asked) == [
        "http://plain.example.com:80/a",
        "https://preview.example.com:443/",
        "https://site.example.com:443/",
    ]
    assert (made.domains, made.checked, made.reachable) == (3, 3, 3)


def test_what_a_platform_tells_is_neither_checked_nor_changed(acme: Fill) -> None:
    before = EdgeFact.objects.values().get(domain=acme.domain)
    asked: list[str] = []
    probe_round(NOW, seeing(asked, reachable=False))
    assert asked == []
    assert EdgeFact.objects.values().get(domain=acme.domain) == before


def test_a_manifest_that_tells_of_some_domains_means_what_it_leaves_out(acme: Fill) -> None:
    make(Domain, acme.organization, app=acme.app, host="untold.example.com", https=True, platform=acme.platform)
    asked: list[str] = []
    probe_round(NOW, seeing(asked))
    assert asked == []


def test_a_manifest_that_tells_of_none_has_its_domains_looked_at(acme: Fill) -> None:
    silent = Platform.objects.create(organization=acme.organization, kind="manifest", name="silent")
    make(Domain, acme.organization, app=acme.app, host="untold.example.com", https=True, platform=silent)
    asked: list[str] = []
    probe_round(NOW, seeing(asked))
    assert asked == ["https://untold.example.com:443/"]


def test_the_demo_asks_nobody(db: None) -> None:
    call_command("load_demo", verbosity=0)
    assert Domain.objects.count() > 10
    asked: list[str] = []
    probe_round(timezone.now(), seeing(asked))
    assert asked == []


def test_each_domain_is_checked_once_however_many_there_are(
    site: Domain, acme: Fill, rival: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "BATCH", 3)
    for fill in (acme, rival):
        for n in range(7):
            make(Domain, fill.organization, app=fill.app, host=f"d{n}.example.com", https=True)
    asked: list[str] = []
    batches: list[int] = []

    def probe(targets: list[Target]) -> list[Outcome]:
        batches.append(len(targets))
        return seeing(asked)(targets)

    probe_round(NOW, probe)
    assert batches == [3, 3, 3, 3, 3]
    assert len(asked) == 15
    assert EdgeFact.objects.filter(platform=None).count() == 15


def test_names_that_could_not_be_looked_up_come_last(site: Domain, acme: Fill) -> None:
    for n in range(3):
        make(Domain, acme.organization, app=site.app, host=f"d{n}.example.com", https=True)
    probe_round(NOW, seeing())
    first: list[str] = []
    probe_round(NOW, seeing(first))
    EdgeFact.objects.filter(domain__host=first[0][8:-5]).update(dns_status="unknown")
    second: list[str] = []
    probe_round(NOW, seeing(second))
    assert second == [*first[1:], first[0]]


# What is kept


def test_what_was_seen_is_kept(site: Domain) -> None:
    certificate = Certificate("Let's Encrypt R11", NOW + timedelta(days=60))
    probe_round(NOW, seeing(certificate=certificate, is_verified=True, http_status=204, latency_ms=31, seconds=2.5))
    fact = EdgeFact.objects.get(domain=site)
    assert (fact.organization_id, fact.platform_id, fact.period) == (site.organization_id, None, 60)
    assert (fact.reachable, fact.http_status, fact.latency_ms, fact.dns_status) == (True, 204, 31, "resolves")
    assert (fact.tls_issuer, fact.tls_not_after, fact.tls_is_valid) == (
        "Let's Encrypt R11",
        certificate.not_after,
        True,
    )
    assert timedelta(seconds=2.5) <= fact.checked_at - NOW < timedelta(seconds=10)


def test_the_history_grows_by_a_check_a_round_and_sums_up(site: Domain) -> None:
    for n in range(40):
        probe_round(NOW + n * MINUTE, seeing(reachable=n % 10 > 0, latency_ms=n if n % 10 else None))
    assert [(row.count, row.passed) for row in EdgeHour.objects.filter(domain=site).order_by("hour")] == [
        (30, 27),
        (10, 9),
    ]
    its = EdgeStatistics.objects.get(app=site.app)
    assert (its.uptime_24h, its.latency_p50_ms, its.latency_p95_ms) == (0.9, 19, 38)
    assert (its.platform_id, its.period) == (None, 60)


@pytest.mark.parametrize(
    ("fields", "uptime"),
    [
        ({}, 1.0), ({"http_status": 404}, 1.0), ({"http_status": 500}, 0.0), ({"reachable": False}, 0.0),
        ({"is_verified": False}, 0.0), ({"is_verified": True}, 1.0), ({"reachable": None}, None),
    ],
)  # fmt: skip
def test_a_check_passes_where_health_would_call_the_domain_good(
    site: Domain, fields: dict[str, Any], uptime: float | None
) -> None:
    probe_round(NOW, seeing(**fields))
    assert EdgeStatistics.objects.get(app=site.app).uptime_24h == uptime


def test_previews_and_disabled_domains_do_not_count_for_the_application(site: Domain, acme: Fill) -> None:
    make(Domain, acme.organization, app=site.app, host="preview.example.com", https=True, preview=acme.preview)
    off = make(Domain, acme.organization, app=site.app, host="off.example.com", https=True)

    def probe(targets: list[Target]) -> list[Outcome]:
        return [Outcome(target.key, reachable=target.host == "site.example.com") for target in targets]

    probe_round(NOW, probe)
    assert EdgeStatistics.objects.get(app=site.app).uptime_24h == 0.5
    Domain.objects.filter(pk=off.pk).update(is_enabled=False)
    probe_round(NOW + MINUTE, probe)
    assert EdgeStatistics.objects.get(app=site.app).uptime_24h == 1.0


def test_statistics_that_a_platform_tells_stay_the_platforms(acme: Fill) -> None:
    make(Domain, acme.organization, app=acme.app, host="more.example.com", https=True)
    before = EdgeStatistics.objects.values().get(app=acme.app)
    probe_round(NOW, seeing())
    assert EdgeStatistics.objects.values().get(app=acme.app) == before


def test_a_domain_that_was_deleted_in_the_meantime_is_left_out(site: Domain, acme: Fill) -> None:
    other = make(Domain, acme.organization, app=site.app, host="other.example.com", https=True)

    def probe(targets: list[Target]) -> list[Outcome]:
        Domain.objects.filter(pk=other.pk).delete()
        return seeing()(targets)

    probe_round(NOW, probe)
    assert list(EdgeFact.objects.filter(platform=None).values_list("domain_id", flat=True)) == [site.pk]


def test_a_fact_that_a_platform_began_to_tell_in_the_meantime_stays(site: Domain, acme: Fill) -> None:
    def probe(targets: list[Target]) -> list[Outcome]:
        told = {"organization": acme.organization, "platform": acme.platform, "checked_at": NOW, "reachable": False}
        EdgeFact.objects.create(domain=site, **told)
        return seeing()(targets)

    probe_round(NOW, probe)
    assert EdgeFact.objects.get(domain=site).reachable is False
    assert not EdgeHour.objects.filter(domain=site).exists()


@pytest.mark.parametrize("failures", [1, 2])
def test_a_transaction_that_a_sync_made_impossible_is_done_again(
    site: Domain, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    left = [IntegrityError()] * failures
    real = records.raise_checks_version

    def fail_first(organization_id: str) -> None:
        if left:
            raise left.pop()
        real(organization_id)

    monkeypatch.setattr(records, "raise_checks_version", fail_first)
    probe_round(NOW, seeing())
    assert EdgeHour.objects.get(domain=site).count == 1


def test_a_round_takes_few_statements_however_many_domains_there_are(site: Domain, acme: Fill) -> None:
    def statements(minute: int) -> int:
        with CaptureQueriesContext(connection) as captured:
            probe_round(NOW + minute * MINUTE, seeing())
        return len(captured)

    statements(0)
    few = statements(1)
    for n in range(60):
        make(Domain, acme.organization, app=site.app, host=f"d{n}.example.com", https=True)
    statements(2)
    assert statements(3) == few < 24


# Versions


def test_the_first_look_is_news(site: Domain, acme: Fill, rival: Fill) -> None:
    probe_round(NOW, seeing())
    assert versions(acme.organization) == (2, 2)
    assert versions(rival.organization) == (1, 1)


def test_news_leaves_the_kept_counts_current(site: Domain, acme: Fill) -> None:
    probe_round(NOW, seeing())
    keep_counts(acme.organization.pk)
    probe_round(NOW + MINUTE, seeing(reachable=False))
    counted_at = OrganizationCounts.objects.get(organization=acme.organization).data_version
    assert counted_at == versions(acme.organization)[0] == 3


@pytest.mark.parametrize(
    ("fields", "is_news"),
    [
        ({"latency_ms": 999}, False), ({"reachable": False}, True), ({"reachable": None}, True),
        ({"http_status": 503}, True), ({"dns_status": "unresolved"}, True), ({"is_verified": False}, True),
        ({"error": "Its certificate has expired."}, True), ({"certificate": Certificate("x", NOW)}, True),
    ],
)  # fmt: skip
def test_only_times_and_latencies_are_no_news(site: Domain, fields: dict[str, Any], is_news: bool) -> None:
    probe_round(NOW, seeing())
    probe_round(NOW + MINUTE, seeing(**fields))
    assert versions(site.organization) == ((3, 3) if is_news else (2, 3))


@pytest.mark.parametrize(("minutes", "is_news"), [(2, False), (4, True)])
def test_a_fact_that_is_recent_again_is_news(site: Domain, minutes: int, is_news: bool) -> None:
    probe_round(NOW, seeing())
    probe_round(NOW + minutes * MINUTE, seeing())
    assert versions(site.organization)[0] == (3 if is_news else 2)


@pytest.mark.parametrize("days", [0, 21])
def test_a_certificate_that_begins_to_expire_or_has_expired_is_news(site: Domain, days: int) -> None:
    probe = seeing(certificate=Certificate("x", NOW + timedelta(days=days, seconds=90)), is_verified=True)
    found = []
    for n in range(4):
        probe_round(NOW + n * MINUTE, probe)
        found.append(versions(site.organization)[0])
    assert found == [2, 2, 3, 3]


# Upkeep


def test_checks_of_what_is_not_checked_any_more_are_deleted(site: Domain, acme: Fill) -> None:
    probe_round(NOW, seeing())
    tidy(NOW)
    assert EdgeFact.objects.filter(domain=site).exists()
    assert versions(acme.organization)[0] == 2
    Domain.objects.filter(pk=site.pk).update(is_enabled=False)
    before = versions(acme.organization)[0]
    tidy(NOW)
    assert not EdgeFact.objects.filter(domain=site).exists()
    assert not EdgeStatistics.objects.filter(app=site.app).exists()
    assert EdgeFact.objects.filter(domain=acme.domain).exists()
    assert versions(acme.organization)[0] == before + 1


def test_checks_of_what_a_manifest_tells_about_now_are_deleted(acme: Fill) -> None:
    platform = Platform.objects.create(organization=acme.organization, kind="manifest", name="silent")
    app: App = make_app(acme.project, "it", platform=platform)
    one, other = (
        make(Domain, acme.organization, app=app, host=f"{name}.example.com", https=True, platform=platform)
        for name in ("one", "other")
    )
    probe_round(NOW, seeing())
    EdgeFact.objects.filter(domain=one).update(platform=platform)
    tidy(NOW)
    assert not EdgeFact.objects.filter(domain=other).exists()
    assert EdgeFact.objects.filter(domain=one).exists()


def test_a_check_that_nobody_repeats_is_kept(acme: Fill) -> None:
    off = make(Domain, acme.organization, app=acme.app, host="off.example.com", https=True, is_enabled=False)
    make_edge(off, period=None)
    tidy(NOW)
    assert EdgeFact.objects.filter(domain=off).exists()


# All of it


def probing_at(ports: dict[str, int]) -> Probe:
    """A prober for which sites are at these ports of loopback, by host."""

    def resolve(host: str, port: None, type: int) -> list[tuple[Any, ...]]:
        return [(2, type, 6, "", ("127.0.0.1" if host in ports else "10.0.0.1", 0))]

    prober = Prober([ip_network("127.0.0.0/8")], Lookups(resolve))

    def probe(targets: list[Target]) -> list[Outcome]:
        return prober.probe([Target(t.key, t.host, t.path, t.is_https, ports.get(t.host, t.port)) for t in targets])

    return probe


def test_what_a_round_saw_is_what_tools_answer(api: Api, site: Domain, acme: Fill) -> None:
    Domain.objects.filter(pk=site.pk).update(https=False)
    make(Domain, acme.organization, app=site.app, host="private.example.com", https=False)
    with sites.site(sites.answering(sites.status(200))) as port:
        probe_round(timezone.now(), probing_at({"site.example.com": port}))
    answer = api("get_app_health", applicationId=site.app_id)
    assert answer["health"] == "healthy"
    assert answer["reasons"] == [
        "Every domain that was looked at answered.",
        "private.example.com cannot be checked from outside, so nothing is known of it.",
    ]
    private, public = answer["edge"]["domains"]
    assert (private["reachable"], private["error"]) == (False, "Its address is not a public one.")
    assert (public["reachable"], public["httpStatus"], public["dnsStatus"]) == (True, 200, "resolves")
    assert answer["edge"]["uptime24h"] == 1
    listed = {row["host"]: row for row in api("list_domains", applicationId=site.app_id)["items"]}
    assert listed["site.example.com"]["dnsStatus"] == "resolves"
    assert listed["site.example.com"]["checkedAt"] == public["checkedAt"]
    assert listed["site.example.com"]["certificateStatus"] == "unknown"


def test_an_application_of_which_nobody_can_see_anything_is_unknown(api: Api, site: Domain) -> None:
    App.objects.filter(pk=site.app_id).update(status="deployed")
    probe_round(timezone.now(), probing_at({}))
    answer = api("get_app_health", applicationId=site.app_id)
    assert (answer["health"], answer["edge"]["status"]) == ("unknown", "unknown")
    assert "site.example.com cannot be checked from outside, so nothing is known of it." in answer["reasons"]


def test_the_tasks_do_it(site: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Callable[..., None]] = []
    monkeypatch.setattr("apps.platforms.edge.tasks.probe_round", done.append)
    monkeypatch.setattr("apps.platforms.edge.tasks.tidy", done.append)
    probe_domains.call()
    tidy_checks.call()
    assert len(done) == 2
