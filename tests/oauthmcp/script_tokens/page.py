"""Making tokens for scripts, as people do: on the page, after they gave their password."""

import re
from typing import Any

from django.core import mail
from django.test import Client

from apps.oauthmcp.models import ScriptToken
from apps.orgs.models import Membership
from tests.accounts.visitors import Fields, confirm, visitor

LIST = "/account/tokens/"
NEW = "/account/tokens/new/"
SCOPES = ["account:read", "apps:read"]
SHOWN = re.compile(r"porthole_st_[0-9A-Za-z]{49}")


def confirmed(member: Membership) -> Client:
    """A browser in which this member has just given the password."""
    browser = visitor(member.user)
    confirm(browser)
    return browser


def form_of(browser: Client) -> dict[str, Any]:
    """What the page sends as it stands, with a name and two scopes; nothing else is chosen on it."""
    answer = browser.get(NEW)
    assert answer.status_code == 200
    fields = Fields(answer.content.decode()).names
    return {
        "form": fields["form"],
        "name": "Nightly",
        "organization": fields["organization"],
        "scope": SCOPES,
        "end": "30",
    }


def send(browser: Client, **changes: Any) -> Any:
    """Fields that are None are left out."""
    form = form_of(browser) | changes
    return browser.post(NEW, {name: value for name, value in form.items() if value is not None})


def shown(answer: Any) -> str:
    """The token on the page that says it."""
    assert answer.status_code == 200, answer.content.decode()
    found = set(SHOWN.findall(answer.content.decode()))
    assert len(found) == 1
    return found.pop()


def make_token(member: Membership, **changes: Any) -> str:
    """Its value. The mail about it is thrown away."""
    raw = shown(send(confirmed(member), organization=str(member.pk), **changes))
    mail.outbox.clear()
    return raw


def newest() -> ScriptToken:
    return ScriptToken.objects.select_related("authorization").order_by("authorization__created").last()  # type: ignore[return-value]
