"""What ends a token for scripts at its next call, and what does not."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import transaction
from django.db.models import ProtectedError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.oauthmcp.models import AccessToken, Authorization, ScriptToken
from apps.oauthmcp.script_tokens.making import Wanted, make
from apps.orgs.models import Membership, Organization, User
from tests.accounts.visitors import PASSWORD, link_in_mail, said, sign_in, visitor
from tests.api import Api
from tests.factories import Fill
from tests.oauthmcp.authorizing import ask
from tests.oauthmcp.grants import make_member
from tests.oauthmcp.script_tokens.page import LIST, SCOPES
from tests.operators import organization_form
from tests.tools.mcp.speaking import Mcp

NEW = "another-long-password"


class Script:
    """Something that holds a token of Ada's."""

    def __init__(self, member: Membership) -> None:
        self.member, self.user = member, member.user
        now = timezone.now()
        wanted = Wanted(uuid4().hex, "Nightly", member.pk, SCOPES, now + timedelta(days=30), now)
        self.token, self.raw = make(member.user, wanted)

    def works(self) -> bool:
        """Asks at both doors, which must agree."""
        called: Any = Api(bearer=self.raw).post("get_account")
        asked = Mcp(bearer=self.raw).send("tools/list")
        assert called.status_code == asked.status_code
        if called.status_code == 200:
            return True
        assert called.status_code == 401
        assert 'error="invalid_token"' in called["WWW-Authenticate"]
        return False


@pytest.fixture
def script(api: Api, ada: Membership) -> Script:
    script = Script(ada)
    assert script.works()
    return script


def operator() -> Client:
    return visitor(User.objects.create_superuser("operator@example.com", PASSWORD))


def owner() -> Client:
    member = make_member(Organization.objects.get(slug="acme"), "owner@example.com")
    Membership.objects.filter(pk=member.pk).update(role="owner")
    return visitor(member.user)


def end_on_the_page(script: Script) -> None:
    assert visitor(script.user).post(f"{LIST}{script.token.pk}/end/").status_code == 302


def end_as_an_owner(script: Script) -> None:
    organization = script.member.organization_id
    assert owner().post(f"{LIST}organizations/{organization}/{script.token.pk}/end/").status_code == 302


def forbid_as_an_owner(script: Script) -> None:
    address = f"{LIST}organizations/{script.member.organization_id}/allow/"
    assert owner().post(address, {"allow": "no"}).status_code == 302


def forbid_in_the_admin(script: Script) -> None:
    address = reverse("admin:orgs_organization_change", args=[script.member.organization_id])
    browser = operator()
    assert "1 token ends at once and for good." in said(browser.get(address))
    form = organization_form(SimpleNamespace(organization=script.member.organization))  # type: ignore[arg-type]
    del form["allows_script_tokens"]
    assert browser.post(address, form).status_code == 302
    assert not Organization.objects.get(slug="acme").allows_script_tokens


def revoke_in_the_admin(script: Script) -> None:
    data = {"action": "revoke_access", "confirmed": "yes", "_selected_action": [str(script.token.pk)]}
    assert operator().post(reverse("admin:oauthmcp_scripttoken_changelist"), data).status_code == 302


def revoke_the_authorization_in_the_admin(script: Script) -> None:
    data = {"action": "revoke_access", "confirmed": "yes", "_selected_action": [str(script.token.pk)]}
    assert operator().post(reverse("admin:oauthmcp_authorization_changelist"), data).status_code == 302


def come_to_its_end(script: Script) -> None:
    Authorization.objects.update(expires_at=timezone.now())


def leave(script: Script) -> None:
    script.member.delete()


def remove_the_member_in_the_admin(script: Script) -> None:
    address = reverse("admin:orgs_membership_delete", args=[script.member.pk])
    assert operator().post(address, {"post": "yes"}).status_code == 302


def deactivate(script: Script) -> None:
    User.objects.filter(pk=script.user.pk).update(is_active=False)


