"""The pages in a real browser: nothing is blocked, nobody else is asked, and "Try it out" works."""

import pytest
from django.conf import settings as django_settings
from playwright.sync_api import expect

from apps.orgs.models import User
from apps.tools.registry import TOOLS
from tests.browser.conftest import Visit

OPERATION = "#operations-account-get_account"


def test_the_reference_shows_every_tool(visit: Visit) -> None:
    visit.open("/api/v1/docs")
    expect(visit.page.locator(".opblock")).to_have_count(len(TOOLS))
    for name in TOOLS:
        expect(visit.page.locator(f'[data-path="/api/v1/tools/{name}"]')).to_be_visible()
    assert visit.was_quiet()


def test_trying_a_tool_asks_this_server_and_shows_its_answer(visit: Visit) -> None:
    visit.open("/api/v1/docs")
    page = visit.page
    page.click(".btn.authorize")
    page.fill(".auth-container input", django_settings.LOCAL_DEV_BEARER)
    page.click(".auth-btn-wrapper .authorize")
    page.click(".auth-btn-wrapper .btn-done")
    page.click(f"{OPERATION} .opblock-summary")
    page.click(f"{OPERATION} .try-out__btn")
    with page.expect_response("**/api/v1/tools/get_account") as answered:
        page.click(f"{OPERATION} .execute")

    assert answered.value.status == 200
    assert answered.value.json()["organization"]["slug"] == "acme"
    expect(page.locator(f"{OPERATION} .live-responses-table .response-col_status").last).to_contain_text("200")
    assert visit.was_quiet()


def test_the_reference_follows_the_browsers_dark_scheme(visit: Visit) -> None:
    visit.page.emulate_media(color_scheme="dark")
    visit.open("/api/v1/docs")
    expect(visit.page.locator("html")).to_have_class("dark-mode")


@pytest.mark.parametrize("width", [320, 1280])
def test_the_first_page_fits_and_breaks_no_rule(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    visit.open("/")
    expect(visit.page.get_by_role("heading", level=1)).to_be_visible()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.was_quiet()


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
