"""The consent page: what it tells, what may be chosen, and that nobody can answer it for somebody else."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.oauthmcp.consent import SCOPE_DESCRIPTIONS
from apps.oauthmcp.models import Application, Grant
from apps.oauthmcp.names import NAMELESS, clean
from apps.orgs.callers import SCOPES
from apps.orgs.models import Membership, Organization
from tests.accounts.visitors import Fields, person, said, sign_in, visitor
from tests.factories import Fill
from tests.oauthmcp.authorizing import PATH, ask, came_back, decide, handle_of
from tests.oauthmcp.grants import make_client, make_member

pytestmark = pytest.mark.django_db
WARNING = "Do you know its address?"


@pytest.fixture
def browser(acme: Fill) -> Client:
    """Of somebody who is signed in, and a member of acme only."""
    return visitor(make_member(acme.organization).user)


@pytest.fixture
def two(browser: Client, acme: Fill) -> Organization:
    """A second organization of the same person."""
    second = Organization.objects.create(slug="second", name="Second")
    make_member(second)
    return second


def later(monkeypatch: pytest.MonkeyPatch, seconds: int) -> None:
    now = timezone.now() + timedelta(seconds=seconds)
    monkeypatch.setattr(timezone, "now", lambda: now)


# What the page tells


def test_the_page_names_the_app_the_person_the_organization_and_where_it_leads(browser: Client) -> None:
    client = make_client("Weather vane", redirect_uris="https://vane.example/cb")
    text = said(ask(browser, client, redirect_uri="https://vane.example/cb"))
    for words in ("Weather vane", "Nobody has checked", "vane.example", "ada@example.com", "Acme", "only look"):
        assert words in text
    assert "on this computer" not in text


@pytest.mark.spec("RFC 8252 §8.6")
@pytest.mark.parametrize(
    ("uri", "target", "warning"),
    [
        ("http://127.0.0.1:8123/cb", "127.0.0.1:8123", "A program on this computer"),
        ("http://localhost:8123/cb", "localhost:8123", "A program on this computer"),
        ("http://[::1]:8123/cb", "[::1]:8123", "A program on this computer"),
        ("cursor://anysphere.cursor-retrieval/cb", "cursor://", "An app on this device"),
        ("com.example.app:/cb", "com.example.app://", "An app on this device"),
    ],
)
def test_an_app_on_the_persons_own_machine_comes_with_a_quiet_word(
    browser: Client, uri: str, target: str, warning: str
) -> None:
    text = said(ask(browser, make_client(redirect_uris=uri), redirect_uri=uri))
    assert target in text
    assert warning in text
    assert WARNING not in text


def test_every_scope_has_a_sentence() -> None:
    assert list(SCOPE_DESCRIPTIONS) == list(SCOPES)


def test_only_what_is_asked_for_can_be_ticked_and_all_of_it_is(browser: Client) -> None:
    page = ask(browser, make_client(), scope="files:read docs:read").content.decode()
    boxes = re.findall(r'<input type="checkbox" name="scope" value="([^"]+)"( checked)?>', page)
    assert boxes == [("files:read", " checked"), ("docs:read", " checked")]


def test_how_long_it_lasts_depends_on_whether_the_app_may_refresh(browser: Client) -> None:
    once = make_client(metadata={"grant_types": ["authorization_code"]})
    assert "ends after one hour" in said(ask(browser, once))
    assert "ends after 30 days without use" in said(ask(browser, make_client()))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Claude Code", "Claude Code"),
        ("  two \n\t lines  ", "two lines"),
        ("\u202egnp.exe\u202c", "gnp.exe"),
        ("a\u200bb\u2060c\ufeffd\u00ade", "abcde"),
        ("\x07bell\x7f", "bell"),
        ("Zo\u0065\u0308", "Zoë"),
        ("名前のあるアプリ", "名前のあるアプリ"),
        ("x" * 101, "x" * 99 + "…"),
        ("", ""),
        ("\u200b\u202e \u3164\u2800", ""),
        ("\u0301\u0301", ""),
    ],
)
def test_a_name_holds_nothing_that_hides_or_reorders_text(name: str, shown: str) -> None:
    assert clean(name) == shown


def test_a_name_is_text_and_an_app_without_one_is_called_so(browser: Client) -> None:
    assert "&lt;b&gt;Bank&lt;/b&gt;" in ask(browser, make_client("<b>Bank</b>")).content.decode()
    assert NAMELESS in said(ask(browser, make_client("\u200b\u202e")))


def test_a_member_of_nothing_is_told_who_can_help_and_can_only_deny() -> None:
    browser = visitor(person("eve@example.com"))
    page = ask(browser, make_client())
    assert "Ask whoever runs this installation for an invitation" in said(page)
    assert 'value="allow"' not in page.content.decode()
    assert decide(browser, page, scope=["apps:read"]).status_code == 400
    assert came_back(decide(browser, page, "deny"))["error"] == "access_denied"


# What may be chosen


def test_one_of_several_organizations_has_to_be_chosen(browser: Client, two: Organization) -> None:
    page = ask(browser, make_client())
    assert len(re.findall(r'type="radio"[^>]* required>', page.content.decode())) == 2
    again = decide(browser, page, organization=None, scope=["apps:read"])
    assert again.status_code == 400
    assert "Choose the organization" in said(again)
    assert [row[0] for row in again.context["scopes"] if row[3]] == ["apps:read"]
    membership = Membership.objects.get(organization=two)
    came_back(decide(browser, again, organization=str(membership.pk)))
    assert Grant.objects.get().membership == membership
    assert Grant.objects.get().scope == "apps:read"


def test_nothing_ticked_gets_the_same_page_with_nothing_lost(browser: Client, two: Organization) -> None:
    chosen = str(Membership.objects.get(organization=two).pk)
    again = decide(browser, ask(browser, make_client()), organization=chosen, scope=[])
    assert again.status_code == 400
    assert "Tick at least one thing" in said(again)
    assert re.search(rf'value="{chosen}" required checked', again.content.decode())
    assert came_back(decide(browser, again, organization=chosen, scope=["docs:read"]))["code"]


@pytest.mark.parametrize(
    "scope", [["files:read"], ["apps:read", "files:read"], ["apps:read files:read"], ["admin"], ["\0"]]
)
def test_a_scope_that_was_not_asked_for_cannot_be_allowed(browser: Client, scope: list[str]) -> None:
    page = ask(browser, make_client(), scope="apps:read")
    assert decide(browser, page, scope=scope).status_code == 400
    assert not Grant.objects.exists()


@pytest.mark.parametrize("organization", ["0", "-1", "x", "", "\0", "9" * 400, "٣", "1 or 1=1"])
def test_an_organization_that_is_none_cannot_be_chosen(browser: Client, organization: str) -> None:
    assert decide(browser, ask(browser, make_client()), organization=organization).status_code == 400
    assert not Grant.objects.exists()


def test_another_persons_membership_cannot_be_chosen(browser: Client, acme: Fill, rival: Fill) -> None:
    for organization, email in ((rival.organization, "bob@example.com"), (acme.organization, "eve@example.com")):
        foreign = make_member(organization, email)
        assert decide(browser, ask(browser, make_client()), organization=str(foreign.pk)).status_code == 400
    assert not Grant.objects.exists()


def test_who_left_the_organization_meanwhile_cannot_allow(browser: Client) -> None:
    page = ask(browser, make_client())
    Membership.objects.all().delete()
    answer = decide(browser, page)
    assert answer.status_code == 400
    assert "a member of no organization" in said(answer)


def test_a_client_that_went_meanwhile_gets_nothing(browser: Client) -> None:
    client = make_client()
    page = ask(browser, client)
    Application.objects.filter(pk=client.pk).delete()
    assert "does not know this app" in said(decide(browser, page))


def test_a_client_whose_address_changed_meanwhile_gets_nothing(browser: Client) -> None:
    client = make_client()
    page = ask(browser, client)
    Application.objects.filter(pk=client.pk).update(redirect_uris="https://new.example/cb")
    answer = decide(browser, page)
    assert (answer.status_code, "Location" in answer.headers) == (400, False)


# Handles


def test_a_form_that_is_sent_twice_gets_the_same_answer(browser: Client) -> None:
    page = ask(browser, make_client())
    first, second = decide(browser, page), decide(browser, page)
    assert first["Location"] == second["Location"]
    assert Grant.objects.count() == 1


@pytest.mark.parametrize(("first", "then"), [("allow", "deny"), ("deny", "allow")])
def test_a_decision_is_not_changed_by_going_back(browser: Client, first: str, then: str) -> None:
    page = ask(browser, make_client())
    decide(browser, page, first)
    answer = decide(browser, page, then)
    assert answer.status_code == 409
    assert "answered this already" in said(answer)
    assert Grant.objects.count() == (1 if first == "allow" else 0)


def test_an_old_answer_is_not_given_again(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ask(browser, make_client())
    decide(browser, page)
    later(monkeypatch, 61)
    assert decide(browser, page).status_code == 409
    assert Grant.objects.count() == 1


def test_an_answer_that_another_key_encrypted_is_not_given_again(browser: Client, monkeypatch: Any) -> None:
    page = ask(browser, make_client())
    decide(browser, page)
    monkeypatch.setattr("apps.oauthmcp.pending.PURPOSE", "something else")
    assert decide(browser, page).status_code == 409


@pytest.mark.parametrize(("seconds", "status"), [(14 * 60, 303), (16 * 60, 400)])
def test_a_page_waits_for_fifteen_minutes(
    browser: Client, monkeypatch: pytest.MonkeyPatch, seconds: int, status: int
) -> None:
    page = ask(browser, make_client())
    later(monkeypatch, seconds)
    answer = decide(browser, page)
    assert answer.status_code == status
    assert status == 303 or "too old" in said(answer)


def test_five_tabs_work_at_once_and_the_oldest_goes_first(browser: Client) -> None:
    client = make_client()
    pages = [ask(browser, client, state=f"tab-{number}") for number in range(6)]
    assert "too old" in said(decide(browser, pages[0]))
    assert [came_back(decide(browser, page))["state"] for page in pages[1:]] == [f"tab-{n}" for n in range(1, 6)]


def test_loading_a_page_again_pushes_no_other_tab_out(browser: Client) -> None:
    client = make_client()
    first = ask(browser, client, state="first")
    for _ in range(7):
        ask(browser, client, state="second")
    assert came_back(decide(browser, first))["state"] == "first"


@pytest.mark.parametrize("handle", ["", "unknown", "\0", "x" * 10_000, "__class__"])
def test_a_handle_that_is_none_gets_a_page(browser: Client, handle: str) -> None:
    assert "too old" in said(decide(browser, ask(browser, make_client()), handle=handle))
    assert browser.get(PATH, {"pending": handle or "x"}).status_code == 400


def test_a_handle_is_worth_nothing_in_another_session(browser: Client, acme: Fill) -> None:
    page = ask(browser, make_client())
    same_person = visitor(make_member(Organization.objects.create(slug="o", name="O"), "ada@example.com").user)
    for other in (same_person, visitor(make_member(acme.organization, "bob@example.com").user), visitor()):
        assert decide(other, page).status_code == 400
        assert other.get(PATH, {"pending": handle_of(page)}).status_code == 400
    assert not Grant.objects.exists()


def test_a_handle_does_not_outlive_signing_out(browser: Client) -> None:
    page = ask(browser, make_client())
    browser.post("/account/logout/")
    assert decide(browser, page).status_code == 400


def test_a_session_that_somebody_planted_does_not_answer_for_who_signs_in(acme: Fill) -> None:
    """Session fixation: the attacker knows the session's key from before the sign-in, and it is worth nothing after."""
    make_member(acme.organization)
    victim, client = visitor(), make_client()
    ask(victim, client, state="s" * 4000)  # kept in an anonymous session
    planted = victim.cookies["sessionid"].value
    sign_in(victim)
    page = ask(victim, client)
    attacker = visitor()
    attacker.cookies["sessionid"] = planted
    assert decide(attacker, page).status_code == 400
    assert came_back(decide(victim, page))["code"]