def deactivate_in_the_admin(script: Script) -> None:
    data = {"email": script.user.email, "memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
    assert operator().post(reverse("admin:orgs_user_change", args=[script.user.pk]), data).status_code == 302


def delete_the_organization(script: Script) -> None:
    address = reverse("admin:orgs_organization_delete", args=[script.member.organization_id])
    assert operator().post(address, {"post": "yes"}).status_code == 302


def change_password(script: Script) -> None:
    fields = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    assert visitor(script.user).post("/account/password/change/", fields).status_code == 302


def reset_password(script: Script) -> None:
    visitor().post("/account/password/reset/", {"email": script.user.email})
    browser = visitor()
    form = browser.get(link_in_mail(), follow=True).request["PATH_INFO"]
    assert browser.post(form, {"password1": NEW, "password2": NEW}).status_code == 302


def set_password_in_the_admin(script: Script) -> None:
    address = reverse("admin:auth_user_password_change", args=[script.user.pk])
    assert operator().post(address, {"password1": NEW, "password2": NEW}).status_code == 302


PASSWORDS: list[Callable[[Script], None]] = [change_password, reset_password, set_password_in_the_admin]
WAYS: list[Callable[[Script], None]] = [
    *PASSWORDS, end_on_the_page, end_as_an_owner, forbid_as_an_owner, forbid_in_the_admin, revoke_in_the_admin,
    revoke_the_authorization_in_the_admin, come_to_its_end, leave, remove_the_member_in_the_admin, deactivate,
    deactivate_in_the_admin, delete_the_organization,
]  # fmt: skip


@pytest.mark.parametrize("end", WAYS)
def test_the_next_call_is_refused(script: Script, end: Callable[[Script], None]) -> None:
    end(script)
    assert not script.works()


@pytest.mark.parametrize("forbid", [forbid_as_an_owner, forbid_in_the_admin])
def test_what_was_forbidden_stays_ended_when_tokens_are_allowed_again(
    script: Script, forbid: Callable[[Script], None]
) -> None:
    forbid(script)
    owner = Membership.objects.create(
        organization=script.member.organization, user=User.objects.create_user("second@example.com"), role="owner"
    )
    address = f"{LIST}organizations/{script.member.organization_id}/allow/"
    assert visitor(owner.user).post(address, {"allow": "yes"}).status_code == 302
    assert not script.works()
    assert Script(script.member).works()


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (end_on_the_page, "Ended by whoever made it"),
        (end_as_an_owner, "Ended by an owner of the organization"),
        (revoke_in_the_admin, "Ended by an operator"),
        (revoke_the_authorization_in_the_admin, "Ended by an operator"),
        (forbid_in_the_admin, "The organization forbade tokens for scripts"),
        (come_to_its_end, "Its time was over"),
        (set_password_in_the_admin, "The password was changed"),
    ],
)
def test_the_page_says_for_a_while_why_a_token_ended(script: Script, end: Callable[[Script], None], why: str) -> None:
    end(script)
    browser = visitor(User.objects.get(pk=script.user.pk))
    page = said(browser.get(LIST))
    assert "You have none that works any more." in page
    assert f"Nightly Acme {why}, {timezone.now():%-d %B %Y}" in page
    Authorization.objects.update(
        revoked_at=timezone.now() - timedelta(days=31), expires_at=timezone.now() - timedelta(days=31)
    )
    assert "Nightly" not in said(browser.get(LIST))


@pytest.mark.parametrize("change", PASSWORDS)
def test_the_page_that_changes_a_password_says_which_tokens_end(
    script: Script, change: Callable[[Script], None], rival: Fill
) -> None:
    if change is change_password:
        page = visitor(script.user).get("/account/password/change/")
    elif change is set_password_in_the_admin:
        page = operator().get(reverse("admin:auth_user_password_change", args=[script.user.pk]))
    else:
        visitor().post("/account/password/reset/", {"email": script.user.email})
        page = visitor().get(link_in_mail(), follow=True)
    assert "token for scripts ends too" in said(page)
    assert "Nightly (Acme)" in said(page)
    bob = make_member(rival.organization, "bob@example.com")
    assert "for scripts" not in said(visitor(bob.user).get("/account/password/change/"))


def test_ending_it_twice_is_no_error_and_keeps_the_first_time_and_reason(script: Script) -> None:
    end_on_the_page(script)
    first = Authorization.objects.values("revoked_at").get()
    end_as_an_owner(script)
    end_on_the_page(script)
    assert Authorization.objects.values("revoked_at").get() == first
    assert ScriptToken.objects.get().ended_by == "member"


def test_one_ends_and_the_others_go_on(script: Script, acme: Fill) -> None:
    mine = Script(script.member)
    others = Script(make_member(acme.organization, "bob@example.com"))
    end_on_the_page(script)
    assert (script.works(), mine.works(), others.works()) == (False, True, True)


