"""Errors of authorization requests that nobody clicked for: who is redirected with one, and who sees a page."""

from typing import Any

import pytest
from django.test import Client

from apps.oauthmcp.models import DOCS_CLIENT, DOCS_REDIRECT_PATH, Application, Authorization
from apps.orgs.models import Membership
from tests.accounts.visitors import visitor
from tests.factories import Fill
from tests.oauthmcp.authorizing import ask, came_back, decide
from tests.oauthmcp.grants import make_authorization, make_client, make_member

ISSUER = "http://localhost:8000"
pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(acme: Fill) -> Client:
    """Of somebody who is signed in, and a member of acme only."""
    return visitor(make_member(acme.organization).user)


WEBSITE = "https://app.example/callback"


def ask_badly(browser: Client, client: Application | str, redirect_uri: str = WEBSITE) -> Any:
    return ask(browser, client, redirect_uri=redirect_uri, prompt="none")


def is_page_about(answer: Any, target: str) -> bool:
    link = f'href="https://{target}/callback?error='
    return answer.status_code == 400 and "Location" not in answer and link in answer.content.decode()


@pytest.mark.spec("RFC 9700 §4.11.2")
def test_a_website_is_told_of_an_error_once_its_user_has_let_it_in(browser: Client, rival: Fill) -> None:
    client = make_client(redirect_uris=WEBSITE)
    assert is_page_about(ask_badly(browser, client), "app.example")
    authorization = make_authorization(client, Membership.objects.get(user__email="ada@example.com"))
    assert came_back(ask_badly(browser, client))["error"] == "consent_required"
    stranger = visitor(make_member(rival.organization, "eve@example.com").user)
    assert is_page_about(ask_badly(stranger, client), "app.example")
    assert is_page_about(ask_badly(visitor(), client), "app.example")
    assert is_page_about(ask_badly(browser, make_client(redirect_uris=WEBSITE)), "app.example")
    Authorization.objects.filter(pk=authorization.pk).revoke()
    assert is_page_about(ask_badly(browser, client), "app.example")


@pytest.mark.spec("RFC 9700 §4.11.2")
def test_a_clients_second_website_is_not_let_in_with_its_first(browser: Client) -> None:
    other = "https://evil.example/callback"
    client = make_client(redirect_uris=f"{WEBSITE} {other}")
    ada = Membership.objects.get(user__email="ada@example.com")
    make_authorization(client, ada)  # from before it was kept where a code was sent: it may have been either
    assert is_page_about(ask_badly(browser, client), "app.example")
    make_authorization(client, ada, redirect_uri=WEBSITE)
    assert came_back(ask_badly(browser, client))["error"] == "consent_required"
    assert is_page_about(ask_badly(browser, client, other), "evil.example")


def test_our_own_page_is_told_of_errors_at_once() -> None:
    answer = ask_badly(visitor(), DOCS_CLIENT, ISSUER + DOCS_REDIRECT_PATH)
    assert came_back(answer)["error"] == "login_required"


@pytest.mark.spec("RFC 9700 §4.11.2")
def test_what_is_wrong_with_a_request_whose_form_is_sent_goes_back(browser: Client, settings: Any) -> None:
    page = ask(browser, make_client(redirect_uris=WEBSITE), redirect_uri=WEBSITE, resource=ISSUER)
    settings.PUBLIC_URL = "https://moved.example"
    assert came_back(decide(browser, page))["error"] == "invalid_target"
