"""Fills the database, with the code of the earlier release: the demo, and an organization with people and tokens.

    python clock.py make.py people.json

Rows are made by that release's own factories; `people.json` gets what only those people have: tokens, codes, a link.
"""

import json
import sys
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from apps.orgs.sync.apply import apply
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from apps.orgs.models import App, AppFact, Domain, EdgeFact, Environment, Invitation, Organization, Platform
from tests.factories import Fill, fill, make, make_app, make_more
from tests.oauthmcp.accounts.visitors import PASSWORD, SECRET, give_second_factor, visitor
from tests.oauthmcp.grants import (
    make_access_token,
    make_authorization,
    make_client,
    make_member,
    make_refresh_token,
)
from tests.orgs.sync.snapshots import rich

SLUG, EMAIL = "works", "ada@example.com"


def main(file: str) -> None:
    call_command("migrate", verbosity=0)
    call_command("load_demo", stdout=StringIO())
    works = fill(SLUG)
    make_more(works, 60)
    synced = Platform.objects.create(organization=works.organization, kind="dokploy", sync_period=300)
    apply(synced, rich())
    set_facts(works, synced)
    Path(file).write_text(json.dumps(people(works.organization) | {"mended": mended(works)}))


def set_facts(works: Fill, synced: Platform) -> None:
    """The manifest's facts never age, the platform's were told just now."""
    for model in (EdgeFact, AppFact):
        model.objects.filter(organization=works.organization, platform=None).update(platform=works.platform)
    EdgeFact.objects.filter(platform=synced).update(checked_at=timezone.now() - timedelta(seconds=100))
    # As rows were that no sync made; each is the only one of its project, so their order is no other.
    Environment.objects.filter(platform=synced).update(sort_key="")


def mended(works: Fill) -> str:
    """The id of an application with a check of 400 days ago that no platform told: until now it counted as fresh."""
    app: App = make_app(works.project, "Checked long ago", status="deployed")
    domain = make(Domain, works.organization, app=app, host="old.example.com", https=True)
    EdgeFact.objects.create(
        organization=works.organization, domain=domain, reachable=True, http_status=200,
        checked_at=timezone.now() - timedelta(days=400),
    )  # fmt: skip
    return str(app.pk)


def people(organization: Organization) -> dict[str, Any]:
    membership = make_member(organization, EMAIL)
    give_second_factor(membership.user)
    codes = RecoveryCodes.activate(membership.user)
    browser = visitor(membership.user)
    client = make_client("An app")
    authorization = make_authorization(client, membership)
    invitation = Invitation(organization=organization, email="newcomer@example.com", role="member")
    token = invitation.new_token()
    invitation.save()
    return {
        "email": EMAIL,
        "password": PASSWORD,
        "totp_secret": SECRET,
        "recovery_code": codes.get_unused_codes()[0],
        "session": browser.cookies[settings.SESSION_COOKIE_NAME].value,
        "client_id": client.client_id,
        "access_token": make_access_token(authorization),
        "refresh_token": make_refresh_token(authorization),
        "invitation": f"/account/invitations/{token}/",
    }


if __name__ == "__main__":
    main(sys.argv[1])
