"""What ends an access token at once, and its refresh token with it; and what does not."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.hashers import make_password
from django.test import Client
from django.urls import reverse

from apps.oauthmcp.models import AccessToken, Application, Authorization, RefreshToken
from apps.orgs.models import Membership, User
from tests.accounts.conftest import clock, mail_at_once  # noqa: F401
from tests.accounts.visitors import PASSWORD, link_in_mail, sign_in, visitor
from tests.api import Api
from tests.factories import Fill
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member, make_refresh_token

NEW = "another-long-password"


class Session:
    """A client that Ada let in, with both its tokens."""

    def __init__(self, member: Membership, name: str = "Assistant") -> None:
        self.user = member.user
        self.authorization = make_authorization(make_client(name), member)
        self.refresh_token = make_refresh_token(self.authorization)
        self.api = Api(bearer=make_access_token(self.authorization))

    def is_active(self) -> bool:
        """Asks with both tokens, which must agree."""
        called: Any = self.api.post("get_account")
        refreshed = self.refresh()
        assert (called.status_code == 200) == (refreshed.status_code == 200)
        if called.status_code == 200:
            return True
        assert called.status_code == 401
        assert 'error="invalid_token"' in called["WWW-Authenticate"]
        return False

    def refresh(self) -> Any:
        client_id = getattr(self.authorization.application, "client_id", "")
        fields = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": self.refresh_token}
        answer = Client(headers={"host": "localhost"}).post(
            "/api/auth/mcp/token", urlencode(fields), content_type="application/x-www-form-urlencoded"
        )
        assert answer.status_code in (200, 400, 401)
        if answer.status_code == 400:
            assert answer.json()["error"] == "invalid_grant"
        return answer


@pytest.fixture
def session(api: Api, acme: Fill) -> Session:
    session = Session(make_member(acme.organization))
    assert session.is_active()
    return session


def operator() -> Client:
    return visitor(User.objects.create_superuser("operator@example.com", PASSWORD))


def leave(session: Session) -> None:
    session.authorization.membership.delete()


def deactivate(session: Session) -> None:
    User.objects.filter(pk=session.user.pk).update(is_active=False)


def deactivate_in_the_admin(session: Session) -> None:
    data = {"email": session.user.email, "memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
    address = reverse("admin:orgs_user_change", args=[session.user.pk])
    assert operator().post(address, data).status_code == 302


def disconnect_on_the_page(session: Session) -> None:
    address = reverse("account_client_revoke", args=[session.authorization.pk])
    assert visitor(session.user).post(address).status_code == 302


def revoke_in_the_admin(session: Session) -> None:
    data = {"action": "revoke_access", "confirmed": "yes", "_selected_action": [str(session.authorization.pk)]}
    assert operator().post(reverse("admin:oauthmcp_authorization_changelist"), data).status_code == 302


def revoke_the_client_in_the_admin(session: Session) -> None:
    data = {
        "action": "revoke_access",
        "confirmed": "yes",
        "_selected_action": [str(session.authorization.application_id)],
    }
    assert operator().post(reverse("admin:oauthmcp_application_changelist"), data).status_code == 302


def delete_the_client_in_the_admin(session: Session) -> None:
    address = reverse("admin:oauthmcp_application_delete", args=[session.authorization.application_id])
    assert operator().post(address, {"post": "yes"}).status_code == 302
    assert not Application.objects.filter(pk=session.authorization.application_id).exists()


def revoke_at_the_endpoint(session: Session) -> None:
    fields = {"token": session.refresh_token, "client_id": session.authorization.application.client_id}
    answer = visitor().post("/api/auth/mcp/revoke", urlencode(fields), content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 200


def change_password_on_the_page(session: Session) -> None:
    fields = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    assert visitor(session.user).post("/account/password/change/", fields).status_code == 302


def reset_password_by_mail(session: Session) -> None:
    visitor().post("/account/password/reset/", {"email": session.user.email})
    browser = visitor()
    form = browser.get(link_in_mail(), follow=True).request["PATH_INFO"]
    assert browser.post(form, {"password1": NEW, "password2": NEW}).status_code == 302


def set_password_in_the_admin(session: Session) -> None:
    address = reverse("admin:auth_user_password_change", args=[session.user.pk])
    assert operator().post(address, {"password1": NEW, "password2": NEW}).status_code == 302


def set_password_by_command(session: Session) -> None:
    user = User.objects.get(pk=session.user.pk)  # as manage.py changepassword does
    user.set_password(NEW)
    user.save()


PASSWORDS: list[Callable[[Session], None]] = [
    change_password_on_the_page, reset_password_by_mail, set_password_in_the_admin, set_password_by_command,
]  # fmt: skip
OTHERS: list[Callable[[Session], None]] = [
    leave, deactivate, deactivate_in_the_admin, disconnect_on_the_page, revoke_in_the_admin,
    revoke_the_client_in_the_admin, delete_the_client_in_the_admin, revoke_at_the_endpoint,
]  # fmt: skip


@pytest.mark.spec("RFC 7009 §2.1")
@pytest.mark.parametrize("end", [*PASSWORDS, *OTHERS])
def test_the_next_call_is_refused_and_so_is_refreshing(session: Session, end: Callable[[Session], None]) -> None:
    end(session)
    assert not session.is_active()


@pytest.mark.parametrize("change", PASSWORDS)
def test_the_password_is_the_new_one_and_what_is_let_in_after_it_works(
    session: Session, acme: Fill, change: Callable[[Session], None]
) -> None:
    change(session)
    user = User.objects.get(pk=session.user.pk)
    assert user.check_password(NEW)
    client = make_client()
    again = make_authorization(client, Membership.objects.get(user=user))
    assert Api(bearer=make_access_token(again)).post("get_account").status_code == 200


@pytest.mark.parametrize("end", OTHERS)
def test_nobody_elses_tokens_end(session: Session, acme: Fill, end: Callable[[Session], None]) -> None:
    other = Session(make_member(acme.organization, "bob@example.com"), "Another")
    end(session)
    assert other.is_active()


def test_leaving_takes_the_rows_along_and_coming_back_revives_nothing(session: Session, acme: Fill) -> None:
    leave(session)
    assert (Authorization.objects.count(), AccessToken.objects.count(), RefreshToken.objects.count()) == (0, 0, 0)
    Membership.objects.create(organization=acme.organization, user=session.user)
    assert session.api.post("get_account").status_code == 401


def test_leaving_one_organization_keeps_what_was_let_into_another(session: Session, rival: Fill) -> None:
    there = Session(make_member(rival.organization))
    leave(session)
    assert there.is_active()


def test_disconnecting_one_client_keeps_the_others_of_the_same_user(session: Session) -> None:
    other = Session(session.authorization.membership, "Editor")
    disconnect_on_the_page(session)
    assert other.is_active()
    assert not session.is_active()


def test_whoever_is_active_again_has_their_tokens_back(session: Session) -> None:
    """Deactivating is not revoking: the same person returns to the same password and the same clients."""
    deactivate(session)
    assert session.api.post("get_account").status_code == 401
    User.objects.update(is_active=True)
    assert session.is_active()


# What does not end it


def test_signing_in_does_not(session: Session) -> None:
    assert sign_in(visitor()).status_code == 302
    assert session.is_active()


def test_a_password_that_is_only_hashed_anew_at_a_sign_in_does_not(session: Session, settings: Any) -> None:
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.PBKDF2PasswordHasher", *django_settings.PASSWORD_HASHERS,
    ]  # fmt: skip
    User.objects.filter(pk=session.user.pk).update(password=make_password(PASSWORD, hasher="md5"))
    assert sign_in(visitor()).status_code == 302
    assert User.objects.get(pk=session.user.pk).password.startswith("pbkdf2_")
    assert session.is_active()


def test_a_wrong_password_on_the_page_does_not(session: Session) -> None:
    fields = {"oldpassword": "not-the-old-one", "password1": NEW, "password2": NEW}
    visitor(session.user).post("/account/password/change/", fields)
    assert session.is_active()


def test_another_role_another_name_and_signing_out_do_not(session: Session) -> None:
    Membership.objects.update(role="owner")
    User.objects.filter(pk=session.user.pk).update(name="Countess")
    browser = visitor(session.user)
    browser.post("/account/logout/")
    assert session.is_active()
    viewer = session.api("get_account")["viewer"]
    assert (viewer["name"], viewer["role"]) == ("Countess", "owner")
