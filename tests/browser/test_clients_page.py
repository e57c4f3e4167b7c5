"""The page of connected clients, in a real browser."""

from datetime import timedelta

from django.utils import timezone

from apps.orgs.models import Organization
from tests.accounts.visitors import PASSWORD
from tests.browser.conftest import Visit
from tests.oauthmcp.grants import make_authorization, make_client, make_member

NAMES = ("Release assistant", "W" * 100, "")


def test_somebody_finds_what_they_let_in_and_locks_it_out(visit: Visit) -> None:
    member, page = make_member(Organization.objects.get(slug="acme")), visit.page
    for number, name in enumerate(NAMES):
        used = timezone.now() - timedelta(days=number) if number else None
        make_authorization(make_client(name), member, *["apps:read docs:read"][:number], last_used_at=used)

    visit.open("/account/")
    visit.send(login=member.user.email, password=PASSWORD)
    visit.follow("text=See what you let in")
    for left in (2, 1, 0):
        visit.follow("main [type=submit] >> nth=0")
        assert page.locator("main [type=submit]").count() == left
        assert "is disconnected." in page.locator(".said").inner_text()
    assert visit.was_quiet()
