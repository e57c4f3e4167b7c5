"""Which of an organization's credentials a repository is asked for with."""

import pytest

from apps.net.encryption import encrypt_credential
from apps.orgs.models import Organization, SourceConnection
from apps.sources.access import access_to, is_below
from apps.sources.models import SourceCredentials
from tests.factories import START, Fill, make

pytestmark = pytest.mark.django_db
URL = "https://git.example.com/acme/shop.git"


def connect(organization: Organization, name: str, base_url: str = "https://git.example.com", **columns: str) -> str:
    connection = make(SourceConnection, organization, type="gitea", name=name, base_url=base_url, **columns)
    SourceCredentials.objects.create(
        connection=connection, kind="access_token", base_url=base_url, encrypted_secret=encrypt_credential(name),
        checked_at=START,
    )  # fmt: skip
    return connection.id


def chosen(fill: Fill, connection_id: str = "", url: str = URL) -> str | None:
    stored = access_to(fill.organization.id, connection_id, url).stored
    return stored.connection.name if stored else None


def test_those_of_the_applications_own_connection_come_first(acme: Fill) -> None:
    first, second = connect(acme.organization, "first"), connect(acme.organization, "second")
    assert chosen(acme, first) == "first"
    assert chosen(acme, second) == "second"
    assert chosen(acme, acme.connection.id) in ("first", "second")


def test_then_those_of_the_owner_the_default_and_the_most_exact_address(acme: Fill) -> None:
    connect(acme.organization, "far")
    assert chosen(acme) == "far"
    connect(acme.organization, "near", "https://git.example.com/acme")
    assert chosen(acme) == "near"
    acme.organization.default_connection_id = connect(acme.organization, "default")
    acme.organization.save()
    assert chosen(acme) == "default"
    connect(acme.organization, "owner's", account_login="acme")
    assert chosen(acme) == "owner's"


def test_another_hosts_and_another_organizations_never(acme: Fill, rival: Fill) -> None:
    connect(rival.organization, "rival's")
    for base_url in ("https://git.example.com:8443", "https://git.example.co", "https://git.example.com/acm",
                     "https://git.example.com/acme/shop.git", "http://git.example.com"):  # fmt: skip
        connect(acme.organization, base_url, base_url)
    assert chosen(acme) is None
    assert chosen(rival) == "rival's"


@pytest.mark.parametrize(
    ("url", "base_url", "is_so"),
    [
        (URL, "https://git.example.com", True), (URL, "https://git.example.com/", True),
        (URL, "https://git.example.com/acme", True), (URL, "https://git.example.com/ac", False),
        ("https://git.example.com.evil.example/a.git", "https://git.example.com", False),
        ("https://git.example.com@evil.example/a.git", "https://git.example.com", False),
        ("https://git.example.com", "https://git.example.com", False),
    ],
)  # fmt: skip
def test_what_is_below_a_hosts_address(url: str, base_url: str, is_so: bool) -> None:
    assert is_below(url, base_url) is is_so


def test_of_public_hosts_the_api_may_be_asked_without_any(acme: Fill) -> None:
    access = access_to(acme.organization.id, "", "https://github.com/acme/shop.git")
    assert access.host is not None
    assert access.authorization() is None
    assert access_to(acme.organization.id, "", URL).host is None
