"""Tokens for scripts, in a real browser, with nothing but the keyboard."""

import re

import pytest
from playwright.sync_api import Error

from apps.oauthmcp.models import Authorization, ScriptToken
from tests.accounts.visitors import PASSWORD
from tests.api import Api
from tests.browser import tokens, ways
from tests.browser.conftest import Visit


def focused(visit: Visit) -> str:
    """What has the focus, by what it says or is called."""
    return str(
        visit.page.evaluate(
            "(e => e.labels?.length ? e.labels[0].innerText.split('\\n')[0] : (e.innerText || e.name || e.tagName))"
            "(document.activeElement)"
        )
    ).strip()


def tab_to(visit: Visit, name: str, most: int = 25) -> list[str]:
    """Presses Tab until `name` has the focus; what was passed on the way. Each is seen to have it."""
    passed = []
    for _ in range(most):
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        if focused(visit) == name:
            return passed
        passed.append(focused(visit))
    raise AssertionError(f"Tab does not lead to {name}, but to {passed}.")


def press(visit: Visit, key: str = "Enter") -> None:
    with visit.page.expect_navigation(wait_until="load"):
        visit.page.keyboard.press(key)


def test_a_token_is_made_used_and_ended_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.sign_in(ways.member(visit), is_confirmed=False)
    visit.open(tokens.LIST)
    tab_to(visit, "Make a token")
    press(visit)
    assert page.locator("h1").inner_text() == "Confirm that it is you"
    if focused(visit) != "Password":
        tab_to(visit, "Password")
    page.keyboard.type(PASSWORD)
    press(visit)

    assert focused(visit) == "Name"
    page.keyboard.type("Nightly")
    tab_to(visit, "Apps and deployments")
    page.keyboard.press("Space")
    passed = tab_to(visit, "In 30 days")
    assert passed == ["Names of settings and secrets", "Files in code repositories", "Documentation and templates"]
    page.keyboard.press("ArrowDown")
    assert focused(visit) == "In 90 days"
    press(visit)

    token = page.locator("#token").inner_text()
    assert page.locator("h1").inner_text() == "Your new token"
    tab_to(visit, "Copy it")
    page.keyboard.press("Enter")
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == token
    assert Api(bearer=token).post("list_apps").status_code == 200
    assert Api(bearer=token).post("get_account").status_code == 403

    tab_to(visit, "I have copied it: to my tokens")
    press(visit)
    assert token not in page.content()
    with pytest.raises(Error, match="ERR_CACHE_MISS"):  # it kept nothing, and would have to send the form anew
        page.go_back()
    page.wait_for_url("chrome-error://**")  # Chromium's own page about it comes a moment later
    visit.open(tokens.LIST)
    tab_to(visit, "End it")
    press(visit)
    assert "Nightly has ended." in page.locator(".said").inner_text()
    assert Api(bearer=token).post("list_apps").status_code == 401
    visit.complaints.clear()  # Chromium's own, about the form that going back would have sent anew
    assert visit.was_quiet()


@pytest.mark.soak
def test_loading_the_token_anew_makes_no_second_one_and_shows_none(visit: Visit) -> None:
    tokens.made(visit)
    token = visit.page.locator("#token").inner_text()
    answer = visit.page.reload()
    assert answer
    assert answer.status == 409
    assert visit.page.locator("h1").inner_text() == "This token was made already"
    assert token not in visit.page.content()
    assert ScriptToken.objects.count() == 1


@pytest.mark.soak
def test_without_scripts_there_is_no_button_that_does_nothing(visit: Visit) -> None:
    context = visit.page.context.browser.new_context(java_script_enabled=False)  # type: ignore[union-attr]
    visit.page.close()
    visit.page = context.new_page()
    tokens.made(visit)
    assert re.fullmatch(r"porthole_st_\w{49}", visit.page.locator("#token").inner_text())
    assert not visit.page.locator("#copy").is_visible()
    assert Authorization.objects.active().count() == 1
    context.close()


@pytest.mark.soak
def test_a_page_of_another_site_ends_and_makes_nothing(visit: Visit) -> None:
    tokens.several(visit)
    before = Authorization.objects.active().count()
    end = visit.page.locator("form[action$='/end/']").first.get_attribute("action")
    for address in (end, f"{tokens.LIST}new/"):
        page = f"<form method=post action='{visit.origin}{address}'><button>x</button>"
        visit.page.goto(f"data:text/html,{page}")
        visit.follow("button")
        assert visit.page.locator("h1").inner_text() == "This is not allowed"
    assert Authorization.objects.active().count() == before
