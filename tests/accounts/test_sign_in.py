"""Signing in and out with an e-mail address and a password."""

import pytest
from allauth.account.models import EmailAddress
from django.core import mail

from apps.orgs.models import User
from tests.accounts.visitors import PASSWORD, person, said, sign_in, visitor, who

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("email", ["ada@example.com", "  ADA@Example.COM "])
def test_an_address_and_its_password_sign_in(email: str) -> None:
    person()
    client = visitor()
    answer = sign_in(client, email)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert who(client) == "ada@example.com"


def test_pages_of_an_account_need_somebody_signed_in() -> None:
    for address in ("/account/", "/account/password/change/", "/account/second-factor/"):
        answer = visitor().get(address)
        assert (answer.status_code, answer["Location"]) == (302, f"/account/login/?next={address}")


def test_signing_out_takes_a_form_not_a_link() -> None:
    client = visitor(person())
    assert "Sign out?" in said(client.get("/account/logout/"))
    assert who(client) == "ada@example.com"
    assert client.post("/account/logout/")["Location"] == "/account/login/"
    assert who(client) is None
    assert "You are signed out." in said(client.get("/account/login/"))


def test_a_wrong_password_and_an_unknown_address_get_the_same_page() -> None:
    person()
    pages = []
    for email in ("ada@example.com", "nobody@example.com"):
        answer = sign_in(visitor(), email, "wrong-password")
        assert answer.status_code == 200
        assert "The e-mail address or the password is not right." in said(answer)
        pages.append(said(answer))
    assert pages[0] == pages[1]


def test_a_password_is_never_sent_back() -> None:
    assert PASSWORD not in sign_in(visitor(), "nobody@example.com").content.decode()


def test_somebody_who_is_switched_off_is_told_only_with_the_right_password() -> None:
    person(is_active=False)
    client = visitor()
    assert sign_in(client)["Location"] == "/account/inactive/"
    assert "switched this account off" in said(client.get("/account/inactive/"))
    assert who(client) is None
    assert "is not right" in said(sign_in(client, password="wrong-password"))


def test_somebody_who_is_switched_off_while_signed_in_is_out() -> None:
    user = person()
    client = visitor(user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert who(client) is None


@pytest.mark.parametrize("next", ["/admin/orgs/app/", "/account/second-factor/"])
def test_one_comes_back_to_where_one_wanted_to_go(next: str) -> None:
    person()
    client = visitor()
    assert f'name="next" value="{next}"' in client.get("/account/login/", {"next": next}).content.decode()
    assert sign_in(client, next=next)["Location"] == next


@pytest.mark.parametrize(
    "next",
    [
        "https://evil.example/", "//evil.example/", "http:///evil.example", "/\\evil.example", "javascript:alert(1)",
        "\x00//evil.example", "https:evil.example", "http://localhost@evil.example/", " https://evil.example",
    ],
)  # fmt: skip
def test_one_is_not_sent_to_another_site(next: str) -> None:
    person()
    client = visitor()
    assert sign_in(client, next=next)["Location"] == "/"
    assert client.get("/account/login/", {"next": next})["Location"] == "/"
    assert client.post("/account/logout/", {"next": next})["Location"] == "/account/login/"


def test_too_many_wrong_passwords_stop_even_the_right_one(settings: object) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_LIMITS  # type: ignore[attr-defined]
    person()
    for _ in range(5):
        sign_in(visitor(), password="wrong-password")
    assert "Too many attempts" in said(sign_in(visitor()))
    assert sign_in(visitor(), "other@example.com", "wrong-password").status_code == 200


def test_too_many_attempts_from_one_address_get_429(settings: object) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login": "2/m/ip"}  # type: ignore[attr-defined]
    for _ in range(2):
        assert sign_in(visitor()).status_code == 200
    answer = sign_in(visitor())
    assert (answer.status_code, answer["Retry-After"]) == (429, "60")
    assert "Too many attempts" in said(answer)
    assert visitor().get("/account/login/").status_code == 200


def test_the_limit_is_for_the_client_that_a_trusted_proxy_names(settings: object) -> None:
    from ipaddress import ip_network

    settings.ACCOUNT_RATE_LIMITS = {"login": "1/m/ip"}  # type: ignore[attr-defined]
    settings.TRUSTED_PROXIES = [ip_network("127.0.0.0/8")]  # type: ignore[attr-defined]
    answers = [
        visitor().post("/account/login/", {"login": "a@example.com", "password": "x"}, headers={"X-Forwarded-For": hop})
        for hop in ("192.0.2.1", "192.0.2.2", "192.0.2.1")
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 429]


def test_rate_limits_off_is_off() -> None:
    person()
    for _ in range(35):
        assert sign_in(visitor(), password="x").status_code == 200


@pytest.mark.parametrize(
    "address",
    ["signup/", "email/", "confirm-email/", "login/code/", "password/set/", "second-factor/webauthn/", "3rdparty/"],
)
def test_pages_that_we_did_not_choose_are_not_there(address: str) -> None:
    assert visitor(person()).get(f"/account/{address}").status_code == 404


def test_the_browser_gets_cookies_that_scripts_and_other_sites_do_not() -> None:
    person()
    client = visitor()
    client.get("/account/login/")
    sign_in(client)
    for name in ("sessionid", "csrftoken"):
        assert client.cookies[name]["httponly"]
        assert client.cookies[name]["samesite"] == "Lax"


def test_the_session_lasts_as_long_as_the_browser_unless_asked() -> None:
    person()
    for more, lasts in (({}, False), ({"remember": "on"}, True)):
        client = visitor()
        sign_in(client, **more)
        assert bool(client.cookies["sessionid"]["max-age"]) is lasts


def test_the_session_changes_its_key_at_sign_in() -> None:
    person()
    client = visitor()
    session = client.session
    session["something"] = "before"
    session.save()
    before = client.cookies["sessionid"].value
    sign_in(client)
    assert client.cookies["sessionid"].value != before


def test_no_address_is_kept_beside_the_users_own() -> None:
    user = person()
    client = visitor()
    sign_in(client)
    visitor().post("/account/password/reset/", {"email": user.email})
    assert len(mail.outbox) == 1
    assert not EmailAddress.objects.exists()
    User.objects.filter(pk=user.pk).update(email="new@example.com")
    assert "is not right" in said(sign_in(visitor()))
    assert sign_in(visitor(), "new@example.com").status_code == 302


def test_a_json_request_is_answered_with_the_page() -> None:
    answer = visitor().post("/account/login/", {}, headers={"Accept": "application/json"})
    assert answer["Content-Type"].startswith("text/html")
