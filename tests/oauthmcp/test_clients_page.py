"""/account/clients/: everybody sees what they let in themselves, and can lock it out again."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AbstractBaseUser
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.oauthmcp import clients
from apps.oauthmcp.consent import SCOPE_DESCRIPTIONS
from apps.oauthmcp.models import Application, Authorization
from apps.orgs.models import Membership, User
from tests.accounts.visitors import said, visitor
from tests.factories import Fill
from tests.oauthmcp.grants import make_authorization, make_client, make_member

PAGE = "/account/clients/"


@pytest.fixture
def ada(acme: Fill) -> Membership:
    return make_member(acme.organization)


def page_of(member: Membership, query: str = "") -> str:
    answer = visitor(member.user).get(PAGE + query)
    assert answer.status_code == 200
    return said(answer).replace("\xa0", " ")


def revoke(user: AbstractBaseUser | None, authorization: Authorization, **headers: Any) -> Any:
    address = reverse("account_client_revoke", args=[authorization.pk])
    return visitor(user).post(address, follow=True)  # type: ignore[arg-type]


def test_the_page_says_who_sees_what_since_when_and_until_when(ada: Membership) -> None:
    now = timezone.now()
    User.objects.update(password_changed_at=None)
    authorization = make_authorization(
        make_client("Deploy assistant"), ada, "apps:read docs:read", created=now - timedelta(days=90)
    )
    page = page_of(ada)
    assert "Deploy assistant" in page
    assert "May look at Acme" in page
    assert "Sent back to a program on your computer" in page
    for scope, (title, _sentence) in SCOPE_DESCRIPTIONS.items():
        assert (title in page) == (scope in ("apps:read", "docs:read"))
    assert f"Let in {now - timedelta(days=90):%-d %B %Y, %H:%M} UTC" in page
    assert f"Ends {authorization.expires_at:%-d %B %Y}, unless it is used" in page


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (None, "Never"),
        (timedelta(minutes=1), "{:%-d %B %Y, %H:%M} UTC (just now)"),
        (timedelta(hours=3, minutes=7), "{:%-d %B %Y, %H:%M} UTC (3 hours ago)"),
        (timedelta(days=12), "{:%-d %B %Y, %H:%M} UTC (1 week ago)"),
    ],
)
def test_the_page_says_when_a_client_was_last_used(ada: Membership, ago: timedelta | None, words: str) -> None:
    used = ago and timezone.now() - ago
    make_authorization(make_client(), ada, last_used_at=used)
    assert f"Last used {words.format(used)}" in page_of(ada)


@pytest.mark.parametrize(
    ("used", "registered", "words"),
    [
        ("https://app.example/cb", "https://app.example/cb https://other.example/cb", "app.example May"),
        ("http://[::1]:4711/cb", "http://[::1]/cb https://other.example/cb", "a program on your computer May"),
        ("cursor://x/cb", "cursor://x/cb", "an app on your device (cursor://) May"),
        ("", "https://app.example/cb https://app.example/more", "app.example May"),
        ("", "https://app.example/cb http://127.0.0.1/cb", "app.example or a program on your computer May"),
        ("", " ".join(f"https://{n}.example/cb" for n in "abcd"), "a.example or b.example or c.example or others May"),
    ],
)
def test_the_page_says_where_a_client_was_sent_back_to(ada: Membership, used: str, registered: str, words: str) -> None:
    make_authorization(make_client(redirect_uris=registered), ada, redirect_uri=used)
    assert f"Sent back to {words}" in page_of(ada)


def test_a_client_that_cannot_stay_is_said_to_end_whether_it_is_used_or_not(ada: Membership) -> None:
    client = make_client(metadata={"grant_types": ["authorization_code"]})
    authorization = make_authorization(client, ada, expires_at=timezone.now() + timedelta(hours=1))
    page = page_of(ada)
    assert f"Ends {authorization.expires_at:%-d %B %Y, %H:%M} UTC" in page
    assert "unless" not in page


def test_without_clients_the_page_says_what_it_is_for_and_how_to_connect_one(ada: Membership, settings: Any) -> None:
    settings.PUBLIC_URL = "https://porthole.example.com"
    page = page_of(ada)
    assert "Nothing is connected." in page
    assert "https://porthole.example.com/mcp" in page


def test_what_opens_nothing_any_more_is_not_listed(ada: Membership) -> None:
    make_authorization(make_client("Revoked"), ada, revoked_at=timezone.now())
    make_authorization(make_client("Expired"), ada, expires_at=timezone.now())
    make_authorization(make_client("Before the password changed"), ada, created=timezone.now() - timedelta(days=1))
    User.objects.filter(pk=ada.user_id).update(password_changed_at=timezone.now())
    assert "Nothing is connected." in page_of(ada)


def test_nobody_sees_what_others_let_in(ada: Membership, acme: Fill) -> None:
    bob = make_member(acme.organization, "bob@example.com")
    make_authorization(make_client("Gadget of Bob"), bob)
    assert "Gadget" not in page_of(ada)


def test_somebody_who_is_not_signed_in_is_sent_to_sign_in(ada: Membership) -> None:
    authorization = make_authorization(make_client(), ada)
    assert visitor().get(PAGE)["Location"] == f"/account/login/?next={PAGE}"
    assert revoke(None, authorization).redirect_chain[0][0].startswith("/account/login/")
    assert Authorization.objects.active().exists()


# Revoking


def test_disconnecting_ends_that_authorization_only_and_says_so(ada: Membership) -> None:
    assistant, editor = make_client("Assistant"), make_client("Editor")
    gone, kept = make_authorization(assistant, ada), make_authorization(editor, ada)
    answer = revoke(ada.user, gone)
    assert answer.redirect_chain == [(PAGE, 302)]
    assert "Assistant is disconnected. It sees nothing of Acme any more." in said(answer)
    assert list(Authorization.objects.active()) == [kept]


def test_disconnecting_twice_is_no_error_and_keeps_the_first_time(ada: Membership) -> None:
    authorization = make_authorization(make_client(), ada)
    revoke(ada.user, authorization)
    first = Authorization.objects.get().revoked_at
    assert revoke(ada.user, authorization).status_code == 200
    assert Authorization.objects.get().revoked_at == first


def test_nobody_disconnects_what_others_let_in(ada: Membership, acme: Fill) -> None:
    authorization = make_authorization(make_client(), make_member(acme.organization, "bob@example.com"))
    assert revoke(ada.user, authorization).status_code == 404
    assert Authorization.objects.active().exists()


def test_only_a_form_of_our_own_disconnects(ada: Membership) -> None:
    authorization = make_authorization(make_client(), ada)
    address = reverse("account_client_revoke", args=[authorization.pk])
    assert visitor(ada.user).get(address).status_code == 405
    strict = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    strict.force_login(ada.user)
    assert strict.post(address).status_code == 403
    assert Authorization.objects.active().exists()


@pytest.mark.parametrize("id", ["x", "1", "00000000-0000-0000-0000-000000000000", "%00", "a" * 3000])
def test_an_id_that_names_nothing_is_not_found(ada: Membership, id: str) -> None:
    assert visitor(ada.user).post(f"{PAGE}{id}/revoke/").status_code == 404


# Names


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Claude", "Claude"),
        ("  Claude \n\t Code ", "Claude Code"),
        ("Bank\u202egnp.exe", "Bankgnp.exe"),
        ("Cl\u200bau\u200dde\ufeff\u2066\u00ad", "Claude"),
        ("a\x00b\x1bc\x7fd", "abcd"),
        ("Line\u2028break", "Line break"),
        ("\U000e0041hidden", "hidden"),
        ("é" * 200, "é" * 99 + "…"),
        ("日本語", "日本語"),
        ("", "An app without a name"),
        ("\u200b \u202e", "An app without a name"),
    ],
)
def test_a_name_is_shown_as_one_short_line_of_what_can_be_seen(name: str, shown: str) -> None:
    assert Application(name=name).display_name == shown


def test_a_name_is_text_and_nothing_else(ada: Membership) -> None:
    authorization = make_authorization(make_client("<b>Bold</b>\u202e"), ada)
    page = visitor(ada.user).get(PAGE).content.decode()
    assert "&lt;b&gt;Bold&lt;/b&gt;" in page
    assert "<b>" not in page
    assert "<b>" not in revoke(ada.user, authorization).content.decode()


# Many


def test_the_page_asks_as_many_queries_for_fifty_clients_as_for_one(ada: Membership) -> None:
    browser = visitor(ada.user)
    counts = []
    for number in (1, 49):
        for count in range(number):
            make_authorization(make_client(f"Client {number} {count}"), ada)
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(PAGE).content.decode().count("Disconnect<") in (1, 50)
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 5


def test_many_clients_come_in_pages(ada: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "PER_PAGE", 2)
    for number in range(3):
        created = timezone.now() - timedelta(minutes=number)
        User.objects.update(password_changed_at=None)
        make_authorization(make_client(f"Client {number}"), ada, created=created)
    first, second = page_of(ada), page_of(ada, "?page=2")
    assert "Client 0" in first
    assert "Client 1" in first
    assert "Page 1 of 2 Older" in first
    assert "Client 2" in second
    assert "Newer Page 2 of 2" in second
    for odd in ("?page=9999", "?page=x", "?page=-1", "?page=%00"):
        assert "Client" in page_of(ada, odd)


def test_the_account_page_leads_here(ada: Membership) -> None:
    assert f'href="{PAGE}"' in visitor(ada.user).get("/account/").content.decode()
