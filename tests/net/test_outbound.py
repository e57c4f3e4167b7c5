"""Where this server may connect to."""

import socket
from ipaddress import IPv4Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.net.outbound import Destination, NotAllowed, https_destination, is_reachable, resolve_allowed
from tests.examples import examples


def resolving_to(*addresses):
    def resolve(host, port, type):
        family = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(family[":" in address], type, 6, "", (address, port)) for address in addresses]

    return resolve


def test_an_https_url_is_taken_apart_and_put_together():
    assert https_destination("https://Git.Example.com:443/a/b.git") == Destination(
        "https://git.example.com/a/b.git", "git.example.com", 443
    )
    assert https_destination("https://git.example.com:8443/a").url == "https://git.example.com:8443/a"
    assert https_destination("https://[2606:4700::1111]/a") == Destination(
        "https://[2606:4700::1111]/a", "2606:4700::1111", 443
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/a", "ssh://example.com/a", "file:///etc", "git@example.com:a/b.git", "ext::sh -c id",
        "https://user:secret@example.com/a", "https://user@example.com/a", "https://@example.com/a",
        "https:///a", "https://", "", "https://example.com/a?b=c", "https://example.com/a?", "https://example.com/a#b",
        "https://example.com/a b", "https://example.com/a\nb", "https://example.com/a\\b", "https://example.com\\@evil/",
        "https://example.com:99999/a", "https://example.com:0/a", "https://example.com:x/a", "https://[::1/a",
        "https://127.1/a", "https://0x7f.1/a", "https://2130706433/a", "https://0177.0.0.1/a", "https://example.com./a",
        "https://[fe80::1%25eth0]/a", "https://exämple.com/a", "https://-x.example/a", "https://a..b/", "https://*.b/",
        "https://example.com/" + "a" * 3000,
    ],
)  # fmt: skip
def test_a_url_that_is_not_plain_https_is_refused(url):
    with pytest.raises(NotAllowed):
        https_destination(url)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.9.9.9", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
        "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::127.0.0.1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "100::1",
        "2001:db8::1", "2001::1", "2001:10::1", "3fff::1", "4000::1", "5f00::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::808:808", "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::",
        "", "localhost", "1.2.3", "1.2.3.4.5",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_refused(address):
    assert not is_reachable(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1", "140.82.121.4", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "223.255.255.255",
        "2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1",
    ],
)  # fmt: skip
def test_a_public_address_is_allowed(address):
    assert is_reachable(address)


@examples()
@given(st.integers(0, 2**32 - 1))
def test_an_ipv4_address_is_judged_the_same_in_every_disguise(number):
    plain = is_reachable(str(IPv4Address(number)))
    high, low = number >> 16, number & 0xFFFF
    for disguise in (f"::ffff:{high:x}:{low:x}", f"64:ff9b::{high:x}:{low:x}", f"2002:{high:x}:{low:x}::1"):
        assert is_reachable(disguise) == plain


def test_a_network_that_the_operator_opened_is_allowed_and_no_other():
    opened = [ip_network("10.20.0.0/16"), ip_network("fd00:1::/32")]
    assert is_reachable("10.20.3.4", opened)
    assert is_reachable("::ffff:10.20.3.4", opened)
    assert is_reachable("fd00:1::5", opened)
    assert not is_reachable("10.21.3.4", opened)
    assert not is_reachable("fd00:2::5", opened)


def test_every_address_of_a_name_must_be_public():
    destination = https_destination("https://git.example.com/a.git")
    with pytest.raises(NotAllowed):
        resolve_allowed(destination, resolve=resolving_to("140.82.121.4", "10.0.0.1"))
    with pytest.raises(NotAllowed):
        resolve_allowed(destination, resolve=resolving_to("140.82.121.4", "::1"))
    with pytest.raises(NotAllowed):
        resolve_allowed(destination, resolve=resolving_to())


def test_the_addresses_that_were_checked_are_what_curl_is_told():
    found = resolve_allowed(
        https_destination("https://git.example.com:8443/a.git"),
        resolve=resolving_to("140.82.121.4", "2606:4700::1111", "140.82.121.4"),
    )
    assert found.addresses == ("140.82.121.4", "2606:4700::1111")
    assert found.curl_resolve == "git.example.com:8443:140.82.121.4,[2606:4700::1111]"


def test_a_name_without_an_address_is_refused():
    def resolve(host, port, type):
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    with pytest.raises(NotAllowed):
        resolve_allowed(https_destination("https://nowhere.example/a.git"), resolve=resolve)


def test_the_real_resolver_is_asked_by_default_and_loopback_is_refused():
    with pytest.raises(NotAllowed):
        resolve_allowed(https_destination("https://localhost/a.git"))
    assert resolve_allowed(
        https_destination("https://127.0.0.1/a"), allowed_networks=[ip_network("127.0.0.0/8")]
    ).addresses == ("127.0.0.1",)
