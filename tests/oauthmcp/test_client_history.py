"""What the consent page tells of a client's past, and which clients it warns of."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.oauthmcp.models import Application, Authorization
from apps.orgs.models import Membership
from tests.accounts.visitors import said, visitor
from tests.factories import Fill
from tests.oauthmcp.authorizing import ask, came_back, decide
from tests.oauthmcp.grants import REDIRECT_URI, VERIFIER, make_authorization, make_client, make_member
from tests.oauthmcp.test_consent import WARNING

pytestmark = pytest.mark.django_db
TOKEN = "/api/auth/mcp/token"
WEBSITE = "https://app.example/callback"


@pytest.fixture
def ada(acme: Fill) -> Membership:
    return make_member(acme.organization)


def page(member: Membership, client: Application, redirect_uri: str = WEBSITE) -> str:
    return said(ask(visitor(member.user), client, redirect_uri=redirect_uri)).replace("\xa0", " ")


def aged(days: float, **fields: Any) -> Application:
    client = make_client(**{"redirect_uris": WEBSITE, **fields})
    Application.objects.filter(pk=client.pk).update(created=timezone.now() - timedelta(days=days))
    client.refresh_from_db()
    return client


@pytest.mark.parametrize(
    ("days", "words"),
    [(0, "Less than a minute ago"), (2.1 / 24 / 60, "Registered 2 minutes ago"), (400, "Registered 1 year ago")],
)
def test_the_page_tells_how_old_a_registration_is(ada: Membership, days: float, words: str) -> None:
    assert words in page(ada, aged(days))


def test_a_new_website_is_marked_and_what_runs_on_ones_own_device_is_not(ada: Membership) -> None:
    assert WARNING in page(ada, aged(400))
    for uri in (REDIRECT_URI, "cursor://anysphere.cursor-retrieval/cb", "https://localhost/cb"):
        assert WARNING not in page(ada, aged(0, redirect_uris=uri), uri)


def test_what_an_operator_registered_is_checked(ada: Membership) -> None:
    text = page(ada, aged(0, registration_source="manual"))
    assert "By whoever runs this installation" in text
    assert WARNING not in text


def test_what_somebody_let_in_themselves_is_known_to_them_until_they_end_it(ada: Membership) -> None:
    client = aged(0)
    authorization = make_authorization(client, ada, redirect_uri=WEBSITE)
    text = page(ada, client)
    assert "Let in before By you" in text
    assert WARNING not in text
    Authorization.objects.filter(pk=authorization.pk).revoke()
    text = page(ada, client)
    assert "By nobody in Acme" in text
    assert WARNING in text


def test_others_who_let_a_young_client_in_may_all_have_been_fooled(ada: Membership, acme: Fill) -> None:
    young, old = aged(1), aged(30)
    for email in ("bob@example.com", "cleo@example.com"):
        member = make_member(acme.organization, email)
        for client in (young, old):
            make_authorization(client, member, redirect_uri=WEBSITE)
            make_authorization(client, member, redirect_uri=WEBSITE)
    for client, is_marked in ((young, True), (old, False)):
        text = page(ada, client)
        assert "By 2 other people in Acme" in text
        assert "@example.com" not in text.replace("ada@example.com", "")
        assert (WARNING in text) == is_marked


def test_nothing_is_told_of_other_organizations(ada: Membership, rival: Fill) -> None:
    client = aged(30)
    make_authorization(client, make_member(rival.organization, "eve@example.com"), redirect_uri=WEBSITE)
    text = page(ada, client)
    assert "By nobody in Acme" in text
    assert WARNING in text


def test_what_was_let_in_elsewhere_says_nothing_for_this_address(ada: Membership) -> None:
    """A program on one's own machine was let in; the same client's website was not."""
    other = "https://evil.example/callback"
    client = aged(30, redirect_uris=f"{REDIRECT_URI} {WEBSITE} {other}")
    make_authorization(client, ada, redirect_uri=REDIRECT_URI)
    make_authorization(client, ada, redirect_uri=WEBSITE)
    make_authorization(client, ada)  # from before that was kept: it may have been any of them
    assert "By nobody in Acme" in page(ada, client, other)
    assert WARNING in page(ada, client, other)
    assert "By you" in page(ada, client)
    assert "By you" in page(ada, client, "http://127.0.0.1:9999/callback")


def test_a_deactivated_colleague_vouches_for_nothing(ada: Membership, acme: Fill) -> None:
    client = aged(30)
    make_authorization(client, make_member(acme.organization, "bob@example.com", is_active=False), redirect_uri=WEBSITE)
    assert "By nobody in Acme" in page(ada, client)


def test_an_address_in_code_is_shown_in_code_with_a_word_about_it(ada: Membership) -> None:
    uri = "https://xn--80ak6aa92e.example/callback"
    text = page(ada, aged(0, redirect_uris=uri), uri)
    assert "xn--80ak6aa92e.example" in text
    assert "letters that imitate another" in text
    assert "letters that imitate" not in page(ada, aged(0))


def test_an_authorization_remembers_where_its_code_was_sent(ada: Membership, client: Client) -> None:
    app = make_client(redirect_uris=f"{REDIRECT_URI} {WEBSITE}")
    browser = visitor(ada.user)
    code = came_back(decide(browser, ask(browser, app, redirect_uri=WEBSITE)))["code"]
    form = {"grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER, "client_id": app.client_id}
    assert client.post(TOKEN, form, "application/json", headers={"host": "localhost"}).status_code == 200
    assert Authorization.objects.get().redirect_uri == WEBSITE
