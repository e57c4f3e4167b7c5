"""What operators see of access, what they can end, and that no list shows a secret."""

import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import quote
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.net.encryption import hash_of
from apps.oauthmcp.models import (
    DOCS_CLIENT,
    AccessToken,
    Application,
    Authorization,
    Grant,
    IDToken,
    RefreshToken,
)
from apps.orgs.models import Membership, User
from tests.accounts.visitors import said
from tests.factories import Fill
from tests.oauthmcp.grants import (
    CHALLENGE,
    make_access_token,
    make_authorization,
    make_client,
    make_code,
    make_member,
    make_refresh_token,
)
from tests.operators import client_of, plan_of, queries_of, rows_of, staff_who_may

LISTED = [Application, Authorization, Grant, AccessToken, RefreshToken]
SECRET = "a-client-secret"


@pytest.fixture
def member(acme: Fill) -> Membership:
    return make_member(acme.organization)


@pytest.fixture
def operator(acme: Fill) -> Client:
    return client_of(User.objects.create_superuser("operator@example.com"))


def authorized(member: Membership, name: str = "Assistant") -> tuple[Authorization, list[str]]:
    """A client with everything there can be of it; and its secrets, with the hashes that are stored of them."""
    client = make_client(name, secret=SECRET, metadata={"client_uri": "https://example.com/\u202e"})
    authorization = make_authorization(client, member)
    secrets = [
        make_code(client, member),
        make_access_token(authorization),
        make_refresh_token(authorization),
        SECRET,
    ]
    return authorization, [*secrets, *map(hash_of, secrets), CHALLENGE]


def list_of(model: Any) -> str:
    return reverse(f"admin:oauthmcp_{model._meta.model_name}_changelist")


def page_of(row: Any, page: str = "change") -> str:
    return reverse(f"admin:oauthmcp_{row._meta.model_name}_{page}", args=[row.pk])


def act(client: Client, *rows: Any, is_sure: bool = True) -> Any:
    data: dict[str, Any] = {"action": "revoke_access", "_selected_action": [str(row.pk) for row in rows]}
    return client.post(list_of(type(rows[0])), data | ({"confirmed": "yes"} if is_sure else {}), follow=True)


def test_the_menu_has_a_section_for_access_and_nothing_that_is_never_issued(operator: Client) -> None:
    page = operator.get(reverse("admin:index"))
    section = next(app for app in page.context["app_list"] if app["app_label"] == "oauthmcp")
    assert section["name"] == "Access"
    names = [str(model["name"]) for model in section["models"]]
    assert names == [
        "Access tokens", "Authorization codes", "Authorizations", "Clients", "Refresh tokens", "Tokens for scripts",
    ]  # fmt: skip
    assert operator.get(list_of(IDToken)).status_code == 403
    assert not any("device" in model._meta.model_name for model in admin.site._registry)


@pytest.mark.parametrize("model", LISTED)
def test_lists_and_pages_show_no_secret_and_no_hash(operator: Client, member: Membership, model: Any) -> None:
    _, secrets = authorized(member)
    row = model._default_manager.latest("pk")
    for address in (list_of(model), page_of(row), page_of(row, "history")):
        answer = operator.get(address)
        assert answer.status_code == 200
        page = answer.content.decode()
        assert not [secret for secret in secrets if secret in page]
        assert not re.search(r"[0-9a-f]{64}", page)
        assert "\u202e" not in page


@pytest.mark.parametrize("model", LISTED)
def test_nothing_can_be_added_or_changed(operator: Client, member: Membership, model: Any) -> None:
    authorized(member)
    row = model._default_manager.latest("pk")
    before = model._default_manager.filter(pk=row.pk).values().get()
    assert operator.get(reverse(f"admin:oauthmcp_{model._meta.model_name}_add")).status_code == 403
    assert operator.post(page_of(row), {"scope": "admin", "name": "Mine", "redirect_uris": "x"}).status_code == 403
    if model is not Application:
        assert operator.post(page_of(row, "delete"), {"post": "yes"}).status_code == 403
    assert model._default_manager.filter(pk=row.pk).values().get() == before


def test_a_clients_page_says_what_it_is_and_how_many_authorized_it(operator: Client, member: Membership) -> None:
    authorization, _ = authorized(member)
    page = said(operator.get(page_of(authorization.application)))
    for words in ("Assistant", "Dynamic (RFC 7591)", "client_secret_basic", "http://127.0.0.1:8123/callback",
                  "https://example.com/", "Active authorizations: 1"):  # fmt: skip
        assert words in page


