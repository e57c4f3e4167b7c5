"""Who a client is: the right-most hop that is no trusted proxy, in one form however proxies write it."""

from ipaddress import ip_network
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from apps.net.addresses import plain_address
from apps.web.middleware import RequestMiddleware


@pytest.mark.parametrize(
    ("hop", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        (" 192.0.2.1 ", "192.0.2.1"),
        ("192.0.2.1:50123", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("2001:DB8:0:0::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("::ffff:a00:1", "10.0.0.1"),
        ("[::ffff:10.0.0.1]:80", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("[fe80::1%25eth0]:80", "fe80::1"),
        ("", ""),
        ("unknown", ""),
        ("_hidden", ""),
        ("192.0.2.1:", ""),
        ("192.0.2.1:port", ""),
        ("192.0.2.1:123456", ""),
        ("192.0.2", ""),
        ("192.0.2.256", ""),
        ("[2001:db8::1", ""),
        ("2001:db8::1]:80", ""),
        ("[192.0.2.1]x", ""),
        ("evil.example", ""),
        ("1" * 5000, ""),
    ],
)
def test_an_address_is_read_as_proxies_write_it(hop: str, address: str) -> None:
    assert plain_address(hop) == address


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("192.0.2.1", "203.0.113.1", "192.0.2.1"),  # not from a proxy: anybody can write that
        ("10.0.0.1", "203.0.113.1", "203.0.113.1"),
        ("::ffff:10.0.0.1", "203.0.113.1:50123", "203.0.113.1"),
        ("10.0.0.1", "made up, 203.0.113.1:50123, [::ffff:10.0.0.2]:80", "203.0.113.1"),
        ("10.0.0.1", "[2001:db8::1]:50123", "2001:db8::1"),
        ("10.0.0.1", "203.0.113.1, unknown", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.1, unknown, 10.0.0.2", "10.0.0.2"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", " , ,203.0.113.1,", "203.0.113.1"),
        ("", "203.0.113.1", ""),  # a socket of this machine's own
    ],
)
def test_the_client_is_the_last_hop_that_is_no_trusted_proxy(
    rf: RequestFactory, settings: Any, peer: str, forwarded: str, client: str
) -> None:
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    seen = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(request.client_address)  # type: ignore[attr-defined]
        return HttpResponse()

    request = rf.get("/healthz", REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR=forwarded)
    RequestMiddleware(view)(request)
    assert seen == [client]
