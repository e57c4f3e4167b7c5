"""How a browser gets to the pages of tokens for scripts; as ways.py, of which this is a part."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from apps.oauthmcp.models import Application, Authorization, ScriptToken
from apps.orgs.models import Membership
from tests.browser import ways
from tests.browser.conftest import Visit
from tests.oauthmcp.grants import make_authorization

LIST = "/account/tokens/"


def give(member: Membership, name: str, scope: str = "account:read apps:read", **fields: Any) -> Authorization:
    authorization = make_authorization(
        Application.objects.get(client_id="porthole-scripts"),
        member,
        scope,
        **{"last_used_at": timezone.now() - timedelta(hours=5)} | fields,
    )
    ScriptToken.objects.create(authorization=authorization, name=name)
    return authorization


def several(visit: Visit) -> None:
    """Of two organizations, one of which she owns; some work, and some have ended."""
    user = ways.member_of_two(visit)
    now = timezone.now()
    for member in Membership.objects.filter(user=user):
        give(member, "Nightly health check")
        give(member, ways.LONG_WORD, "apps:read config:read files:read docs:read", last_used_at=None)
        give(member, "Release pipeline", revoked_at=now - timedelta(days=1))
        give(member, ways.LONG_WORD, expires_at=now - timedelta(days=2), last_used_at=None)
    visit.sign_in(user)
    visit.open(LIST)


def everybodys(visit: Visit) -> None:
    several(visit)
    visit.follow("text=See everybody’s tokens")


def refused(visit: Visit) -> None:
    """A form in which almost everything is missing."""
    visit.sign_in(ways.member_of_two(visit))
    visit.open(f"{LIST}new/")
    visit.page.locator("form").evaluate_all("forms => forms.forEach(form => { form.noValidate = true })")
    visit.page.check("[value=day]")
    visit.page.check("[value='files:read']")
    visit.page.uncheck("[value='files:read']")
    visit.follow("text=Make the token")


def made(visit: Visit) -> None:
    ways.signed_in_at(f"{LIST}new/")(visit)
    visit.page.check("[value='apps:read']")
    visit.send(name="Nightly health check")
