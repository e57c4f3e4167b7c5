"""Signing in from the API reference, in a real browser, from "Authorize" to an answer."""

from typing import Any

import pytest
from playwright.sync_api import expect

from apps.orgs.models import Membership, Organization
from tests.accounts.visitors import PASSWORD, person
from tests.browser.conftest import Visit, milliseconds
from tests.browser.test_docs_page import OAUTH, public, try_out

__all__ = ["public"]  # a fixture


@pytest.fixture
def signing_in(public: Visit) -> Any:
    """The window that "Authorize" opened, past the sign-in page."""
    Membership.objects.create(organization=Organization.objects.get(), user=person())
    with public.page.expect_popup() as opened:
        public.page.click(f"{OAUTH} .authorize")
    window = opened.value
    window.set_default_timeout(milliseconds())
    window.fill("[name=login]", "ada@example.com")
    window.fill("[name=password]", PASSWORD)
    with window.expect_navigation(url="**/api/auth/mcp/authorize?*", wait_until="load"):
        window.click("main [type=submit]")
    return window


@pytest.mark.spec("RFC 6749 §4.1")
def test_a_member_signs_in_from_the_reference_and_asks(public: Visit, signing_in: Any) -> None:
    with signing_in.expect_event("close"):
        signing_in.get_by_role("button", name="Allow").click()
    page = public.page
    expect(page.locator(f"{OAUTH} h6")).to_have_text("Authorized")
    page.click(f"{OAUTH} .btn-done")
    answer = try_out(page)
    assert answer.status == 200
    assert answer.json()["viewer"]["email"] == "ada@example.com"
    assert public.was_quiet()


@pytest.mark.soak
@pytest.mark.spec("RFC 6749 §4.1.2.1")
def test_a_member_who_denies_is_told_so_in_the_reference(public: Visit, signing_in: Any) -> None:
    with signing_in.expect_event("close"):
        signing_in.get_by_role("button", name="Deny").click()
    expect(public.page.locator(f"{OAUTH} .errors")).to_contain_text("You did not let the API reference in.")
    assert public.was_quiet()