def test_nobody_ends_the_token_of_another_member(script: Script, acme: Fill, rival: Fill) -> None:
    bob = make_member(acme.organization, "bob@example.com")
    stranger = make_member(rival.organization, "stranger@example.com")
    Membership.objects.filter(pk=stranger.pk).update(role="owner")
    for member, organization in ((bob, acme), (stranger, acme), (stranger, rival)):
        browser = visitor(member.user)
        there = f"{LIST}organizations/{organization.organization.pk}/{script.token.pk}/end/"
        assert browser.post(f"{LIST}{script.token.pk}/end/").status_code == 404
        assert browser.post(there).status_code == 404
        assert browser.post(f"/account/clients/{script.token.pk}/revoke/").status_code == 404
    assert script.works()


def test_a_form_from_another_site_ends_nothing(script: Script) -> None:
    strict = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    strict.force_login(script.user)
    Membership.objects.update(role="owner")
    organization = f"{LIST}organizations/{script.member.organization_id}/"
    for address in (f"{LIST}{script.token.pk}/end/", f"{organization}{script.token.pk}/end/", f"{organization}allow/"):
        assert strict.get(address).status_code == 405
        for headers in ({}, {"origin": "https://evil.example"}):
            assert strict.post(address, {"allow": "no"}, headers=headers).status_code == 403
    assert script.works()


def test_the_endpoints_of_oauth_neither_end_it_nor_exchange_it(script: Script) -> None:
    for path, fields in (
        ("revoke", {"token": script.raw}),
        ("token", {"grant_type": "refresh_token", "refresh_token": script.raw}),
    ):
        for secret in ({}, {"client_secret": ""}, {"client_secret": "x"}):
            body = urlencode({"client_id": "porthole-scripts", **fields, **secret})
            answer = visitor().post(f"/api/auth/mcp/{path}", body, content_type="application/x-www-form-urlencoded")
            assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert script.works()


def test_nobody_authorizes_the_client(script: Script) -> None:
    for redirect_uri in (None, "", "http://127.0.0.1/callback", "http://localhost:8000/api/v1/docs/signed-in"):
        answer = ask(visitor(script.user), "porthole-scripts", redirect_uri=redirect_uri)
        assert answer.status_code == 400
        assert "Porthole does not know this app" in said(answer)


def test_a_token_for_another_address_of_the_installation_is_refused(script: Script, settings: Any) -> None:
    settings.PUBLIC_URL = "http://localhost:9000"
    assert not script.works()


def test_its_hash_opens_nothing(script: Script) -> None:
    checksum = AccessToken.objects.values_list("token_checksum", flat=True).get()
    for text in (checksum, f"porthole_st_{checksum[:49]}"):
        assert Api(bearer=text).post("get_account").status_code == 401


def test_the_check_is_one_query(script: Script, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert Api(bearer=script.raw).post("no_such_tool").status_code == 404


# What does not end it


def test_another_role_another_name_signing_in_and_out_do_not(script: Script) -> None:
    Membership.objects.update(role="owner")
    User.objects.filter(pk=script.user.pk).update(name="Countess")
    assert sign_in(visitor()).status_code == 302
    visitor(script.user).post("/account/logout/")
    assert script.works()
    assert Api(bearer=script.raw)("get_account")["viewer"]["role"] == "owner"
    assert Api(bearer=script.raw).post("list_templates").status_code == 403


def test_an_account_that_is_switched_on_again_has_its_tokens_again(script: Script) -> None:
    deactivate(script)
    page = said(owner().get(f"{LIST}organizations/{script.member.organization_id}/"))
    assert "whose account is switched off: while it is, the token is refused" in page
    User.objects.filter(pk=script.user.pk).update(is_active=True)
    assert script.works()


def test_ending_connected_apps_in_the_admin_does_not(script: Script) -> None:
    application = script.token.authorization.application
    data = {"action": "revoke_access", "confirmed": "yes", "_selected_action": [str(application.pk)]}
    answer = operator().post(reverse("admin:oauthmcp_application_changelist"), data, follow=True)
    assert "Tokens for scripts are not revoked all at once" in said(answer)
    assert script.works()


def test_the_client_cannot_be_deleted(script: Script) -> None:
    application = script.token.authorization.application
    browser, address = operator(), reverse("admin:oauthmcp_application_changelist")
    assert browser.post(f"{address}{application.pk}/delete/", {"post": "yes"}).status_code == 403
    data = {"action": "delete_selected", "_selected_action": [str(application.pk)], "post": "yes"}
    browser.post(address, data)
    for rows in (application, type(application).objects.filter(pk=application.pk)):
        with pytest.raises(ProtectedError), transaction.atomic():
            rows.delete()
    assert script.works()
