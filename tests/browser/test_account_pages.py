"""Signing in, in a real browser, from page to page: each leads to the next, and none breaks a rule."""

from apps.accounts.invitations import invite
from apps.orgs.models import Invitation, Membership, Organization, User
from tests.accounts.visitors import PASSWORD, code, link_in_mail
from tests.browser.conftest import STEP, Visit


def test_an_invitation_leads_to_an_account_with_a_second_factor(visit: Visit) -> None:
    acme, page = Organization.objects.get(slug="acme"), visit.page
    invite(Invitation(organization=acme, email="ada@example.com"))

    visit.open(link_in_mail())
    visit.send(name="Ada", password1=PASSWORD, password2=PASSWORD)
    assert page.locator("h1").inner_text() == "Your organizations"
    assert page.locator(".said").inner_text() == "You are a member of Acme now."

    visit.open("/account/")
    visit.follow("text=Set up a second factor")
    visit.follow("text=Set up an authenticator app")
    visit.send(password=PASSWORD)
    visit.send(code=code(STEP, page.locator(".key").inner_text()))
    assert page.locator("h1").inner_text() == "Recovery codes"
    recovery = page.locator(".codes code").first.inner_text()

    visit.open("/account/logout/")
    visit.follow()
    visit.send(login="ada@example.com", password="wrong-password")
    visit.send(password=PASSWORD)
    visit.send(code=recovery)
    assert page.locator("h1").inner_text() == "Your organizations"
    assert Membership.objects.filter(organization=acme, user=User.objects.get(email="ada@example.com")).exists()
    assert visit.was_quiet()


def test_a_forgotten_password_is_replaced(visit: Visit) -> None:
    User.objects.create_user("ada@example.com", PASSWORD)
    visit.open("/account/login/")
    visit.follow("text=I forgot my password")
    visit.send(email="ada@example.com")
    visit.open(link_in_mail())
    visit.send(password1="short", password2="different")
    visit.send(password1="another-long-password", password2="another-long-password")
    assert visit.page.locator("h1").inner_text() == "You can sign in now"
    assert visit.was_quiet()


def test_an_operator_copies_a_link_that_no_way_back_shows_again(visit: Visit) -> None:
    page = visit.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.sign_in(User.objects.create_superuser("operator@example.com", PASSWORD))
    visit.open("/admin/orgs/invitation/add/")
    page.click(".select2-selection")
    page.click(".select2-results__option:has-text('acme')")
    page.fill("[name=email]", "ada@example.com")
    visit.follow("[name=_save]")
    page.click("text=Copy")
    page.wait_for_selector("text=Copied.")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.input_value("#link")
    assert link.endswith(link_in_mail())

    visit.follow("text=Invite somebody else")
    page.go_back()
    assert link not in page.content()
    assert page.locator("#link").count() == 0
    visit.open("/admin/orgs/invitation/")
    assert link not in page.content()
    visit.complaints.clear()  # what Chromium makes of going back to a form
    assert Invitation.objects.count() == 1
