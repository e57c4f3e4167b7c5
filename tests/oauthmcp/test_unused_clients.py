"""Clients that were never authorized: registering is never refused because of them, and the right ones go."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.oauthmcp import unused_clients
from apps.oauthmcp.models import BUILT_IN, Application, Authorization
from apps.oauthmcp.unused_clients import CHECK_EVERY_N, origin_of
from tests.accounts.visitors import visitor
from tests.factories import Fill
from tests.oauthmcp.authorizing import ask, came_back, decide
from tests.oauthmcp.grants import REDIRECT_URI, make_authorization, make_client, make_member

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quota(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has just started."""
    monkeypatch.setattr(unused_clients, "quota", unused_clients.UnusedClientQuota())


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unused_clients, "MAX_UNUSED", 3)
    monkeypatch.setattr(unused_clients, "MAX_UNUSED_TOTAL", 5)
    monkeypatch.setattr(unused_clients, "CHECK_EVERY_N", 1)
    monkeypatch.setattr(unused_clients, "BATCH", 2)


@pytest.fixture
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unused_clients, "MAX_OF_ADDRESS", 2)
    monkeypatch.setattr(unused_clients, "MAX_OF_NETWORK", 4)
    monkeypatch.setattr(unused_clients, "CHECK_EVERY_N", 1)
    monkeypatch.setattr(unused_clients, "SURPLUS", 1)


def register(name: str, address: str = "192.0.2.1") -> Application:
    said = {"redirect_uris": [REDIRECT_URI], "client_name": name}
    answer = Client().post("/api/auth/mcp/register", said, content_type="application/json", REMOTE_ADDR=address)
    assert answer.status_code == 201, answer.content
    return Application.objects.get(client_id=answer.json()["client_id"])


def make_old(name: str, hours: float, **fields: Any) -> None:
    client = make_client(name, **fields)
    Application.objects.filter(pk=client.pk).update(created=timezone.now() - timedelta(hours=hours))


def names() -> set[str]:
    return set(Application.objects.exclude(client_id__in=BUILT_IN).values_list("name", flat=True))


