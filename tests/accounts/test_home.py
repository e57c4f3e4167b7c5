"""The first page: one's own organizations at a glance, and how to connect."""

import json
from base64 import b64decode
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.home import install_links
from apps.orgs.models import App, HealthTimetable, Membership, Organization, Platform
from apps.orgs.scope import OrgScope
from apps.orgs.vocabulary import HEALTH_LEVELS
from tests.accounts.visitors import person, said, visitor
from tests.factories import Fill, make_app
from tests.oauthmcp.grants import make_member

pytestmark = pytest.mark.django_db


def judged(fill: Fill, *levels: str) -> None:
    now = timezone.now()
    for number, level in enumerate(levels):
        steps = {"level_1": "healthy", "until_1": now - timedelta(days=1)}  # as it was
        steps |= {"level_2": level, "until_2": now + timedelta(days=1), "organization": fill.organization}
        app = make_app(fill.project, f"{level} {number}")
        HealthTimetable.objects.update_or_create(app=app, holds="always", defaults=steps)


def start_of(membership: Membership) -> str:
    return said(visitor(membership.user).get("/")).partition("Which application it is")[0]


def test_the_page_tells_how_many_applications_have_which_health(acme: Fill) -> None:
    judged(acme, "down", "degraded", "degraded")
    hidden = make_app(acme.project, "hidden", hidden_at=timezone.now())
    HealthTimetable.objects.filter(app=hidden).update(level_1="down")
    text = start_of(make_member(acme.organization))
    scope = OrgScope(acme.organization.pk, None)
    for level in HEALTH_LEVELS:  # the same as a list of applications says
        number = len(scope.apps(health=level).read())
        assert (f" {number} {level} " in text) == (number > 0)
    assert "1 down 2 degraded" in text


def test_of_what_nobody_has_judged_yet_nothing_is_known(acme: Fill) -> None:
    HealthTimetable.objects.all().delete()
    assert f"{App.objects.filter(organization=acme.organization).count()} unknown" in start_of(
        make_member(acme.organization)
    )


def test_nothing_is_shown_of_other_organizations(acme: Fill, rival: Fill) -> None:
    judged(rival, "down", "down")
    text = start_of(make_member(acme.organization))
    assert "Acme" in text
    assert rival.organization.name not in text
    assert "down" not in text
    assert "Acme" not in said(visitor(make_member(rival.organization, "eve@example.com").user).get("/"))
    for stranger in (visitor(), visitor(person("nobody@example.com"))):
        assert "Acme" not in said(stranger.get("/"))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"last_sync_status": "ok", "sync_period": 60, "ago": 30}, "Synced just now."),
        ({"last_sync_status": "ok", "sync_period": 60, "ago": 7300}, "Synced 2 hours ago: that is too old to rely on."),
        (
            {"last_sync_status": "error", "sync_period": 60, "ago": 7300},
            "The last sync failed; what is known is from",
        ),
        ({"last_sync_status": "error", "sync_period": 60, "ago": None}, "The last sync failed."),
        ({"last_sync_status": "never", "sync_period": 60, "ago": None}, "Nothing was synced yet."),
    ],
)
def test_the_page_tells_how_old_what_is_known_is(acme: Fill, fields: dict[str, Any], words: str) -> None:
    ago = fields.pop("ago")
    Platform.objects.all().delete()
    at = None if ago is None else timezone.now() - timedelta(seconds=ago)
    Platform.objects.create(organization=acme.organization, kind="dokploy", last_sync_at=at, **fields)
    assert words in start_of(make_member(acme.organization)).replace("\xa0", " ")


def test_the_number_of_organizations_costs_no_query(acme: Fill, rival: Fill) -> None:
    browser = visitor(make_member(acme.organization).user)
    with CaptureQueriesContext(connection) as captured:
        browser.get("/")
    number_of_one = len(captured)
    make_member(rival.organization)
    for number in range(5):
        make_member(Organization.objects.create(slug=f"more-{number}", name=f"More {number}"))
    with CaptureQueriesContext(connection) as captured:
        assert "More 4" in said(browser.get("/"))
    assert 1 < number_of_one == len(captured) <= 8


def test_who_is_not_signed_in_costs_no_query_and_leaves_nothing(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        answer = visitor().get("/")
    assert answer.cookies == {}
    assert "Sign in" in said(answer)


def test_nobody_keeps_the_page(acme: Fill) -> None:
    assert "no-store" in visitor(make_member(acme.organization).user).get("/")["Cache-Control"]


def test_a_member_of_nothing_reads_what_comes_next() -> None:
    assert "to invite ada@example.com :" in said(visitor(person()).get("/"))
    operator = visitor(person("op@example.com", is_staff=True)).get("/")
    assert "add yourself to its members" in said(operator)
    assert "/admin/orgs/organization/" in operator.content.decode()


def test_links_for_editors_hold_the_address_that_clients_find_in_the_metadata(settings: Any) -> None:
    settings.PUBLIC_URL = "https://porthole.example.com"
    page, address = unescape(visitor().get("/").content.decode()), "https://porthole.example.com/mcp"
    (_, cursor), (_, code) = install_links(address)
    assert f'href="{cursor}"' in page
    assert f'href="{code}"' in page
    query = parse_qs(urlsplit(cursor).query, strict_parsing=True)
    assert query["name"] == ["porthole"]
    assert json.loads(b64decode(query["config"][0], validate=True)) == {"url": address}
    assert json.loads(unquote(code.removeprefix("vscode:mcp/install?"))) == {
        "name": "porthole", "type": "http", "url": address,
    }  # fmt: skip
    for line in (f"claude mcp add --transport http porthole {address}", f"codex mcp add porthole --url {address}"):
        assert f"<code>{line}</code>" in page


def test_the_usual_key_of_local_is_the_only_token_on_the_page(settings: Any, acme: Fill) -> None:
    settings.LOCAL_DEV_BEARER = ""
    assert "Make a token" in said(visitor(make_member(acme.organization).user).get("/"))
