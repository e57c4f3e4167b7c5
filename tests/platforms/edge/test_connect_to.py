"""Where an operator says that domains are reached (PROBE_CONNECT_TO), and whom they trust besides (EXTRA_CA_CERTS)."""

import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.exceptions import ImproperlyConfigured

from apps.net import authorities
from apps.net.connect_to import connect_to, place_of
from apps.orgs.models import Domain, EdgeFact
from apps.platforms.edge import rounds
from apps.platforms.edge.lookups import Lookups
from apps.platforms.edge.probe import Prober
from apps.platforms.edge.targets import Outcome, Target
from config.env import Env
from tests.factories import Fill, make, make_app
from tests.fakes import certificates
from tests.fakes.sites import SitesFake
from tests.platforms.edge import sites

HOST = "shop.acme.example"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> str:
    return certificates.write_authority(tmp_path_factory.mktemp("authority"))


# What is written


@pytest.mark.parametrize(
    ("entry", "host", "port", "place"),
    [
        ("shop.example.com=10.0.0.5", "shop.example.com", 443, ("10.0.0.5", 443)),
        ("shop.example.com=10.0.0.5:8443", "shop.example.com", 443, ("10.0.0.5", 8443)),
        ("shop.example.com:443=[fd00::5]:8443", "shop.example.com", 443, ("fd00::5", 8443)),
        ("shop.example.com:443=[fd00::5]", "shop.example.com", 80, None),
        ("Shop.Example.com=127.0.0.1", "shop.example.com", 80, ("127.0.0.1", 80)),
        ("*.example.com=127.0.0.1", "a.b.example.com", 80, ("127.0.0.1", 80)),
        ("*.example.com=127.0.0.1", "example.com", 80, None),
        ("*.example.com=127.0.0.1", "badexample.com", 80, None),
    ],
)
def test_an_entry_is_for_a_host_or_for_all_below_it(
    entry: str, host: str, port: int, place: tuple[str, int] | None
) -> None:
    assert place_of(host, port, [connect_to(entry)]) == place


@pytest.mark.parametrize(
    "entry",
    ["shop.example.com", "=10.0.0.5", "*=10.0.0.5", "shop.*.com=10.0.0.5", "10.0.0.1=10.0.0.5",
     "shop.example.com=edge.example.com", "shop.example.com=fd00::5", "shop.example.com=[10.0.0.5]",
     "shop.example.com=10.0.0.256", "shop.example.com=10.1", "shop.example.com=10.0.0.5:0",
     "shop.example.com:65536=10.0.0.5", "https://shop.example.com=10.0.0.5"],
)  # fmt: skip
def test_what_is_no_entry_is_refused(entry: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="PROBE_CONNECT_TO must be like shop"):
        Env({"PROBE_CONNECT_TO": entry}).connect_to("PROBE_CONNECT_TO")


def test_the_most_exact_entry_counts() -> None:
    entries = [
        connect_to(f"{name}=10.0.0.{n}")
        for n, name in enumerate(
            ["*.com", "shop.example.com:443", "shop.example.com", "*.example.com", "*.example.com:80"]
        )
    ]

    def last(host: str, port: int) -> str:
        place = place_of(host, port, entries)
        return place[0][-1] if place else "-"

    assert [last("shop.example.com", 443), last("shop.example.com", 80)] == ["1", "2"]
    assert [last("a.example.com", 443), last("a.example.com", 80), last("b.com", 80)] == ["3", "4", "0"]
    assert last("shop.example.org", 80) == "-"


# What is checked


def probe(port: int, authority: str | None, *, host: str = HOST, dns: Any = None) -> tuple[Outcome, list[str]]:
    """By an entry for all names below example and example.com; and whose names were looked up. DNS says `dns`."""
    asked = []

    def resolve(host: str, port: None, type: int) -> list[tuple[object, ...]]:
        asked.append(host)
        if isinstance(dns, Exception):
            raise dns
        return [(2, type, 6, "", (dns, 0))]

    entries = [connect_to(f"{name}:443=127.0.0.1:{port}") for name in ("*.example", "*.example.com")]
    prober = Prober((), Lookups(resolve), authority, 2.0, entries)
    return prober.probe([Target("key", host, "/", True, 443)])[0], asked


