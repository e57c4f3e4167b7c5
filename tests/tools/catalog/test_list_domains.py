"""list_domains."""

from datetime import timedelta
from typing import Any

import pytest

from apps.orgs.models import Domain
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import START, Fill, make, make_app, make_edge, make_more
from tests.tools.catalog.contract import WIDEST, assert_fits, assert_limits, notation


def domain(fill: Fill, host: str, **fields: Any) -> Domain:
    return make(Domain, fill.organization, app=fill.app, host=host, **{"https": True} | fields)


def test_it_answers_what_the_contract_says() -> None:
    assert notation(TOOLS["list_domains"].item) == (
        "{id,externalId?,applicationId,applicationName,host,path,url,https,port?,certificateType:letsencrypt|custom|none|unknown,"
        "certificateStatus:valid|expiring|expired|invalid|unknown,certificateExpiresAt?,"
        "dnsStatus:resolves|unresolved|unknown,checkedAt?,isEnabled,previewId?,createdAt}"
    )


def test_everything_that_is_known_of_a_domain(api: Api, acme: Fill, stop: Any) -> None:
    acme.domain.delete()
    it = domain(
        acme, "shop.example.com", path="/cart", external_id="d1", port=3000, certificate_type="letsencrypt",
        is_enabled=False, preview=acme.preview, created_at=START,
    )  # fmt: skip
    make_edge(it, tls_not_after=START + timedelta(days=90), tls_is_valid=True, checked_at=START + timedelta(minutes=1))
    assert api("list_domains", applicationId=acme.app.id)["items"] == [
        {
            "id": it.id,
            "externalId": "d1",
            "applicationId": acme.app.id,
            "applicationName": "acme app",
            "host": "shop.example.com",
            "path": "/cart",
            "url": "https://shop.example.com/cart",
            "https": True,
            "port": 3000,
            "certificateType": "letsencrypt",
            "certificateStatus": "valid",
            "certificateExpiresAt": "2026-05-30T12:00:00.000Z",
            "dnsStatus": "resolves",
            "checkedAt": "2026-03-01T12:01:00.000Z",
            "isEnabled": False,
            "previewId": acme.preview.id,
            "createdAt": "2026-03-01T12:00:00.000Z",
        }
    ]


def test_a_domain_that_nobody_looked_at_is_unknown(api: Api, acme: Fill) -> None:
    acme.domain.delete()
    domain(acme, "new.example.com", https=False)
    (new,) = api("list_domains", applicationId=acme.app.id)["items"]
    assert {name for name, value in new.items() if value is None} == {
        "externalId", "port", "certificateExpiresAt", "checkedAt", "previewId",
    }  # fmt: skip
    assert (new["certificateType"], new["certificateStatus"], new["dnsStatus"]) == ("unknown", "unknown", "unknown")
    assert (new["url"], new["isEnabled"]) == ("http://new.example.com/", True)


@pytest.mark.parametrize(
    ("left", "is_valid", "status"),
    [
        (timedelta(days=21), True, "valid"),
        (timedelta(days=20, hours=23), True, "expiring"),
        (timedelta(days=21) - timedelta(microseconds=1), True, "expiring"),
        (timedelta(microseconds=1), None, "expiring"),
        (timedelta(0), True, "expired"),
        (-timedelta(days=1), False, "expired"),
        (timedelta(days=90), False, "invalid"),
        (timedelta(days=5), False, "invalid"),
        (timedelta(days=90), None, "valid"),
        (None, False, "invalid"),
        (None, True, "unknown"),
        (None, None, "unknown"),
    ],
)
def test_a_certificate_is_as_good_as_the_days_it_has_left(
    api: Api, acme: Fill, stop: Any, left: timedelta | None, is_valid: bool | None, status: str
) -> None:
    acme.domain.delete()
    make_edge(
        domain(acme, "x.example.com"), tls_not_after=None if left is None else START + left, tls_is_valid=is_valid
    )
    (found,) = api("list_domains", applicationId=acme.app.id)["items"]
    assert found["certificateStatus"] == status
    assert (found["certificateExpiresAt"] is None) == (left is None)


@pytest.mark.parametrize("dns", ["resolves", "unresolved", "unknown"])
@pytest.mark.parametrize("certificate", ["letsencrypt", "custom", "none", "unknown"])
def test_every_word_is_answered(api: Api, acme: Fill, dns: str, certificate: str) -> None:
    acme.domain.delete()
    make_edge(domain(acme, "x.example.com", certificate_type=certificate), dns_status=dns)
    (found,) = api("list_domains", applicationId=acme.app.id)["items"]
    assert (found["dnsStatus"], found["certificateType"]) == (dns, certificate)


def test_domains_go_by_host_then_path_then_id(api: Api, acme: Fill) -> None:
    acme.domain.delete()
    for last, host, path in (
        ("1", "b.example.com", "/x"),
        ("3", "b.example.com", "/x"),
        ("2", "b.example.com", "/x"),
        ("9", "b.example.com", "/"),
        ("0", "a.example.com", "/z"),
        ("4", "b.example.com", "/X"),
        ("7", "a-b.example.com", "/"),
    ):
        domain(acme, host, path=path, id="dom_" + last.rjust(26, "0"))
    found = api.walk("list_domains", applicationId=acme.app.id, limit=2)
    assert [(item["host"][:-12], item["path"], item["id"][-1]) for item in found] == [
        ("a-b", "/", "7"), ("a", "/z", "0"), ("b", "/", "9"), ("b", "/X", "4"), ("b", "/x", "1"), ("b", "/x", "2"),
        ("b", "/x", "3"),
    ]  # fmt: skip


def test_the_limit_is_100(api: Api, acme: Fill) -> None:
    make_more(acme, 120)
    assert_limits(api, "list_domains", default=100, maximum=100, applicationId=acme.app.id)


@pytest.mark.parametrize("character", WIDEST[:2])  # no source of rows lets a control character into a path
def test_the_longest_rows_fit(api: Api, acme: Fill, character: str) -> None:
    acme.domain.delete()
    for number in range(60):
        key = f"{number:03}".rjust(128, character)
        make_edge(
            domain(acme, "h" * 253, path="/" + character * 499, external_id=key, port=65535, preview=acme.preview)
        )
    assert_fits(api, "list_domains", 60, 100, applicationId=acme.app.id)


def test_only_this_applications_domains_are_listed(api: Api, acme: Fill, rival: Fill) -> None:
    other = make_app(acme.project, "other")
    make(Domain, acme.organization, app=other, host="other.example.com", https=True)
    found = api("list_domains", applicationId=acme.app.id)["items"]
    assert [item["host"] for item in found] == ["acme.example.com"]
    assert api.refused("list_domains", applicationId=rival.app.id) == [("applicationId", "not_found")]
