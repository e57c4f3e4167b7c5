"""One check of a site: what is told of sites that answer well, badly, slowly or not at all, and what is not probed."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from ipaddress import ip_network
from threading import Event

import pytest

from apps.orgs.certificates import certificate_status
from apps.platforms.edge import probe as probe_module
from apps.platforms.edge.lookups import Lookups
from apps.platforms.edge.probe import Prober
from apps.platforms.edge.request import MAX_BYTES
from apps.platforms.edge.targets import Outcome, Target
from tests.fakes import certificates
from tests.platforms.edge import sites

LOOPBACK = [ip_network("127.0.0.0/8")]
OK = sites.status(200)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> str:
    return certificates.write_authority(tmp_path_factory.mktemp("certificates"))


def resolving(**hosts: object) -> Lookups:
    """Every name leads to 127.0.0.1, but those that are given lead to their addresses, or raise their error."""

    def resolve(host: str, port: None, type: int) -> Iterator[tuple[object, ...]]:
        found = hosts.get(host.split(".", maxsplit=1)[0], ["127.0.0.1"])
        if isinstance(found, Exception):
            raise found
        return iter([(2, type, 6, "", (address, 0)) for address in found])

    return Lookups(resolve)


def probe(*targets: Target, authority: str | None = None, budget: float = 5.0, **hosts: object) -> list[Outcome]:
    return Prober(LOOPBACK, resolving(**hosts), authority, budget).probe(targets)


def at(port: int, host: str = "site.example.com", path: str = "/", *, is_https: bool = False) -> Target:
    return Target("key", host, path, is_https, port)


def seen(behaviour: sites.Behaviour, budget: float = 5.0) -> Outcome:
    with sites.site(behaviour) as port:
        return probe(at(port), budget=budget)[0]


# What answers


def test_an_answer_is_told_with_its_status_and_time() -> None:
    outcome = seen(sites.answering(OK))
    assert (outcome.reachable, outcome.http_status, outcome.dns_status, outcome.error) == (True, 200, "resolves", None)
    assert outcome.latency_ms is not None
    assert outcome.latency_ms < 5000
    assert outcome.is_verified is outcome.certificate is None


def test_the_request_names_the_site_the_path_and_porthole() -> None:
    asked: list[bytes] = []
    with sites.site(sites.answering(OK, asked)) as port:
        probe(at(port, path="/a b/%20é/../c"))
    line, *headers = asked[0].decode().split("\r\n")
    assert line == "GET /a%20b/%20%C3%A9/../c HTTP/1.1"
    assert f"Host: site.example.com:{port}" in headers
    assert any(header.startswith("User-Agent: Porthole") for header in headers)


@pytest.mark.parametrize("status", [204, 301, 404, 500, 503])
def test_every_status_is_an_answer(status: int) -> None:
    outcome = seen(sites.answering(sites.status(status, body=b"")))
    assert (outcome.reachable, outcome.http_status) == (True, status)


def test_a_redirect_is_not_followed() -> None:
    asked: list[bytes] = []
    with sites.site(sites.answering(OK, asked)) as inner:
        location = f"Location: http://127.0.0.1:{inner}/\r\n"
        with sites.site(sites.answering(sites.status(302, location))) as port:
            outcome = probe(at(port))[0]
    assert (outcome.reachable, outcome.http_status, asked) == (True, 302, [])


def test_a_redirect_to_the_metadata_service_is_an_answer_and_no_more() -> None:
    outcome = seen(sites.answering(sites.status(307, "Location: http://169.254.169.254/latest/meta-data/\r\n")))
    assert (outcome.reachable, outcome.http_status, outcome.error) == (True, 307, None)


def test_of_a_body_without_an_end_64_kib_are_read() -> None:
    sent: list[int] = []
    outcome = seen(sites.endless(sent))
    assert (outcome.reachable, outcome.http_status) == (True, 200)
    assert MAX_BYTES <= sum(sent) < 8 * 2**20  # what did not fit into the socket's buffers was never sent


def test_headers_without_an_end_are_left() -> None:
    assert seen(sites.endless_headers).http_status == 200


def test_an_answer_that_comes_bit_by_bit_counts_when_it_begins() -> None:
    def slowly(connection: socket.socket, over: Event) -> None:
        sites.request_of(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n")
        over.wait(10)

    assert seen(slowly, budget=0.3).http_status == 200


# What does not


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (sites.silent, "It did not answer within 5 seconds."),
        (sites.reading_then_silent, "It did not answer within 5 seconds."),
        (sites.hanging_up, "It closed the connection without an answer."),
        (sites.answering(b"SSH-2.0-OpenSSH_9.9\r\n"), "What it answered is not HTTP."),
        (sites.answering(b"HTTP/1.1 100 Continue\r\n\r\n"), "It closed the connection without an answer."),
    ],
)
def test_a_site_that_does_not_answer_is_not_reachable(behaviour: sites.Behaviour, error: str) -> None:
    outcome = seen(behaviour, budget=0.3)
    assert (outcome.reachable, outcome.http_status, outcome.latency_ms, outcome.error) == (False, None, None, error)


def test_a_closed_port_is_not_reachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    outcome = probe(at(port))[0]
    assert (outcome.reachable, outcome.error) == (False, "It refused the connection.")


@pytest.mark.soak
@pytest.mark.slow
def test_a_check_takes_five_seconds_and_hundreds_take_no_longer() -> None:
    with sites.site(sites.silent) as port:
        began = time.monotonic()
        outcomes = probe(*[at(port)] * 100)
        assert 4.9 < time.monotonic() - began < 8
    assert {outcome.reachable for outcome in outcomes} == {False}


def test_tls_that_never_comes_is_told() -> None:
    with sites.site(sites.silent) as port:
        outcome = probe(at(port, is_https=True), budget=0.3)[0]
    assert (outcome.reachable, outcome.error) == (False, "It agreed on no encryption within 5 seconds.")


def test_plain_http_where_tls_belongs_is_told() -> None:
    with sites.site(lambda connection, over: connection.sendall(OK)) as port:
        outcome = probe(at(port, is_https=True))[0]
    assert (outcome.reachable, outcome.error) == (False, "No encryption could be agreed on.")


# Certificates


@pytest.mark.parametrize(
    ("host", "days", "is_self_signed", "status", "error"),
    [
        ("site.example.com", 90, False, "valid", None),
        ("site.example.com", 20, False, "expiring", None),
        ("site.example.com", -5, False, "expired", "Its certificate has expired."),
        ("other.example.com", 90, False, "invalid", "Its certificate is for another name."),
        ("site.example.com", 90, True, "invalid", "Its certificate is self-signed."),
        ("site.example.com", -5, True, "expired", "Its certificate is self-signed."),
    ],
)
def test_a_certificate_is_judged_and_told_also_where_it_is_refused(
    authority: str, host: str, days: int, is_self_signed: bool, status: str, error: str | None
) -> None:
    context = certificates.context(host, days, is_self_signed=is_self_signed)
    with sites.site(sites.answering(OK), context) as port:
        outcome = probe(at(port, is_https=True), authority=authority)[0]
    assert outcome.certificate is not None
    assert outcome.certificate.not_after == certificates.NOW + timedelta(days=days)
    assert outcome.certificate.issuer == ("site.example.com" if is_self_signed else "Demo Authority R1")
    columns = {"edge__tls_not_after": outcome.certificate.not_after, "edge__tls_is_valid": outcome.is_verified}
    assert certificate_status(columns, certificates.NOW) == status
    assert (outcome.error, outcome.reachable, outcome.http_status) == (error, True, 200)


def test_an_authority_that_nobody_trusts_is_told() -> None:
    with sites.site(sites.answering(OK), certificates.context("site.example.com")) as port:
        outcome = probe(at(port, is_https=True))[0]  # by the system's authorities
    assert (outcome.is_verified, outcome.reachable) == (False, True)
    assert outcome.error == "Its certificate is from an authority that browsers do not know."


# What is not probed


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "127.0.0.1.", "[::1]", "*.example.com", "a b", "",
     "-a.b", "site.example.com:80", "user@site.example.com", "site.example.com/x", "site.example.com\r\nX: y",
     "fe80::1%lo", "a." + "b" * 64 + ".example.com"],
)  # fmt: skip
def test_a_host_that_parsers_may_differ_on_is_not_asked_for(host: str) -> None:
    assert_refused(host, "Its host is not a name that can be looked up.")


@pytest.mark.parametrize("host", ["shop.acme.example", "SHOP.ACME.EXAMPLE", "shop.invalid"])
def test_a_name_for_examples_is_not_looked_up_and_is_no_bad_news(host: str) -> None:
    assert_refused(host, "Its name is reserved for examples, and is never there.", shop=["93.184.215.14"])


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "255.255.255.255", "::1", "::", "fe80::1", "fd00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
     "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "2002:7f00:1::", "::127.0.0.1"],
)  # fmt: skip
def test_an_address_that_is_not_public_is_not_connected_to(address: str) -> None:
    if ":" not in address or "." not in address:  # those are written in another way
        assert_refused(address, "Its address is not a public one.", literal=[address])
    assert_refused("site.example.com", "Its address is not a public one.", site=[address])
    assert_refused("site.example.com", "Its address is not a public one.", site=["93.184.215.14", address])


def assert_refused(host: str, error: str, literal: list[str] | None = None, **hosts: list[str]) -> None:
    """No connection comes, whatever port it would be."""
    if literal is not None:
        hosts[host.split(".", maxsplit=1)[0]] = literal
    asked: list[bytes] = []
    with sites.site(sites.answering(OK, asked)) as port:
        outcome = Prober((), resolving(**hosts)).probe([at(port, host)])[0]
    assert (outcome.reachable, outcome.error, outcome.http_status, asked) == (None, error, None, [])


def test_a_name_that_changes_its_address_is_asked_for_once() -> None:
    """DNS rebinding: the address that was checked is the one that is connected to."""
    answers = [["127.0.0.1"], ["127.0.0.2"]]
    asked: list[str] = []

    def resolve(host: str, port: None, type: int) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(2, type, 6, "", (address, 0)) for address in answers[min(len(asked), 2) - 1]]

    with sites.site(sites.answering(OK)) as port:  # at 127.0.0.1 only
        outcome = Prober([ip_network("127.0.0.1/32")], Lookups(resolve)).probe([at(port, "rebinding.example.com")])[0]
    assert (outcome.reachable, outcome.http_status, asked) == (True, 200, ["rebinding.example.com"])


def test_what_the_environment_says_of_proxies_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert seen(sites.answering(OK)).http_status == 200


# Names


def test_a_name_that_is_not_there_is_unresolved() -> None:
    outcome = probe(at(1), site=socket.gaierror(socket.EAI_NONAME, "x"))[0]
    assert (outcome.reachable, outcome.dns_status, outcome.error) == (False, "unresolved", "Its name does not resolve.")


def test_a_name_that_nobody_could_tell_about_counts_where_others_could_be_looked_up() -> None:
    silent = socket.gaierror(socket.EAI_AGAIN, "x")
    with sites.site(sites.answering(OK)) as port:
        good, bad = probe(at(port, "good.example.com"), at(port, "bad.example.com"), bad=silent)
    assert good.reachable is True
    assert (bad.reachable, bad.dns_status, bad.error) == (False, "unknown", "Its name could not be looked up.")


def test_where_no_name_can_be_looked_up_nothing_is_said_of_anybody() -> None:
    silent = socket.gaierror(socket.EAI_AGAIN, "x")
    outcomes = probe(at(1, "a.example.com"), at(1, "b.example.com"), a=silent, b=silent)
    assert [outcome.reachable for outcome in outcomes] == [None, None]


def test_a_name_in_another_script_is_asked_for_in_ascii() -> None:
    asked: list[bytes] = []
    with sites.site(sites.answering(OK, asked)) as port:
        assert probe(at(port, "bücher.example.com"))[0].http_status == 200
    assert f"Host: xn--bcher-kva.example.com:{port}".encode() in asked[0]


def test_a_silent_name_server_holds_up_no_other_name_and_is_asked_once() -> None:
    over, asked = Event(), []

    def resolve(host: str, port: None, type: int) -> list[tuple[object, ...]]:
        asked.append(host)
        if host.startswith("silent"):
            over.wait(10)
        return [(2, type, 6, "", ("127.0.0.1", 0))]

    prober = Prober(LOOPBACK, Lookups(resolve, threads=2), budget=0.3)
    try:
        with sites.site(sites.answering(OK)) as port:
            targets = [at(port, "silent.example.com"), *[at(port, f"n{n}.example.com") for n in range(20)]]
            first, second = prober.probe(targets), prober.probe(targets)
    finally:
        over.set()
    for silent, *others in (first, second):
        assert (silent.reachable, silent.error) == (False, "Looking its name up took too long.")
        assert {outcome.http_status for outcome in others} == {200}
    assert asked.count("silent.example.com") == 1


def test_what_no_thread_came_to_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_module, "MAX_QUEUED", 0.1)
    over = Event()

    def resolve(host: str, port: None, type: int) -> list[tuple[object, ...]]:
        over.wait(10)
        return []

    try:
        outcomes = Prober((), Lookups(resolve, threads=1), budget=0.2).probe(
            [Target(host, host, "/", False, 1) for host in ("a.example.com", "b.example.com")]
        )
    finally:
        over.set()
    assert [outcome.key for outcome in outcomes] == ["a.example.com"]


def test_probers_in_threads_do_not_disturb_each_other() -> None:
    with sites.site(sites.answering(OK)) as port, ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: probe(*[at(port)] * 10), range(4))
        assert {outcome.http_status for outcomes in found for outcome in outcomes} == {200}