@pytest.mark.parametrize("decision", ["", "ALLOW", "yes", None])
def test_no_decision_is_no_decision(browser: Client, decision: Any) -> None:
    assert decide(browser, ask(browser, make_client()), decision=decision).status_code == 400
    assert not Grant.objects.exists()


# Other sites


def test_no_other_site_can_send_the_form(acme: Fill) -> None:
    strict = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    strict.force_login(make_member(acme.organization).user)
    page = ask(strict, make_client())
    assert decide(strict, page).status_code == 403
    token = Fields(page.content.decode()).names["csrfmiddlewaretoken"]
    sent = {"handle": handle_of(page), "decision": "deny", "csrfmiddlewaretoken": token}
    assert strict.post(PATH, sent, headers={"origin": "https://evil.example"}).status_code == 403
    assert strict.post(PATH, sent, headers={"origin": "null"}).status_code == 403
    assert came_back(strict.post(PATH, sent, headers={"origin": "http://localhost"}))["error"] == "access_denied"


@pytest.mark.parametrize(
    ("uri", "source"),
    [
        ("https://app.example:8443/cb;x", "https://app.example:8443"),
        ("https://APP.example/cb", "https://app.example"),
        ("http://127.0.0.1:8123/cb", "http://127.0.0.1:8123"),
        ("http://[::1]:8123/cb", "http:"),
        ("https://[2001:db8::1]/cb", "https:"),
        ("cursor://anysphere.cursor-retrieval/cb", "cursor:"),
    ],
)
def test_the_form_may_lead_here_and_to_the_app_and_no_page_may_frame_it(browser: Client, uri: str, source: str) -> None:
    page = ask(browser, make_client(redirect_uris=uri), redirect_uri=uri)
    policy = dict(part.strip().partition(" ")[::2] for part in page["Content-Security-Policy"].split(";"))
    allowed = policy["form-action"].split()
    assert allowed[:2] == ["'self'", source]
    # Where the app itself may send people on to: a page that thanks them, or an app on their device.
    assert set(allowed[2:]) <= {"https:", *(f"{scheme}:" for scheme in settings.REDIRECT_SCHEMES)}
    assert {"https:", "claude:"} <= set(allowed)
    assert policy["frame-ancestors"] == "'none'"
    assert policy["default-src"] == "'none'"
    assert page["X-Frame-Options"] == "DENY"
    assert page["Cache-Control"] == "no-store"
    # With no-referrer browsers would say `Origin: null` when the form is sent.
    assert page["Referrer-Policy"] == "same-origin"


def test_the_page_with_something_missing_may_still_lead_to_the_app(browser: Client) -> None:
    again = decide(browser, ask(browser, make_client()), scope=[])
    assert "form-action 'self' http://127.0.0.1:8123 " in again["Content-Security-Policy"]
    assert again["Cache-Control"] == "no-store"


# Cost


def test_the_number_of_organizations_costs_no_query(browser: Client, acme: Fill) -> None:
    client = make_client()
    ask(browser, client)
    with CaptureQueriesContext(
        connection,
    ) as few:
        ask(browser, client)
    for number in range(20):
        make_member(Organization.objects.create(slug=f"more-{number}", name=f"More {number}"))
    with CaptureQueriesContext(connection) as many:
        page = ask(browser, client)
    assert len(many) == len(few) <= 8
    with CaptureQueriesContext(connection) as deciding:
        came_back(decide(browser, page, organization=str(page.context["memberships"][7].pk)))
    assert len(deciding) <= 12
