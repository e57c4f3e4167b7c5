"""Nothing typed is lost when a form is refused: because it is wrong, because it comes too late, or after a sign-out."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.orgs.models import Invitation, Organization, User
from tests.accounts.visitors import PASSWORD, Fields, said, visitor

pytestmark = pytest.mark.django_db
SIGN_IN = "/account/login/"
ADD = "/admin/orgs/invitation/add/"
CONNECT = "/admin/orgs/platform/connect/"
HERE = {"sec-fetch-site": "same-origin"}
TYPED = {"login": "ada@example.com", "password": "hunter2-hunter2", "remember": "on"}


@pytest.fixture
def strict() -> Client:
    """A browser whose forms are checked, and come from here."""
    return Client(headers={"host": "localhost", **HERE}, enforce_csrf_checks=True)


@pytest.fixture
def acme_org() -> Organization:
    return Organization.objects.create(slug="north", name="North")


def fields_of(answer: Any) -> dict[str, str]:
    return Fields(answer.content.decode()).names


# Because it is wrong


@pytest.mark.parametrize(
    ("address", "typed", "lost"),
    [
        (SIGN_IN, {"login": "ada@example.com", "password": "hunter2"}, "hunter2"),
        (SIGN_IN, {"login": "ada@nowhere", "password": "hunter2"}, "hunter2"),
        ("/account/password/reset/", {"email": "ada@nowhere"}, "hunter2"),
    ],
)
def test_a_form_that_is_wrong_comes_back_with_what_was_typed(address: str, typed: dict[str, str], lost: str) -> None:
    page = visitor().post(address, typed).content.decode()
    for name, value in typed.items():
        assert (f'value="{value}"' in page) is (value != lost), name


def test_whoever_is_invited_keeps_the_name_that_was_typed(acme_org: Organization) -> None:
    invitation = Invitation(organization=acme_org, email="ada@example.com")
    token = invitation.new_token()
    invitation.save()
    answer = visitor().post(
        f"/account/invitations/{token}/", {"name": "Ada Lovelace", "password1": "hunter2", "password2": "other"}
    )
    assert fields_of(answer)["name"] == "Ada Lovelace"
    assert "hunter2" not in answer.content.decode()


def test_connecting_a_platform_keeps_all_but_the_key(acme_org: Organization) -> None:
    operator = visitor(User.objects.create_superuser("ops@example.com", PASSWORD))
    typed = {"organization": "north", "kind": "coolify", "url": "no address", "name": "mine", "reads_previews": "on"}
    page = operator.post(CONNECT, typed | {"api_key": "hunter2"}).content.decode()
    for kept in ('value="north"', '<option value="coolify" selected>', 'value="no address"', 'value="mine"'):
        assert kept in page
    assert re.search(r'name="reads_previews"[^>]* checked', page)
    assert "hunter2" not in page


# Because it comes too late


def test_an_old_page_comes_back_with_what_was_typed_but_no_password(strict: Client) -> None:
    answer = strict.post(SIGN_IN, TYPED)
    assert answer.status_code == 403
    assert "This page was open for too long" in said(answer)
    assert answer["Cache-Control"] == "no-store"
    assert "hunter2" not in answer.content.decode()
    again = fields_of(answer)
    assert again.pop("csrfmiddlewaretoken")
    assert again == {"login": "ada@example.com", "remember": "on"}
    answer = strict.post(SIGN_IN, fields_of(answer))
    assert answer.status_code == 200
    assert fields_of(answer)["login"] == "ada@example.com"


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "cross-site", "origin": "http://localhost"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {},
    ],
)
def test_another_sites_form_is_offered_to_nobody(headers: dict[str, str]) -> None:
    """One more click, and it would be sent with a token of ours."""
    operator = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    operator.force_login(User.objects.create_superuser("ops@example.com", PASSWORD))
    answer = operator.post(ADD, {"email": "eve@example.com"}, headers=headers)
    assert answer.status_code == 403
    assert "This is not allowed" in said(answer)
    assert "eve@example.com" not in answer.content.decode()
    assert "csrfmiddlewaretoken" not in answer.content.decode()


def test_a_browser_that_only_tells_the_origin_is_believed() -> None:
    old = Client(headers={"host": "localhost", "origin": "http://localhost"}, enforce_csrf_checks=True)
    assert "open for too long" in said(old.post(SIGN_IN, TYPED))


def test_a_decision_about_an_app_is_not_kept_for_later(strict: Client) -> None:
    answer = strict.post("/api/auth/mcp/authorize", {"handle": "x", "decision": "allow"})
    assert "This is not allowed" in said(answer)


def test_what_was_typed_does_not_become_markup(strict: Client) -> None:
    page = strict.post(SIGN_IN, {"login": '"><script>alert(1)</script>'}).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


# After a sign-out


def test_an_operator_who_was_signed_out_sends_the_form_again(strict: Client, acme_org: Organization) -> None:
    operator = User.objects.create_superuser("ops@example.com", PASSWORD)
    strict.force_login(operator)
    token = fields_of(strict.get(ADD))["csrfmiddlewaretoken"]
    del strict.cookies["sessionid"]
    typed = {"organization": acme_org.pk, "email": "ada@example.com", "role": "owner"}
    answer = strict.post(ADD, typed | {"csrfmiddlewaretoken": token})
    assert answer.status_code == 403
    assert "You were signed out meanwhile" in said(answer)
    assert not Invitation.objects.exists()

    strict.force_login(operator)
    fields = fields_of(answer)
    assert fields.items() >= typed.items()
    strict.post(ADD, fields)
    assert Invitation.objects.get().email == "ada@example.com"


def test_whoever_only_opens_a_page_is_sent_to_sign_in(strict: Client) -> None:
    assert strict.get(ADD)["Location"].startswith("/admin/login/")


def test_a_form_without_text_leads_to_signing_in(strict: Client) -> None:
    token = fields_of(strict.get(SIGN_IN))["csrfmiddlewaretoken"]
    answer = strict.post("/account/password/change/", {"oldpassword": "x", "csrfmiddlewaretoken": token})
    assert answer.status_code == 302
