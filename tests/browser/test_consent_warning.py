"""The consent page, in a real browser: the warning stands on the right app, and the decision is in sight."""

import os
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import expect

from apps.oauthmcp.models import Grant
from apps.orgs.callers import SCOPES
from apps.orgs.models import Membership, Organization
from tests.browser import ways
from tests.browser.conftest import Visit
from tests.oauthmcp.authorizing import PATH, wanted
from tests.oauthmcp.grants import make_client, make_member

SCREENSHOTS = os.environ.get("SCREENSHOTS")
LOCAL = "http://127.0.0.1/callback"
IMPOSTOR = "https://claude.ai.sign-in.example/callback"
WARNING = ".problem:has-text('Do you know its address?')"


def open_consent(visit: Visit, redirect_uri: str, name: str = "Claude Code") -> None:
    client = make_client(name, redirect_uris=redirect_uri)
    visit.open(f"{PATH}?{urlencode(wanted(client, redirect_uri=redirect_uri))}")


def sign_in_with_three_organizations(visit: Visit) -> None:
    for name in ("Harbour", "Lighthouse"):
        make_member(Organization.objects.create(slug=name.lower(), name=f"{name} Logistics"))
    visit.sign_in(make_member(Organization.objects.get(slug="acme")).user)


def picture(visit: Visit, name: str) -> None:
    if SCREENSHOTS:
        visit.page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", animations="disabled")


def test_an_impostor_with_a_web_address_is_marked_and_the_real_one_is_not(visit: Visit) -> None:
    sign_in_with_three_organizations(visit)
    for name, uri, is_marked in (("impostor", IMPOSTOR, True), ("real", LOCAL, False)):
        open_consent(visit, uri)
        assert "Claude Code" in visit.page.locator("h1").inner_text()
        assert visit.page.locator(WARNING).count() == is_marked
        assert visit.page.locator(".decide.careful").count() == is_marked
        expect(visit.page.locator("[value=allow]")).to_be_enabled()
        for width, height in ((390, 844), (1280, 800)):
            for scheme in ("light", "dark"):
                visit.page.set_viewport_size({"width": width, "height": height})
                visit.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                picture(visit, f"{name}-{width}-{scheme}")
    open_consent(visit, IMPOSTOR)
    assert visit.page.locator(".where").inner_text() == "claude.ai.sign-in.example"
    assert visit.page.locator(".where strong").inner_text() == "sign-in.example"
    assert visit.was_quiet()


def test_the_decision_is_in_sight_with_the_warning(visit: Visit) -> None:
    sign_in_with_three_organizations(visit)
    for name, app, uri in (
        ("local", "Claude Code", LOCAL),
        ("web", "Claude Code", IMPOSTOR),
        ("long", "W" * 100, f"https://{'long.' * 40}example/callback"),
    ):
        visit.page.set_viewport_size({"width": 1280, "height": 800})
        open_consent(visit, uri, app)
        assert visit.page.locator("[name=scope]").count() == len(SCOPES)
        for width, height in ((1280, 800), (390, 844), (390, 664)):
            visit.page.set_viewport_size({"width": width, "height": height})
            picture(visit, f"fits-{name}-{width}x{height}")
            for choice in ("allow", "deny"):
                expect(visit.page.locator(f"[value={choice}]")).to_be_in_viewport(ratio=1)
            if name != "local":
                assert is_above(visit, WARNING, ".decide")


def is_above(visit: Visit, upper: str, lower: str) -> bool:
    box, below = (visit.page.locator(one).bounding_box() for one in (upper, lower))
    return bool(box and below and box["y"] + box["height"] <= below["y"])


def test_the_keyboard_walks_through_in_the_order_of_reading_and_enter_in_a_box_decides_nothing(visit: Visit) -> None:
    sign_in_with_three_organizations(visit)
    open_consent(visit, IMPOSTOR)
    expect(visit.page.locator("[value=allow]")).to_be_enabled()
    names = []
    for _ in range(20):
        visit.page.keyboard.press("Tab")
        focused = visit.page.evaluate(
            "(e => e.value || e.textContent.trim() || e.getAttribute('href'))(document.activeElement)"
        )
        names.append(focused)
        assert visit.page.evaluate(
            """(() => { const e = document.activeElement, box = e.getBoundingClientRect();
            const foot = document.querySelector('.decide');
            return foot.contains(e) || box.bottom <= foot.getBoundingClientRect().top + 1; })()"""
        ), focused
        if focused == "deny":
            break
    first = str(Membership.objects.order_by("organization__name").values_list("pk", flat=True)[0])
    assert names == [
        "Skip to the content", "Porthole", "switch", first, *SCOPES, "connected apps", "allow", "deny",
    ]  # fmt: skip

    visit.page.locator("[name=scope]").first.focus()
    visit.page.keyboard.press("Space")
    with visit.page.expect_navigation():
        visit.page.keyboard.press("Enter")
    assert not visit.page.locator("[name=scope]").first.is_checked()
    assert visit.page.locator("[value=allow]").count() == 1
    assert visit.page.locator("[role=alert]").count() == 0
    assert not Grant.objects.exists()
    assert visit.was_quiet()


def test_allow_waits_when_the_window_has_just_come_to_the_front(visit: Visit) -> None:
    ways.asked_by_an_app()(visit)
    allow = visit.page.locator("[value=allow]")
    expect(allow).to_be_enabled()
    visit.page.evaluate("window.dispatchEvent(new Event('focus'))")
    assert allow.is_disabled()
    assert visit.page.locator("[value=deny]").is_enabled()
    expect(allow).to_be_enabled()
