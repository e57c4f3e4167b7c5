"""What holds on every page: it fits, anybody can use it, it asks nobody else. SCREENSHOTS=build/pictures keeps some."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Response, expect

from tests.browser import axe
from tests.browser.conftest import Visit
from tests.browser.pages import EVERY_RUN, PAGES, Page
from tests.selection import RUN

SCREENSHOTS = os.environ.get("SCREENSHOTS")  # a folder, where somebody wants to look at the pages


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.name, marks=[] if page.name in EVERY_RUN else pytest.mark.soak) for page in PAGES],
)
def test_a_page_fits_and_anybody_can_use_it(visit: Visit, page: Page) -> None:
    answers: list[Response] = []
    visit.page.on("response", lambda answer: answer.request.is_navigation_request() and answers.append(answer))
    page.bring(visit)
    expect(visit.page.get_by_role("heading", name=page.heading).first).to_be_visible()
    assert answers[-1].status == page.status
    if page.status >= 400:
        visit.complaints.clear()  # Chromium writes that the page has this status

    # What differs in the dark are colours, and they are the same at every width.
    for width, scheme, rules in ((1280, "light", ()), (1280, "dark", axe.COLOURS), (320, "light", axe.LAYOUT)):
        visit.page.set_viewport_size({"width": width, "height": 800})
        visit.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        if SCREENSHOTS:
            picture = Path(SCREENSHOTS) / f"{page.name}-{width}-{scheme}.png"
            visit.page.screenshot(path=picture, full_page=True, animations="disabled")
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert axe.violations(visit.page, page.leave_out, rules if RUN != "soak" else ()) == []
    assert visit.was_quiet()


def test_a_page_that_cannot_be_used_is_noticed(visit: Visit) -> None:
    visit.open("/")
    visit.page.evaluate("document.querySelector('.brand img').removeAttribute('alt')")
    visit.page.evaluate("document.querySelector('.lead').style.color = '#d0d0d0'")
    rules = {violation.split(":")[0] for violation in axe.violations(visit.page)}
    assert rules == {"image-alt", "color-contrast"}
    assert [violation.split(":")[0] for violation in axe.violations(visit.page, rules=axe.COLOURS)] == [
        "color-contrast"
    ]
