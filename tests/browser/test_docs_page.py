"""The pages in a real browser: nothing is blocked, nobody else is asked, and "Authorize" and "Try it out" work."""

import re
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from playwright.sync_api import Page, expect

from apps.net.encryption import hash_of
from apps.oauthmcp.models import DOCS_CLIENT, AccessToken, Application, Authorization
from apps.orgs.callers import SCOPES
from apps.orgs.models import Organization, User
from apps.tools.registry import TOOLS
from tests.browser.conftest import Visit, milliseconds
from tests.oauthmcp.grants import make_code, make_member

OPERATION = "#operations-account-get_account"
OAUTH = ".auth-container:not(:has(form))"
BEARER = ".auth-container:has(form)"


@pytest.mark.soak
def test_the_reference_shows_every_tool(visit: Visit) -> None:
    visit.open("/api/v1/docs")
    expect(visit.page.locator(".opblock")).to_have_count(len(TOOLS) + 4)  # and the OAuth endpoints
    for name in TOOLS:
        expect(visit.page.locator(f'[data-path="/api/v1/tools/{name}"]')).to_be_visible()
    assert visit.was_quiet()


def test_trying_a_tool_asks_this_server_and_shows_its_answer(visit: Visit) -> None:
    visit.open("/api/v1/docs")
    page = visit.page
    page.click(".btn.authorize")
    page.fill(f"{BEARER} input", django_settings.LOCAL_DEV_BEARER)
    page.click(f"{BEARER} .authorize")
    page.click(f"{BEARER} .btn-done")

    answer = try_out(page)
    assert answer.status == 200
    assert answer.json()["organization"]["slug"] == "acme"
    expect(page.locator(f"{OPERATION} .live-responses-table .response-col_status").last).to_contain_text("200")
    assert visit.was_quiet()


def try_out(page: Page) -> Any:
    page.click(f"{OPERATION} .opblock-summary")
    page.click(f"{OPERATION} .try-out__btn")
    with page.expect_response("**/api/v1/tools/get_account") as answered:
        page.click(f"{OPERATION} .execute")
    return answered.value


def press_authorize(visit: Visit) -> Visit:
    """The window that "Authorize" opens: it leads to the sign-in page."""
    with visit.page.expect_popup() as opened:
        visit.page.click(f"{OAUTH} .authorize")
    popup = opened.value
    popup.set_default_timeout(milliseconds())
    popup.wait_for_url(re.compile("/account/login/"))
    return Visit(popup, visit.origin).listen()


def asked(window: Visit) -> dict[str, str]:
    """The authorization request, to which the sign-in page leads back."""
    address = parse_qs(urlsplit(window.page.url).query)["next"][0]
    return {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}


def come_back(window: Visit, **answer: str) -> None:
    """Opens what the authorization server would send the window to, and waits until it has closed itself."""
    with window.page.expect_event("close"):
        window.page.evaluate("address => { location.href = address }", f"/api/v1/docs/signed-in?{urlencode(answer)}")


@pytest.fixture
def public(visit: Visit, settings: Any) -> Visit:
    """The reference, opened at the installation's public address, with the dialog of "Authorize"."""
    settings.PUBLIC_URL = visit.origin
    # Tests with a server of their own empty every table, also of what migrations put there.
    import_module("apps.oauthmcp.migrations.0002_docs_client").make_client(apps, None)
    visit.open("/api/v1/docs")
    visit.page.click(".btn.authorize")
    return visit


@pytest.mark.spec("RFC 7636 §4.3")
def test_authorize_asks_for_every_scope_without_a_secret_to_type(public: Visit) -> None:
    expect(public.page.locator(f"{OAUTH} input[type=checkbox]:checked")).to_have_count(len(SCOPES))
    expect(public.page.locator(f"{OAUTH} input:not([type=checkbox]):visible")).to_have_count(0)
    query = asked(press_authorize(public))
    assert re.fullmatch("[A-Za-z0-9_-]{43}", query.pop("code_challenge"))
    assert query.pop("state")
    assert query == {
        "response_type": "code",
        "client_id": DOCS_CLIENT,
        "redirect_uri": f"{public.origin}/api/v1/docs/signed-in",
        "scope": " ".join(SCOPES),
        "code_challenge_method": "S256",
    }
    assert public.was_quiet()