def test_an_authorizations_line_says_who_authorized_what_and_whether_it_is_active(
    operator: Client, member: Membership
) -> None:
    authorization, _ = authorized(member)
    page = said(operator.get(list_of(Authorization)))
    for words in ("ada@example.com", "Acme", "Assistant", "account, apps, config, files, docs", "Never", "Active"):
        assert words in page
    now = timezone.now()
    for changes, state in (
        ({"revoked_at": now}, "Revoked"),
        ({"expires_at": now}, "Expired"),
        ({"created": now - timedelta(days=9)}, "Expired: the password was changed"),
    ):
        make_authorization(authorization.application, member, **changes)
        assert state in said(operator.get(list_of(Authorization)))
    User.objects.filter(pk=member.user_id).update(is_active=False)
    assert "Locked: the user is inactive" in said(operator.get(list_of(Authorization)))


# Finding


@pytest.mark.parametrize("model", LISTED)
def test_a_search_knows_client_ids_and_parts_of_addresses_and_names(
    operator: Client, member: Membership, acme: Fill, model: Any
) -> None:
    authorization, _ = authorized(member)
    authorized(make_member(acme.organization, "bob@example.com"), "Editor")
    ours = model._default_manager.filter(pk__in=ids_of(model, authorization))
    terms = [authorization.application.client_id, "SSIST" if model is Application else " DA@ "]
    for term in terms:
        assert rows_of(operator.get(list_of(model), {"q": term})) == list(ours)
    for term in ("nobody", "%", "da@_", "'--", "\U0010ffff" * 300):
        assert rows_of(operator.get(list_of(model), {"q": term})) == []


def ids_of(model: Any, authorization: Authorization) -> Any:
    column = {Application: "pk", Authorization: "application_id"}.get(model, "application_id")
    return model._default_manager.filter(**{column: authorization.application_id}).values("pk")


def test_authorizations_are_narrowed_by_state_and_organization(
    operator: Client, member: Membership, rival: Fill
) -> None:
    now, client = timezone.now(), make_client()
    active = make_authorization(client, member)
    revoked = make_authorization(client, member, revoked_at=now)
    expired = make_authorization(client, member, expires_at=now - timedelta(days=1))
    replaced = make_authorization(client, member, created=now - timedelta(days=9))
    elsewhere = make_authorization(client, make_member(rival.organization, "eve@example.com"))

    def found(**narrowed: str) -> set[Any]:
        return set(rows_of(operator.get(list_of(Authorization), narrowed)))

    assert found(state="active") == {active, elsewhere}
    assert found(state="revoked") == {revoked}
    assert found(state="expired") == {expired, replaced}
    assert found(organization="rival") == {elsewhere}
    assert found(organization="acme", state="active") == {active}


@pytest.mark.parametrize("model", [Grant, AccessToken, RefreshToken])
def test_codes_and_tokens_are_narrowed_by_organization(
    operator: Client, member: Membership, rival: Fill, model: Any
) -> None:
    authorized(member)
    assert len(rows_of(operator.get(list_of(model), {"organization": "acme"}))) == 1
    assert rows_of(operator.get(list_of(model), {"organization": "rival"})) == []


# Fast


@pytest.mark.parametrize("model", LISTED)
def test_a_list_asks_as_many_queries_for_fifty_rows_as_for_one(
    operator: Client, acme: Fill, member: Membership, model: Any
) -> None:
    narrowed = {} if model is Application else {"organization": "acme"}
    authorized(member)
    for _ in range(2):  # the first answer fills caches, such as that of content types
        before = queries_of(lambda: operator.get(list_of(model), narrowed))
    for number in range(49):
        authorized(make_member(acme.organization, f"somebody-{number}@example.com"), f"Client {number}")
    after = queries_of(lambda: operator.get(list_of(model), narrowed))
    assert len(after) == len(before) <= 6, [query["sql"] for query in after]


@pytest.mark.parametrize("model", LISTED)
def test_the_first_page_of_a_list_sorts_nothing(operator: Client, member: Membership, model: Any) -> None:
    authorized(member)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:  # the tests' tables are so small that these would pay
            cursor.execute(
                "SET LOCAL enable_sort = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"
            )
    plan = plan_of_page(operator, model, {})
    assert "TEMP B-TREE FOR ORDER BY" not in plan, plan
    assert not re.search(r"(?<!Incremental )Sort  ", plan), plan


@pytest.mark.parametrize("model", LISTED[1:])  # clients are also found by name, for which all are read
@pytest.mark.parametrize("is_by_client", [True, False])
def test_a_search_walks_an_index(operator: Client, member: Membership, model: Any, is_by_client: bool) -> None:
    authorization, _ = authorized(member)
    term = authorization.application.client_id if is_by_client else "ada"
    plan = plan_of_page(operator, model, {"q": term})
    assert f"SCAN {model._meta.db_table}\n" not in plan, plan
    assert f"Seq Scan on {model._meta.db_table}" not in plan, plan


