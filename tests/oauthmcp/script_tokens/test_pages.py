"""/account/tokens/: everybody's own tokens, and for owners those of their organization."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.oauthmcp import pruning
from apps.oauthmcp.models import AccessToken, Application, Authorization, ScriptToken
from apps.oauthmcp.script_tokens import organizations
from apps.orgs.models import Membership, Organization, User
from tests.accounts.visitors import said, visitor
from tests.api import Api
from tests.factories import Fill
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member
from tests.oauthmcp.script_tokens.page import LIST, make_token, newest
from tests.operators import client_of, queries_of, staff_who_may


def script_token(member: Membership, name: str = "Nightly", **fields: Any) -> Authorization:
    """As the page would leave it."""
    authorization = make_authorization(Application.objects.get(client_id="porthole-scripts"), member, **fields)
    ScriptToken.objects.create(authorization=authorization, name=name)
    return authorization


def owner_of(fill: Fill, email: str = "owner@example.com") -> Client:
    member = make_member(fill.organization, email)
    Membership.objects.filter(pk=member.pk).update(role="owner")
    return visitor(member.user)


def page_of(fill: Fill) -> str:
    return reverse("organization_script_tokens", args=[fill.organization.pk])


# One's own


def test_the_page_tells_what_a_token_may_see_how_long_and_when_it_was_used(ada: Membership) -> None:
    make_token(ada)
    used = datetime(2026, 2, 3, 4, 5, 59, tzinfo=UTC)
    Authorization.objects.update(last_used_at=used)
    row, page = newest().authorization, said(visitor(ada.user).get(LIST))
    assert "Nightly May look at Acme May see The organization and you; Apps and deployments Made" in page
    assert f"Made {row.created:%-d %B %Y} Ends {row.expires_at:%-d %B %Y, %H:%M} UTC" in page
    assert "Last used 3 February 2026, 04:05 UTC" in page
    assert "right to the minute" in page
    assert "You have 1 of 20." in page
    Authorization.objects.update(last_used_at=None)
    assert "Last used Never" in said(visitor(ada.user).get(LIST))


def test_a_token_that_was_never_made_is_not_listed_and_neither_are_others(ada: Membership, acme: Fill) -> None:
    script_token(make_member(acme.organization, "bob@example.com"), "Bob's")
    make_authorization(make_client("An app"), ada)
    page = said(visitor(ada.user).get(LIST))
    assert "You have none that works." in page
    assert "Bob" not in page
    assert "An app" not in page


def test_tokens_for_scripts_are_no_connected_apps(ada: Membership) -> None:
    script_token(ada)
    assert "Nothing is connected." in said(visitor(ada.user).get("/account/clients/"))


def test_a_name_is_text_and_nothing_else(ada: Membership, acme: Fill) -> None:
    script_token(ada, "<b>Bold</b>")
    for page in (visitor(ada.user).get(LIST), owner_of(acme).get(page_of(acme))):
        assert "&lt;b&gt;Bold&lt;/b&gt;" in page.content.decode()
        assert "<b>" not in page.content.decode()


@pytest.mark.parametrize("id", ["x", "1", "00000000-0000-0000-0000-000000000000", "%00", "a" * 3000])
def test_an_id_that_names_nothing_is_not_found(ada: Membership, acme: Fill, id: str) -> None:
    assert visitor(ada.user).post(f"{LIST}{id}/end/").status_code == 404
    assert owner_of(acme).post(f"{page_of(acme)}{id}/end/").status_code == 404
    assert owner_of(acme, "second@example.com").get(f"{LIST}organizations/{id}/").status_code == 404


@pytest.mark.parametrize("address", [LIST, f"{LIST}organizations/org_x/"])
def test_somebody_who_is_not_signed_in_is_sent_to_sign_in(db: None, address: str) -> None:
    assert visitor().get(address)["Location"] == f"/account/login/?next={address}"


def test_the_pages_ask_as_many_queries_for_many_tokens_as_for_one(ada: Membership, acme: Fill) -> None:
    member, owner = visitor(ada.user), owner_of(acme)
    counts = []
    for number in (1, 19):
        for _ in range(number):
            script_token(ada)
            script_token(ada, revoked_at=timezone.now())
        with CaptureQueriesContext(connection) as captured:
            assert member.get(LIST).content.decode().count("End it<") in (1, 20)
            assert owner.get(page_of(acme)).content.decode().count("End it<") in (1, 20)
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 14


# An organization's


def test_an_owner_sees_whose_tokens_there_are_and_never_a_token(ada: Membership, acme: Fill, rival: Fill) -> None:
    raw = make_token(ada)
    script_token(make_member(rival.organization, "rival@example.com"), "Of the rival")
    owner = owner_of(acme)
    page = owner.get(page_of(acme))
    assert "Nightly Made by ada@example.com May see The organization and you" in said(page)
    assert "rival" not in said(page).lower()
    assert raw not in page.content.decode()
    assert f'href="{page_of(acme)}"' in owner.get(LIST).content.decode()


def test_nobody_but_an_owner_sees_an_organizations_tokens(ada: Membership, acme: Fill, rival: Fill) -> None:
    address = page_of(acme)
    for browser in (visitor(ada.user), owner_of(rival)):
        assert browser.get(address).status_code == 404
        assert browser.post(f"{address}allow/", {"allow": "no"}).status_code == 404
        assert address not in browser.get(LIST).content.decode()
    assert Organization.objects.get(slug="acme").allows_script_tokens


def test_forbidding_says_before_how_many_end(ada: Membership, acme: Fill) -> None:
    owner = owner_of(acme)
    assert "None has to end." in said(owner.get(page_of(acme)))
    script_token(ada)
    script_token(ada, revoked_at=timezone.now())
    assert "This ends the token above, at once and for good." in said(owner.get(page_of(acme)))
    script_token(ada)
    assert "Forbid tokens and end 2" in said(owner.get(page_of(acme)))
    answer = owner.post(f"{page_of(acme)}allow/", {"allow": "no"}, follow=True)
    assert "Acme allows no tokens for scripts any more: all have ended." in said(answer)
    assert "They are forbidden" in said(answer)
    assert not Authorization.objects.active().exists()


def test_forbidding_ends_nothing_of_apps_and_of_other_organizations(ada: Membership, acme: Fill, rival: Fill) -> None:
    make_authorization(make_client(), ada)
    script_token(make_member(rival.organization))
    script_token(ada)
    owner_of(acme).post(f"{page_of(acme)}allow/", {"allow": "no"})
    assert Authorization.objects.active().count() == 2


def test_saving_an_organization_that_allows_tokens_ends_none(ada: Membership, acme: Fill) -> None:
    script_token(ada)
    acme.organization.save()
    assert Authorization.objects.active().exists()


def test_many_tokens_come_in_pages(ada: Membership, acme: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(organizations, "PER_PAGE", 2)
    for number in range(3):
        script_token(ada, f"Number {number}")
    script_token(ada, "Gone", revoked_at=timezone.now())
    owner = owner_of(acme)
    first, second = said(owner.get(page_of(acme))), said(owner.get(page_of(acme) + "?page=2"))
    assert "Page 1 of 2" in first
    assert "Forbid tokens and end 3" in first
    assert "Gone" in first
    assert "Number 0" in second
    assert "Gone" not in second


# Operators


def test_an_operator_finds_tokens_by_organization_state_user_and_id(
    operator: Client, ada: Membership, rival: Fill
) -> None:
    mine = script_token(ada, "Mine")
    script_token(ada, "Over", revoked_at=timezone.now())
    script_token(make_member(rival.organization, "zoe@example.com"), "Of the rival")
    address = reverse("admin:oauthmcp_scripttoken_changelist")

    def found(**query: str) -> set[str]:
        answer = operator.get(address, query)
        assert answer.status_code == 200
        return {str(row) for row in answer.context["cl"].result_list}

    assert found() == {"Mine", "Over", "Of the rival"}
    assert found(organization="rival") == found(q="zoe") == {"Of the rival"}
    assert found(state="active") == {"Mine", "Of the rival"}
    assert found(state="revoked") == {"Over"}
    assert found(q=str(mine.pk)) == {"Mine"}
    assert found(q="'") == set()


def test_an_operators_list_asks_as_many_queries_for_many_tokens_as_for_one(operator: Client, ada: Membership) -> None:
    address = reverse("admin:oauthmcp_scripttoken_changelist")
    counts = []
    for number in (1, 20):
        for _ in range(number):
            script_token(ada)
        counts.append(len(queries_of(lambda: operator.get(address))))
    assert counts[0] == counts[1]


def test_an_operator_without_permissions_sees_and_ends_nothing(db: None, ada: Membership) -> None:
    script_token(ada)
    address = reverse("admin:oauthmcp_scripttoken_changelist")
    staff = client_of(staff_who_may("view_scripttoken"))
    assert staff.get(address).status_code == 200
    data = {"action": "revoke_access", "confirmed": "yes", "_selected_action": [str(Authorization.objects.get().pk)]}
    staff.post(address, data)
    assert Authorization.objects.active().exists()


# Afterwards


def test_what_ended_is_deleted_with_its_name_after_thirty_days_and_not_before(ada: Membership) -> None:
    now = timezone.now()
    User.objects.update(password_changed_at=None)
    for ended in (timedelta(days=31), timedelta(days=29)):
        make_access_token(script_token(ada, f"{ended.days}", expires_at=now - ended), expires=now - ended)
        script_token(ada, f"revoked {ended.days}", revoked_at=now - ended)
    working = script_token(ada, "working", created=now - timedelta(days=300), expires_at=now + timedelta(days=60))
    raw = make_access_token(working, expires=working.expires_at)
    dict(pruning.prune(now))
    assert set(ScriptToken.objects.values_list("name", flat=True)) == {"29", "revoked 29", "working"}
    assert AccessToken.objects.count() == 1
    assert Api(bearer=raw).post("get_account").status_code == 200