@pytest.mark.spec("RFC 6749 §4.1.3")
def test_a_code_becomes_the_token_that_is_sent(public: Visit) -> None:
    window, page = press_authorize(public), public.page
    query = asked(window)
    code = make_code(
        Application.objects.get(client_id=DOCS_CLIENT),
        make_member(Organization.objects.get()),
        query["scope"],
        redirect_uri=query["redirect_uri"],
        code_challenge=query["code_challenge"],
        resource=[public.origin],
    )
    come_back(window, code=code, state=query["state"], iss=public.origin)

    expect(page.locator(f"{OAUTH} h6")).to_have_text("Authorized")
    page.click(f"{OAUTH} .btn-done")
    sent = try_out(page).request.headers["authorization"]
    assert hash_of(sent.removeprefix("Bearer ")) == AccessToken.objects.get().token_checksum
    assert Authorization.objects.get().scope == " ".join(SCOPES)
    assert public.asked_elsewhere == window.asked_elsewhere == []


FAILED = [
    ({"error": "access_denied"}, "You did not let the API reference in."),
    ({"error": "server_error", "error_description": "Wait <b>a</b> bit."}, "Wait <b>a</b> bit."),
    ({}, "no code came back"),
    ({"code": "x", "state": "another"}, "another sign-in"),
    ({"code": "x", "iss": "https://evil.example"}, "somewhere else"),
    ({"code": "x"}, "invalid_grant"),
]


@pytest.mark.soak
@pytest.mark.spec("RFC 6749 §10.12", "RFC 9207 §2.4")
def test_a_sign_in_that_failed_is_explained_and_can_be_tried_again(public: Visit) -> None:
    for answer, message in FAILED:
        window = press_authorize(public)
        come_back(window, **({"state": asked(window)["state"], "iss": public.origin} | answer))
        expect(public.page.locator(f"{OAUTH} .errors")).to_contain_text(message)
        assert Authorization.objects.count() == 0
    assert public.asked_elsewhere == []


def test_a_window_that_the_reference_did_not_open_stays_and_keeps_no_code(visit: Visit) -> None:
    visit.open("/api/v1/docs/signed-in?code=the-code&state=x")
    expect(visit.page.get_by_role("heading", level=1)).to_have_text("You can close this window")
    assert visit.page.url == f"{visit.origin}/api/v1/docs/signed-in"
    assert visit.was_quiet()


@pytest.mark.soak
def test_at_another_address_the_reference_says_where_one_can_sign_in(visit: Visit, settings: Any) -> None:
    settings.PUBLIC_URL = visit.origin
    visit.origin = visit.origin.replace("localhost", "127.0.0.1")
    visit.open("/api/v1/docs")
    expect(visit.page.locator("#elsewhere a")).to_have_attribute("href", f"{settings.PUBLIC_URL}/api/v1/docs")
    visit.page.click(".btn.authorize")
    expect(visit.page.locator(BEARER)).to_be_visible()
    expect(visit.page.locator(OAUTH)).to_have_count(0)
    assert visit.was_quiet()


@pytest.mark.soak
def test_the_reference_follows_the_browsers_dark_scheme(visit: Visit) -> None:
    visit.page.emulate_media(color_scheme="dark")
    visit.open("/api/v1/docs")
    expect(visit.page.locator("html")).to_have_class("dark-mode")


@pytest.mark.soak
def test_an_operator_signs_in_and_adds_a_member_and_no_page_breaks_a_rule(visit: Visit) -> None:
    User.objects.create_superuser("operator@example.com", "a-long-password")
    User.objects.create_user("member@example.com")
    page = visit.page

    visit.open("/admin/")
    page.fill("[name=login]", "operator@example.com")
    page.fill("[name=password]", "a-long-password")
    with page.expect_navigation(wait_until="load"):
        page.click("main [type=submit]")
    visit.open("/admin/orgs/organization/")
    with page.expect_navigation(wait_until="load"):
        page.click("#result_list th a")
    page.click("#memberships-2-group .select2-selection")
    page.fill(".select2-search__field", "member")
    page.click(".select2-results__option:has-text('member@example.com')")
    with page.expect_navigation(wait_until="load"):
        page.click("[name=_continue]")
    expect(page.locator("#memberships-group")).to_contain_text("member@example.com in Acme")
    for address in ("/admin/orgs/deployment/?organization=acme", "/admin/orgs/user/add/", "/admin/orgs/template/add/"):
        visit.open(address)

    assert visit.was_quiet()
