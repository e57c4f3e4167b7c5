"""Signing in, in a real browser: no page breaks a rule, all fit a telephone. SCREENSHOTS: a folder for pictures."""

import os
from pathlib import Path
from typing import Any

import pytest

from apps.orgs.invitations import invite
from apps.orgs.models import Invitation, Membership, User
from tests.browser.conftest import Visit
from tests.factories import fill
from tests.oauthmcp.accounts.visitors import PASSWORD, code, link_in_mail

STEP = 57_000_000


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Thread

    from allauth.mfa.totp.internal import auth

    monkeypatch.setattr(auth, "yield_hotp_counters_from_time", lambda: iter([STEP]))
    monkeypatch.setattr("apps.orgs.mail.start", Thread.run)


def follow(page: Any, selector: str) -> None:
    """Clicks what leads to another page, and waits until that one is there: a click alone returns before."""
    with page.expect_navigation(wait_until="load"):
        page.click(selector)


def look_at(visit: Visit, name: str) -> None:
    """The page fits at every width, in light and in dark; and a picture of each is kept where one is wanted."""
    for width in (320, 1280):
        visit.page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            visit.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert visit.page.evaluate("document.documentElement.scrollWidth") <= width, name
            if folder := os.environ.get("SCREENSHOTS"):
                path = Path(folder) / f"{name}-{width}-{scheme}.png"
                visit.page.screenshot(path=path, full_page=True)


def test_an_invitation_leads_to_an_account_with_a_second_factor(visit: Visit, steady: None) -> None:
    acme, page = fill("harbour").organization, visit.page
    submit = "main [type=submit]"
    invite(Invitation(organization=acme, email="ada@example.com"))

    visit.open(link_in_mail())
    look_at(visit, "invitation")
    page.fill("[name=name]", "Ada")
    page.fill("[name=password1]", PASSWORD)
    page.fill("[name=password2]", PASSWORD)
    follow(page, submit)
    assert page.locator("h1").inner_text() == "Your account"
    look_at(visit, "account")

    follow(page, "text=Set up a second factor")
    look_at(visit, "second-factor-off")
    follow(page, "text=Set up an authenticator app")
    look_at(visit, "reauthenticate")
    page.fill("[name=password]", PASSWORD)
    follow(page, submit)
    look_at(visit, "authenticator-app")
    page.fill("[name=code]", code(STEP, page.locator(".key").inner_text()))
    follow(page, submit)
    assert page.locator("h1").inner_text() == "Recovery codes"
    look_at(visit, "recovery-codes")
    recovery = page.locator(".codes code").first.inner_text()
    visit.open("/account/second-factor/")
    look_at(visit, "second-factor-on")

    visit.open("/account/logout/")
    look_at(visit, "sign-out")
    follow(page, submit)
    look_at(visit, "sign-in")
    page.fill("[name=login]", "ada@example.com")
    page.fill("[name=password]", "wrong-password")
    follow(page, submit)
    look_at(visit, "sign-in-wrong")
    page.fill("[name=password]", PASSWORD)
    follow(page, submit)
    look_at(visit, "challenge")
    page.fill("[name=code]", recovery)
    follow(page, submit)
    assert page.locator("h1").inner_text() == "Your account"
    assert Membership.objects.filter(organization=acme, user=User.objects.get(email="ada@example.com")).exists()
    assert visit.was_quiet()


def test_a_forgotten_password_is_replaced(visit: Visit, steady: None) -> None:
    User.objects.create_user("ada@example.com", PASSWORD)
    page = visit.page
    visit.open("/account/login/")
    follow(page, "text=I forgot my password")
    look_at(visit, "reset")
    page.fill("[name=email]", "ada@example.com")
    follow(page, "main [type=submit]")
    look_at(visit, "reset-sent")
    visit.open(link_in_mail())
    look_at(visit, "reset-choose")
    page.fill("[name=password1]", "short")
    page.fill("[name=password2]", "different")
    follow(page, "main [type=submit]")
    look_at(visit, "reset-wrong")
    page.fill("[name=password1]", "another-long-password")
    page.fill("[name=password2]", "another-long-password")
    follow(page, "main [type=submit]")
    assert page.locator("h1").inner_text() == "You can sign in now"
    look_at(visit, "reset-done")
    visit.open("/account/invitations/unknown/")
    look_at(visit, "invitation-gone")
    visit.complaints.clear()  # Chromium writes that this page is a 404
    assert visit.was_quiet()
