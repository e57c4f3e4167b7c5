"""What Porthole adds to the operators' site, in a real browser. SCREENSHOTS=build/pictures keeps pictures of it."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from apps.orgs.models import App, Deployment, EdgeFact, Organization, Platform, User
from tests.browser import axe
from tests.browser.conftest import Visit
from tests.factories import fill, make
from tests.oauthmcp.grants import make_authorization, make_client, make_member
from tests.operators import LISTED, list_of, page_of

SCREENSHOTS = os.environ.get("SCREENSHOTS")
OURS = (".concerns", ".verdict", ".beneath", ".organization-filter", ".delete-confirmation", ".toplinks")
LONG = "Merge branch 'feature/invoices-with-tax-of-other-countries' of git.example.com:acme/shop into main"


def operator(visit: Visit) -> User:
    user = User.objects.create_superuser("operator@example.com", "a-long-password")
    visit.sign_in(user)
    return user


def look(visit: Visit, name: str) -> None:
    """That the page fits and its parts that are ours can be used by anybody; Django's own parts are Django's."""
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")):
        visit.page.set_viewport_size({"width": width, "height": 800})
        visit.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        visit.page.evaluate("Promise.allSettled(document.getAnimations().map(it => it.finished))")  # colours fade
        if SCREENSHOTS:
            picture = Path(SCREENSHOTS) / f"{name}-{width}-{scheme}.png"
            visit.page.screenshot(path=picture, full_page=True, animations="disabled")
        if width == 1280:
            assert overflowing(visit) == []
        assert violations(visit) == []
    visit.page.set_viewport_size({"width": 1280, "height": 800})


def overflowing(visit: Visit) -> list[str]:
    """What has to be scrolled sideways."""
    script = """() => [document.documentElement, ...document.querySelectorAll('.results, .beneath, .concerns')]
        .filter(it => it.scrollWidth > it.clientWidth + 1).map(it => it.className + ' ' + it.scrollWidth)"""
    found: list[str] = visit.page.evaluate(script)
    return found


def violations(visit: Visit) -> list[str]:
    if not visit.page.evaluate("'axe' in window"):
        visit.page.evaluate(axe.source())
    there = [selector for selector in OURS if visit.page.locator(selector).count()]
    if not there:
        return []
    # Without a preload, for which axe would put the styles that Django's import into the page: the policy refuses that.
    script = "async ([of, options]) => (await axe.run({include: of.map(it => [it])}, options)).violations"
    found: list[dict[str, Any]] = visit.page.evaluate(script, [there, axe.OPTIONS | {"preload": False}])
    return [f"{it['id']}: {node['html']} {node['failureSummary']}" for it in found for node in it["nodes"]]


def break_things() -> App:
    now, acme = timezone.now(), Organization.objects.get(slug="acme")
    app = App.objects.get(organization=acme)
    EdgeFact.objects.filter(domain__app=app).update(reachable=False, checked_at=now, period=60, platform=None)
    EdgeFact.objects.filter(domain__app=app).update(tls_not_after=now + timedelta(days=3))
    for number in range(60):
        status = "failed" if number % 7 == 0 else "succeeded"
        make(
            Deployment, acme, app=app, title=f"{LONG} (#{number})", status=status,
            created_at=now - timedelta(hours=9 * number),
            error_message="npm error: the build ran out of memory" if status == "failed" else None,
        )  # fmt: skip
    make(
        Platform, acme, kind="dokploy", sync_period=60, last_sync_at=now - timedelta(hours=2), last_sync_status="error"
    )
    return app


@pytest.mark.soak
def test_operators_see_what_needs_a_look_and_come_to_it(visit: Visit) -> None:
    app = break_things()
    operator(visit)
    visit.open("/admin/")
    expect(visit.page.get_by_role("heading", name="What needs a look")).to_be_visible()
    look(visit, "admin-index")
    visit.follow("text=Applications down or degraded")
    expect(visit.page.locator("#result_list tbody tr")).to_have_count(1)
    look(visit, "admin-applications")
    visit.follow(f"#result_list >> text={app.name}")
    expect(visit.page.get_by_role("heading", name="Health: down")).to_be_visible()
    look(visit, "admin-application")
    visit.follow("text=All deployments of")
    expect(visit.page.locator("#result_list tbody tr")).to_have_count(50)
    look(visit, "admin-deployments")
    assert visit.was_quiet()


@pytest.mark.soak
def test_a_list_is_narrowed_by_a_part_of_an_organizations_name(visit: Visit) -> None:
    break_things()
    fill("rival")
    operator(visit)
    visit.open(list_of(Deployment))
    visit.page.click(".organization-filter .select2-selection")
    visit.page.fill(".select2-search__field", "iva")
    visit.page.click(".select2-results__option >> text=Rival (rival)")
    look(visit, "admin-filter")
    visit.follow(".organization-filter [type=submit]")
    expect(visit.page.locator("#result_list tbody tr")).to_have_count(1)
    expect(visit.page.locator(".organization-filter .select2-selection")).to_contain_text("Rival (rival)")
    visit.follow("text=All organizations")
    expect(visit.page.locator("#result_list tbody tr")).to_have_count(50)
    assert visit.was_quiet()


@pytest.mark.soak
def test_every_list_fits_without_scrolling_sideways(visit: Visit) -> None:
    break_things()
    operator(visit)
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    for model in LISTED:
        visit.open(list_of(model))
        assert overflowing(visit) == [], model
    assert visit.was_quiet()


@pytest.mark.soak
def test_access_is_ended_from_a_users_page_after_a_question(visit: Visit) -> None:
    member = make_member(Organization.objects.get(slug="acme"))
    now = timezone.now()
    for number, name in enumerate(("Release assistant", "W" * 60, "Editor")):
        make_authorization(make_client(name), member, last_used_at=now - timedelta(days=number) if number else None)
    operator(visit)
    visit.open(page_of(member.user))
    look(visit, "admin-user")
    visit.follow("tr:has-text('Editor') >> text=Revoke access")
    expect(visit.page.get_by_text("Editor, which ada@example.com let into Acme")).to_be_visible()
    look(visit, "admin-revoke")
    visit.follow("#content-main [type=submit]")
    expect(visit.page.locator("tr:has-text('Editor')")).to_contain_text("Revoked")
    visit.open(reverse("admin:oauthmcp_authorization_changelist"))
    assert overflowing(visit) == []
    visit.page.check("tr:has-text('Release assistant') >> [type=checkbox]")
    visit.page.select_option("[name=action]", "revoke_access")
    visit.follow("[name=index]")
    expect(visit.page.get_by_text("Release assistant, which ada@example.com")).to_be_visible()
    assert visit.was_quiet()