def test_a_reserved_name_is_checked_where_the_operator_says(authority: str) -> None:
    with SitesFake() as fake:
        outcome, asked = probe(fake.port, authority)
    assert (outcome.reachable, outcome.http_status, outcome.is_verified, outcome.error) == (True, 200, True, None)
    assert (outcome.dns_status, asked) == ("unknown", [])
    assert outcome.certificate is not None
    assert outcome.certificate.issuer == "Demo Authority R1"


def test_the_name_stays_that_of_the_domain(authority: str) -> None:
    asked: list[bytes] = []
    with sites.site(sites.answering(sites.status(200), asked), certificates.context(HOST)) as port:
        mine, _ = probe(port, authority)
        other, _ = probe(port, authority, host="other.acme.example")
    assert mine.is_verified is True
    assert (other.is_verified, other.error) == (False, "Its certificate is for another name.")
    assert b"\r\nHost: shop.acme.example\r\n" in asked[0].replace(b":443", b"")


@pytest.mark.parametrize(
    ("dns", "status"),
    [
        ("93.184.215.14", "resolves"),
        (socket.gaierror(socket.EAI_NONAME, "x"), "unresolved"),
        (socket.gaierror(socket.EAI_AGAIN, "x"), "unknown"),
    ],
)
def test_dns_is_told_as_it_is_and_decides_nothing(authority: str, dns: Any, status: str) -> None:
    with SitesFake() as fake:
        outcome, asked = probe(fake.port, authority, host="shop.example.com", dns=dns)
    assert (outcome.reachable, outcome.http_status, outcome.dns_status) == (True, 200, status)
    assert asked == ["shop.example.com"]


def test_other_names_are_not_reached_there(authority: str) -> None:
    with SitesFake() as fake:
        outcome, _ = probe(fake.port, authority, host="shop.example.org", dns="127.0.0.1")
    assert (outcome.reachable, outcome.error) == (None, "Its address is not a public one.")


def test_nothing_that_listens_there_is_held_against_the_site(authority: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    outcome, _ = probe(port, authority)
    assert (outcome.reachable, outcome.error) == (False, "It refused the connection.")


@pytest.mark.django_db
def test_a_round_heeds_both_settings(acme: Fill, settings: LazySettings, tmp_path: Path) -> None:
    domain = make(Domain, acme.organization, app=make_app(acme.project, "it"), host=HOST, https=True)
    settings.DATA_DIR = tmp_path
    settings.EXTRA_CA_CERTS = certificates.authority().decode()
    authorities.certificates.cache_clear()
    try:
        with SitesFake(days={HOST: 12}) as fake:
            settings.PROBE_CONNECT_TO = [connect_to(f"*.acme.example:443=127.0.0.1:{fake.port}")]
            rounds.probe_round(datetime.now(UTC))
    finally:
        authorities.certificates.cache_clear()
    fact = EdgeFact.objects.get(domain=domain)
    assert (fact.reachable, fact.http_status, fact.tls_is_valid, fact.error) == (True, 200, True, None)


def test_the_systems_authorities_are_still_believed(settings: LazySettings, tmp_path: Path) -> None:
    of_system = authorities.certificates()
    settings.DATA_DIR, settings.EXTRA_CA_CERTS = tmp_path, certificates.authority().decode()
    authorities.certificates.cache_clear()
    try:
        both = Path(authorities.certificates()).read_text()
    finally:
        authorities.certificates.cache_clear()
    assert both.startswith(Path(of_system).read_text())
    assert both.endswith(settings.EXTRA_CA_CERTS)
    assert [file.stat().st_mode & 0o777 for file in tmp_path.iterdir()] == [0o600]