def plan_of_page(operator: Client, model: Any, narrowed: dict[str, str]) -> str:
    queries = queries_of(lambda: operator.get(list_of(model), narrowed))
    return plan_of(
        next(
            query["sql"]
            for query in queries
            if f'FROM "{model._meta.db_table}" ' in query["sql"] and "ORDER" in query["sql"]
        )
    )


# Ending


def test_revoking_authorizations_ends_them_tells_how_many_and_is_written_down(
    operator: Client, member: Membership
) -> None:
    first, second = (authorized(member, name)[0] for name in ("One", "Two"))
    kept = authorized(member, "Three")[0]
    answer = act(operator, first, second)
    assert "Revoked 2 authorizations." in said(answer)
    assert list(Authorization.objects.active()) == [kept]
    entries = LogEntry.objects.filter(content_type__model="authorization")
    assert {entry.object_id for entry in entries} == {str(first.pk), str(second.pk)}
    assert {entry.change_message for entry in entries} == {"Revoked access."}
    assert "One for ada@example.com in Acme" in {entry.object_repr for entry in entries}
    assert "Revoked 0 authorizations." in said(act(operator, first))
    assert LogEntry.objects.count() == 2


def test_revoking_a_client_revokes_all_its_authorizations(operator: Client, acme: Fill, member: Membership) -> None:
    authorization, _ = authorized(member)
    make_authorization(authorization.application, make_member(acme.organization, "bob@example.com"))
    kept = authorized(member, "Another")[0]
    assert "Revoked 2 authorizations of 1 client." in said(act(operator, authorization.application))
    assert list(Authorization.objects.active()) == [kept]
    assert Application.objects.filter(pk=authorization.application_id).exists()
    entry = LogEntry.objects.get()
    assert (entry.object_repr, entry.change_message) == ("Assistant", "Revoked all authorizations.")


def test_revoking_asks_first_and_says_what_will_stop(operator: Client, acme: Fill, member: Membership) -> None:
    first, _ = authorized(member)
    other = make_authorization(first.application, make_member(acme.organization, "bob@example.com"))
    ended = make_authorization(first.application, member, revoked_at=timezone.now())
    for row in (first, first.application):
        page = said(act(operator, row, is_sure=False))
        assert "Assistant, which ada@example.com let into Acme: account, apps, config, files, docs; never used" in page
        assert ("bob@example.com" in page) is (row is first.application)
        assert "It cannot be undone." in page
    assert "Nothing of this has access any more." in said(act(operator, ended, is_sure=False))
    assert set(Authorization.objects.active()) == {first, other}
    assert not LogEntry.objects.exists()


def test_the_form_that_asks_sends_what_was_chosen(operator: Client, member: Membership) -> None:
    chosen, kept = (authorized(member, name)[0] for name in ("One", "Two"))
    form = act(operator, chosen, is_sure=False).context["hidden"]
    operator.post(list_of(Authorization), dict(form))
    assert list(Authorization.objects.active()) == [kept]


def test_a_users_page_lists_whom_they_let_in_with_a_way_to_end_each(
    operator: Client, acme: Fill, member: Membership
) -> None:
    authorization, secrets = authorized(member)
    others, _ = authorized(make_member(acme.organization, "bob@example.com"), "Editor")
    address = reverse("admin:orgs_user_change", args=[member.user_id])
    answer = operator.get(address)
    page = said(answer)
    for words in ("Assistant", "Acme", "account, apps, config, files, docs", "Never", "Active", "Revoke access"):
        assert words in page
    assert "Editor" not in page
    assert not [secret for secret in secrets if secret in answer.content.decode()]

    link = f"{reverse('admin:oauthmcp_authorization_revoke', args=[authorization.pk])}?from=user"
    assert f'href="{link}"' in answer.content.decode()
    assert "Assistant, which ada@example.com let into Acme" in said(operator.get(link))
    assert set(Authorization.objects.active()) == {authorization, others}
    ended = operator.post(link, {"confirmed": "yes"})
    assert (ended.status_code, ended["Location"]) == (302, address)
    assert list(Authorization.objects.active()) == [others]
    assert "Revoked" in said(operator.get(address))
    assert LogEntry.objects.get().object_id == str(authorization.pk)


def test_an_authorizations_own_page_leads_to_revoking_it_and_back(operator: Client, member: Membership) -> None:
    authorization, _ = authorized(member)
    link = reverse("admin:oauthmcp_authorization_revoke", args=[authorization.pk])
    assert f'href="{link}"' in operator.get(page_of(authorization)).content.decode()
    assert operator.post(link)["Location"] == page_of(authorization)
    assert f'href="{link}"' not in operator.get(page_of(authorization)).content.decode()
    assert operator.get(reverse("admin:oauthmcp_authorization_revoke", args=[uuid4()])).status_code == 404