def test_registering_is_one_statement_and_three_looks_once_in_a_while(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    def send() -> None:
        said = {"redirect_uris": [REDIRECT_URI]}
        assert Client().post("/api/auth/mcp/register", said, content_type="application/json").status_code == 201

    with django_assert_num_queries(4):
        send()
    with django_assert_num_queries(CHECK_EVERY_N - 1):
        for _ in range(CHECK_EVERY_N - 1):
            send()
    with django_assert_num_queries(4):
        send()


# Each origin's share


def test_of_each_origin_a_process_remembers_when_it_looked_and_of_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    def looks(address: str) -> int:
        with CaptureQueriesContext(connection) as statements:
            register("anything", address)
        return sum("COUNT" in one["sql"] or "registrant" in one["sql"].partition("WHERE")[2] for one in statements)

    assert [looks("192.0.2.1"), looks("198.51.100.7"), looks("192.0.2.1")] == [3, 2, 0]
    monkeypatch.setattr(unused_clients, "MAX_ORIGINS", 4)
    assert [looks("192.0.2.1"), looks("192.0.2.1")] == [3, 0]


@pytest.mark.usefixtures("small_shares")
def test_who_registers_much_pushes_out_their_own_oldest() -> None:
    register("mine", "198.51.100.7")
    for number in range(5):
        register(f"flood {number}", "192.0.2.1")
    assert names() == {"mine", "flood 3", "flood 4"}


@pytest.mark.usefixtures("small_shares")
@pytest.mark.parametrize(
    ("addresses", "outside"),
    [
        ([f"192.0.2.{host}" for host in range(1, 9)], "192.0.3.1"),
        ([f"2001:db8:1:{subnet}::1" for subnet in range(1, 9)], "2001:db8:2:1::1"),
    ],
)
def test_a_network_has_a_share_beside_that_of_each_address(addresses: list[str], outside: str) -> None:
    register("mine", outside)
    for address in addresses:
        register(address, address)
    assert names() == {"mine", *addresses[-4:]}


@pytest.mark.usefixtures("small_shares")
def test_addresses_of_one_subscriber_share() -> None:
    for host in range(1, 5):
        register(f"{host}", f"2001:db8:1:1::{host}")
    assert names() == {"3", "4"}


@pytest.mark.usefixtures("small_shares")
def test_a_client_whose_consent_page_is_open_does_not_go(acme: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = visitor(make_member(acme.organization).user)
    client = register("asked for")
    page = ask(browser, client)
    for number in range(5):
        register(f"flood {number}")
    assert came_back(decide(browser, page))["code"]
    Application.objects.update(authorized_at=None, requested_at=timezone.now() - timedelta(minutes=21))
    Application.objects.filter(pk=client.pk).update(registrant_address=origin_of("192.0.2.1").address)
    register("another")
    assert "asked for" not in names()


def test_opening_a_consent_page_again_writes_nothing(acme: Fill) -> None:
    browser = visitor(make_member(acme.organization).user)
    client = make_client()
    ask(browser, client)
    first = Application.objects.get(pk=client.pk).requested_at
    assert first is not None
    ask(browser, client)
    assert Application.objects.get(pk=client.pk).requested_at == first


def test_where_a_client_registered_is_a_keyed_hash_and_forgotten_once_it_is_used(acme: Fill, settings: Any) -> None:
    client = register("used", "192.0.2.1")
    before = origin_of("192.0.2.1")
    assert (client.registrant_address, client.registrant_network) == (before.address, before.network)
    assert len({before.address, before.network}) == 2
    browser = visitor(make_member(acme.organization).user)
    came_back(decide(browser, ask(browser, client)))
    client.refresh_from_db()
    assert (client.registrant_address, client.registrant_network) == ("", "")
    settings.SECRET_KEY = "another"
    assert origin_of("192.0.2.1") != before


# All together


@pytest.mark.usefixtures("small")
def test_beyond_the_bound_the_oldest_unused_client_goes() -> None:
    for name, hours in (("b", 26), ("a", 48), ("c", 25)):
        make_old(name, hours)
    register("d")
    assert names() == {"b", "c", "d"}
    register("e")
    assert names() == {"c", "d", "e"}


@pytest.mark.usefixtures("small")
def test_below_the_bound_none_goes() -> None:
    make_old("a", 1000)
    make_old("b", 1000)
    register("c")
    assert names() == {"a", "b", "c"}


@pytest.mark.usefixtures("small")
def test_clients_in_use_ours_and_an_operators_stay(acme: Fill) -> None:
    Application.objects.filter(client_id__in=BUILT_IN).update(created=timezone.now() - timedelta(days=900))
    for number in range(5):
        make_old(f"operator's {number}", 1000, registration_source="manual")
        make_old(f"used {number}", 1000, authorized_at=timezone.now())
    used = Application.objects.get(name="used 0")
    make_authorization(used, make_member(acme.organization))
    for number in range(4):
        make_old(f"unused {number}", 30 - number)
    register("new")
    assert len(names()) == 5 + 5 + 3
    assert {"unused 2", "unused 3", "new"} <= names()
    assert Application.objects.filter(client_id__in=BUILT_IN).count() == 2
    assert Authorization.objects.count() == 1


@pytest.mark.usefixtures("small")
def test_a_client_may_be_about_to_be_let_in_for_a_day() -> None:
    for name in "abcd":
        make_old(name, 23.9)
    register("e")
    assert names() == set("abcde")


@pytest.mark.usefixtures("small")
def test_when_all_room_is_taken_by_new_ones_the_oldest_of_them_go() -> None:
    for age, name in enumerate("edcba", start=1):
        make_old(name, age)
    register("f")
    assert names() == set("cdef")
    register("g")
    assert names() == set("cdefg")


@pytest.mark.usefixtures("small")
def test_a_bad_registration_pushes_nobody_out() -> None:
    for name in "abc":
        make_old(name, 48)
    assert Client().post("/api/auth/mcp/register", {}, content_type="application/json").status_code == 400
    assert names() == set("abc")
