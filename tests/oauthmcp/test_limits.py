"""How often an address may ask what needs no sign-in."""

from typing import Any

import pytest
from django.test import Client

from apps.oauthmcp import limits
from apps.web.limits import Buckets

REGISTRATION = {"redirect_uris": ["https://example.com/cb"], "token_endpoint_auth_method": "none"}


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:DB8:1:2::", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::1", "::"),
        ("::ffff:c000:201", "192.0.2.1"),
        ("unix:", "unix:"),
        ("", ""),
    ],
)
def test_a_subscriber_counts_once(address: str, network: str) -> None:
    assert limits.network_of(address) == network


@pytest.fixture
def two_each(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(limits, "REGISTRATIONS", Buckets(burst=2, per_second=0.01))


def register(address: str) -> Any:
    return Client().post("/api/auth/mcp/register", REGISTRATION, content_type="application/json", REMOTE_ADDR=address)


@pytest.mark.usefixtures("db", "two_each")
def test_who_registers_too_often_waits_and_nobody_else_does() -> None:
    assert [register("2001:db8::1").status_code for _ in range(2)] == [201, 201]
    refused = register("2001:db8::2")
    assert (refused.status_code, refused.json()["error"]) == (429, "temporarily_unavailable")
    assert 90 <= int(refused["Retry-After"]) <= 100
    assert refused["Cache-Control"] == "no-store"
    assert register("2001:db8:0:1::1").status_code == 201
    assert register("192.0.2.1").status_code == 201


@pytest.mark.usefixtures("db", "two_each")
def test_without_limits_nobody_waits(settings: Any) -> None:
    settings.RATE_LIMITS = False
    assert [register("192.0.2.1").status_code for _ in range(4)] == [201] * 4