def test_who_may_not_revoke_finds_no_way_to(member: Membership) -> None:
    authorization, _ = authorized(member)
    staff = client_of(staff_who_may("view_authorization", "view_user"))
    link = reverse("admin:oauthmcp_authorization_revoke", args=[authorization.pk])
    user_page = staff.get(reverse("admin:orgs_user_change", args=[member.user_id])).content.decode()
    assert "Assistant" in user_page
    assert link not in user_page + staff.get(page_of(authorization)).content.decode()
    assert staff.get(link).status_code == staff.post(link).status_code == 403
    assert Authorization.objects.active().exists()
    User.objects.filter(email="staff@example.com").delete()
    only_users = client_of(staff_who_may("view_user"))
    assert "Assistant" not in said(only_users.get(reverse("admin:orgs_user_change", args=[member.user_id])))


def test_revoking_from_another_site_is_refused(operator: Client, member: Membership) -> None:
    authorization, _ = authorized(member)
    client = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    client.force_login(User.objects.get(email="operator@example.com"))
    data = {"action": "revoke_access", "_selected_action": str(authorization.pk), "confirmed": "yes"}
    for address in (reverse("admin:oauthmcp_authorization_revoke", args=[authorization.pk]), list_of(Authorization)):
        assert client.post(address, data, headers={"origin": "https://evil.example"}).status_code == 403
    assert Authorization.objects.active().exists()


@pytest.mark.parametrize("permission", ["view_authorization", "view_application", "delete_application"])
def test_revoking_needs_the_permission(member: Membership, permission: str) -> None:
    authorization, _ = authorized(member)
    staff = client_of(staff_who_may("view_authorization", "view_application", permission))
    for row in (authorization, authorization.application):
        assert "Revoke access" not in said(staff.get(list_of(type(row))))
        act(staff, row)
    assert Authorization.objects.active().exists()
    assert not LogEntry.objects.exists()


def test_the_permission_to_change_authorizations_is_the_one_to_revoke(member: Membership) -> None:
    authorization, _ = authorized(member)
    staff = client_of(staff_who_may("view_authorization", "view_application", "change_authorization"))
    act(staff, authorization.application)
    assert not Authorization.objects.active().exists()


@pytest.mark.parametrize("model", LISTED)
def test_an_operator_without_permissions_sees_nothing(member: Membership, model: Any) -> None:
    authorized(member)
    staff = client_of(User.objects.create_user("new@example.com", is_staff=True))
    assert staff.get(list_of(model)).status_code == 403
    assert staff.get(page_of(model._default_manager.latest("pk"))).status_code == 403


def test_deleting_a_client_counts_what_goes_and_takes_it_along(operator: Client, member: Membership) -> None:
    authorization, secrets = authorized(member)
    kept = authorized(member, "Another")[0]
    address = page_of(authorization.application, "delete")
    answer = operator.get(address)
    page = said(answer)
    for words in ("Clients: 1", "Authorizations: 1", "Authorization codes: 1", "Access tokens: 1", "Refresh tokens: 1"):
        assert words in page
    assert not [secret for secret in secrets if secret in answer.content.decode()]
    assert Application.objects.filter(pk=authorization.application_id).exists()

    assert operator.post(address, {"post": "yes"}).status_code == 302
    for model in LISTED[1:]:
        assert {row.application for row in model._default_manager.all()} == {kept.application}


def test_deleting_a_client_needs_the_permission_and_never_takes_the_references_own(
    operator: Client, member: Membership
) -> None:
    authorization, _ = authorized(member)
    staff = client_of(staff_who_may("view_application", "change_application", "change_authorization"))
    assert staff.post(page_of(authorization.application, "delete"), {"post": "yes"}).status_code == 403
    docs = Application.objects.get(client_id=DOCS_CLIENT)
    assert operator.post(page_of(docs, "delete"), {"post": "yes"}).status_code == 403
    data = {"action": "delete_selected", "_selected_action": [str(docs.pk)], "post": "yes"}
    operator.post(list_of(Application), data)
    assert Application.objects.filter(client_id=DOCS_CLIENT).exists()


def test_removing_a_member_counts_their_authorizations_and_shows_none(operator: Client, member: Membership) -> None:
    _, secrets = authorized(member)
    address = reverse("admin:orgs_membership_delete", args=[member.pk])
    answer = operator.get(address)
    page = answer.content.decode()
    assert "Authorizations: 1" in said(answer)
    assert not [secret for secret in secrets if secret in page]
    assert operator.post(address, {"post": "yes"}).status_code == 302
    assert not AccessToken.objects.exists()


def test_deleting_an_organization_takes_its_authorizations(operator: Client, member: Membership, acme: Fill) -> None:
    authorized(member)
    address = reverse("admin:orgs_organization_delete", args=[quote(acme.organization.pk)])
    assert operator.post(address, {"post": "yes"}).status_code == 302
    assert not Authorization.objects.exists()
    assert not Grant.objects.exists()
