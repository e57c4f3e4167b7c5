"""What all pages under /account/ have in common: nothing from elsewhere, nothing inline, nothing kept."""

import re
from typing import Any

import pytest
from django.urls import get_resolver

from apps.accounts.invitations import invite
from apps.accounts.urls import urlpatterns
from apps.oauthmcp.account_urls import urlpatterns as clients
from apps.orgs.models import Invitation, Organization, User
from apps.web.middleware import CONTENT_SECURITY_POLICY
from tests.accounts.visitors import confirm, give_second_factor, link_in_mail, person, visitor
from tests.web.test_pages import Markup

pytestmark = pytest.mark.django_db
OPEN = ["login/", "inactive/", "password/reset/", "password/reset/sent/", "password/reset/done/"]
SIGNED_IN = ["", "clients/", "logout/", "reauthenticate/", "password/change/", "second-factor/"]
CONFIRMED = ["second-factor/app/"]
WITH_FACTOR = [
    "second-factor/app/remove/",
    "second-factor/codes/",
    "second-factor/codes/new/",
    "second-factor/confirm/",
]
ELSEWHERE = {
    "account_reset_password_from_key", "mfa_authenticate", "mfa_download_recovery_codes", "invitation",
    "account_client_revoke",
}  # fmt: skip


def every_page() -> dict[str, Any]:
    """Every page as somebody sees it who may."""
    ada, bob = person(), person("bob@example.com", is_staff=True)
    pages = {address: visitor().get(f"/account/{address}") for address in OPEN}
    for address in SIGNED_IN:
        pages[address] = visitor(ada).get(f"/account/{address}")
    client = visitor(bob)
    confirm(client)
    for address in CONFIRMED:
        pages[address] = client.get(f"/account/{address}")
    give_second_factor(bob)
    client.post("/account/second-factor/codes/new/")
    for address in WITH_FACTOR:
        pages[address] = client.get(f"/account/{address}")
    challenged = visitor()
    challenged.post("/account/login/", {"login": "bob@example.com", "password": "a-long-password"})
    pages["challenge"] = challenged.get("/account/second-factor/sign-in/")
    visitor().post("/account/password/reset/", {"email": "ada@example.com"})
    link = link_in_mail()
    pages["reset"] = visitor().get(link, follow=True)
    pages["reset, bad"] = visitor().get(link[:-2] + "/")
    pages["reset, error"] = visitor().post("/account/password/reset/", {"email": "nonsense"})
    pages["login, error"] = visitor().post("/account/login/", {"login": "", "password": ""})
    return pages | invitation_pages(ada)


def invitation_pages(ada: User) -> dict[str, Any]:
    acme = Organization.objects.create(slug="acme", name="Acme")
    links = {}
    for email in ("new@example.com", ada.email):
        invite(Invitation(organization=acme, email=email))
        links[email] = link_in_mail()
    return {
        "new": visitor().get(links["new@example.com"]),
        "new, error": visitor().post(links["new@example.com"], {"name": "x"}),
        "wrong person": visitor(ada).get(links["new@example.com"]),
        "sign in": visitor().get(links[ada.email]),
        "join": visitor(ada).get(links[ada.email]),
        "gone": visitor().get("/account/invitations/x/"),
    }


def test_the_pages_are_ours_quiet_and_not_kept() -> None:
    for name, answer in every_page().items():
        assert answer.status_code in (200, 404), name
        page = answer.content.decode()
        markup = Markup(page)
        assert 'class="sheet"' in page, name
        assert answer["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
        assert "no-store" in answer["Cache-Control"], name
        assert [address for address in markup.addresses if not address.startswith(("/", "#", "data:image/"))] == [], (
            name
        )
        assert "<script" not in page, name
        assert " style=" not in page, name
        assert "placeholder" not in page, name
        assert page.count("<h1>") == 1, name
        assert all(template.name is None or "allauth" not in template.name for template in answer.templates), name
        ours = {t.origin.name for t in answer.templates if t.origin and "site-packages/allauth" in str(t.origin.name)}
        assert ours == set(), name


def test_every_field_has_a_label_and_errors_are_announced() -> None:
    for name, answer in every_page().items():
        page = answer.content.decode()
        labelled = set(re.findall(r'<label[^>]* for="(\w+)"', page))
        for tag in re.findall(r"<input[^>]*>", page):
            if 'type="hidden"' in tag or " hidden" in tag:
                continue
            found = re.search(r' id="(\w+)"', tag)
            assert found, (name, tag)
            assert found[1] in labelled, (name, tag)
            assert "autocomplete=" in tag or 'type="checkbox"' in tag, (name, tag)
        if "error" in name:
            assert 'role="alert"' in page, name
            assert 'aria-invalid="true"' in page, name


def test_the_first_field_has_the_focus_or_the_first_that_is_wrong() -> None:
    for name, answer in every_page().items():
        fields = re.findall(r"<input[^>]*>", answer.content.decode())
        fields = [tag for tag in fields if 'type="hidden"' not in tag and " hidden" not in tag]
        wrong = [tag for tag in fields if 'aria-invalid="true"' in tag]
        focused = [tag for tag in fields if " autofocus" in tag]
        assert focused == (wrong or fields)[:1], name


def test_every_address_is_looked_at_here() -> None:
    looked_at = {get_resolver().resolve(f"/account/{address}").url_name for address in
                 (*OPEN, *SIGNED_IN, *CONFIRMED, *WITH_FACTOR)}  # fmt: skip
    assert looked_at | ELSEWHERE == {pattern.name for pattern in (*urlpatterns, *clients)}


def test_forms_are_protected_against_other_sites() -> None:
    from django.test import Client

    strict = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    for address in (*OPEN[:1], "logout/", "password/reset/", "invitations/x/"):
        assert strict.post(f"/account/{address}", {}).status_code == 403, address
