"""Invitations: an operator writes an address, a link arrives, and somebody is a member, once."""

import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client
from django.utils import timezone

from apps.accounts.admin.invitations import InvitationAdmin
from apps.orgs.models import Invitation, Membership, Organization, User
from tests.accounts.conftest import Clock
from tests.accounts.visitors import (
    PASSWORD,
    code,
    give_second_factor,
    link_in_mail,
    person,
    said,
    sign_in,
    visitor,
    who,
)
from tests.operators import staff_who_may

pytestmark = pytest.mark.django_db
ADD = "/admin/orgs/invitation/add/"
NEW = {"name": "Ada", "password1": PASSWORD, "password2": PASSWORD}
GONE = "This invitation does not work"


@pytest.fixture
def acme() -> Organization:
    return Organization.objects.create(slug="acme", name="Acme & Sons")


@pytest.fixture
def operator() -> Client:
    return visitor(User.objects.create_superuser("operator@example.com", PASSWORD))


def invite(operator: Client, acme: Organization, email: str = "ada@example.com", role: str = "member") -> str:
    """The path of the link that was sent."""
    answer = add(operator, acme, email, role)
    assert "A mail with it was sent" in said(answer) or "printed where the server runs" in said(answer)
    return link_in_mail()


def add(operator: Client, acme: Organization, email: str = "ada@example.com", role: str = "member", **more: Any) -> Any:
    """What the operator is answered."""
    return operator.post(ADD, {"organization": acme.pk, "email": email, "role": role, **more})


def link_on(answer: Any) -> str:
    """The path of the link that an operator can copy."""
    found = re.search(
        r'<input id="link" type="text" readonly[^>]* value="http://localhost:8000([^"]+)"', page_of(answer)
    )
    assert found, said(answer)
    return found[1]


def page_of(answer: Any) -> str:
    return str(answer.content.decode())


def memberships() -> list[tuple[str, str]]:
    return list(Membership.objects.order_by("id").values_list("user__email", "role"))


# The operator


def test_an_operator_invites_by_mail(operator: Client, acme: Organization) -> None:
    link = invite(operator, acme, " ADA@Example.com ", "owner")
    assert mail.outbox[0].to == ["ada@example.com"]
    assert mail.outbox[0].subject == "Join Acme & Sons on Porthole"
    assert "what Acme & Sons runs" in mail.outbox[0].body
    invitation = Invitation.objects.get()
    assert (invitation.email, invitation.role) == ("ada@example.com", "owner")
    assert invitation.invited_by.email == "operator@example.com"  # type: ignore[union-attr]
    assert invitation.expires_at - invitation.created_at == pytest.approx(timedelta(days=7), abs=timedelta(seconds=5))
    assert link.split("/")[3] not in str(Invitation.objects.values().get())


def test_the_admin_never_shows_a_token(operator: Client, acme: Organization) -> None:
    token = invite(operator, acme).split("/")[3]
    row = Invitation.objects.get()
    for address in ("/admin/orgs/invitation/", f"/admin/orgs/invitation/{row.pk}/change/"):
        page = operator.get(address).content.decode()
        assert "ada@example.com" in page
        assert token not in page
        assert row.token_hash not in page
    assert "token_hash" not in InvitationAdmin.record


def test_in_local_the_operator_is_told_where_the_mail_is(operator: Client, acme: Organization, settings: Any) -> None:
    assert "printed where the server runs" in said(add(operator, acme))
    settings.MAIL_IS_PRINTED = False
    assert "printed" not in said(add(operator, acme))


def refuse_mail(*args: object, **kwargs: object) -> None:
    raise OSError("no route to host")


@pytest.mark.parametrize("why", ["not set up", "refused"])
def test_without_mail_the_operator_hands_the_link_over(
    operator: Client, acme: Organization, settings: Any, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "refused":
        monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse_mail)
    else:
        settings.MAIL_IS_SET_UP = False
    answer = add(operator, acme, role="owner")
    assert "No mail was sent." in said(answer)
    assert ("EMAIL_URL is not set" in said(answer)) is (why == "not set up")
    assert visitor().post(link_on(answer), NEW)["Location"] == "/"
    assert memberships() == [("ada@example.com", "owner")]


def test_the_link_that_an_operator_can_copy_is_that_of_the_mail(operator: Client, acme: Organization) -> None:
    answer = add(operator, acme)
    assert link_on(answer) == link_in_mail()
    assert "no-store" in answer["Cache-Control"]


def test_the_link_is_shown_once_and_stored_nowhere(
    operator: Client, acme: Organization, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        token = link_on(add(operator, acme)).split("/")[3]
    row = Invitation.objects.get()
    for address in (ADD, "/admin/", "/admin/orgs/invitation/", f"/admin/orgs/invitation/{row.pk}/history/",
                    f"/admin/orgs/invitation/{row.pk}/change/"):  # fmt: skip
        assert token not in page_of(operator.get(address))
    assert token not in caplog.text
    stored = [*LogEntry.objects.values(), *Invitation.objects.values()]
    stored += [session.get_decoded() for session in Session.objects.all()]
    assert token not in str(stored)
    assert not any(token in cookie.value for cookie in operator.cookies.values())


def test_a_form_that_is_sent_again_shows_and_replaces_nothing(operator: Client, acme: Organization) -> None:
    newest = operator.get(ADD).context["adminform"].form["newest"].value()
    link = link_on(add(operator, acme, newest=newest))
    for email in ("ada@example.com", " ADA@example.com"):
        again = add(operator, acme, email, newest=newest)
        assert "was invited since this form was opened" in said(again)
        assert "/account/invitations/" not in page_of(again)
    assert visitor().get(link).status_code == 200
    assert len(mail.outbox) == 1
    assert add(operator, acme, "grace@example.com", newest=newest).context["link"]


def test_a_form_that_is_refused_keeps_what_was_typed(operator: Client, acme: Organization) -> None:
    page = page_of(add(operator, acme, "ada@", "owner"))
    assert 'value="ada@"' in page
    assert '<option value="owner" selected>' in page
    assert f'<option value="{acme.pk}" selected' in page


# A new link for an invitation that is open


def new_link(client: Client, row: Invitation) -> Any:
    return client.post(f"/admin/orgs/invitation/{row.pk}/link/")


@pytest.mark.parametrize("is_old", [False, True])
def test_a_new_link_replaces_the_old_one(operator: Client, acme: Organization, is_old: bool) -> None:
    first, row = invite(operator, acme, role="owner"), Invitation.objects.get()
    if is_old:
        Invitation.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert f'action="/admin/orgs/invitation/{row.pk}/link/"' in page_of(
        operator.get(f"/admin/orgs/invitation/{row.pk}/change/")
    )
    answer = new_link(operator, row)
    assert "no-store" in answer["Cache-Control"]
    second = link_on(answer)
    assert visitor().get(first).status_code == 404
    assert visitor().post(second, NEW).status_code == 302
    assert memberships() == [("ada@example.com", "owner")]


def test_a_new_link_is_made_once_by_each_button(operator: Client, acme: Organization) -> None:
    invite(operator, acme)
    row = Invitation.objects.get()
    link = link_on(new_link(operator, row))
    again = operator.post(f"/admin/orgs/invitation/{row.pk}/link/", follow=True)
    assert "is not there any more" in said(again)
    assert visitor().get(link).status_code == 200


def test_who_has_accepted_gets_no_new_link(operator: Client, acme: Organization) -> None:
    visitor().post(invite(operator, acme), NEW)
    row = Invitation.objects.get()
    page = page_of(operator.get(f"/admin/orgs/invitation/{row.pk}/change/"))
    assert "/link/" not in page
    assert new_link(operator, row).status_code == 302
    assert Invitation.objects.get() == row


def test_a_new_link_needs_the_permission_to_invite_and_a_form_of_ours(acme: Organization) -> None:
    row = Invitation.objects.create(organization=acme, email="ada@example.com", token_hash="x")
    client = visitor(staff_who_may("view_invitation"))
    assert "/link/" not in page_of(client.get(f"/admin/orgs/invitation/{row.pk}/change/"))
    assert new_link(client, row).status_code == 403
    operator = visitor(User.objects.create_superuser("operator@example.com", PASSWORD))
    assert operator.get(f"/admin/orgs/invitation/{row.pk}/link/").status_code == 405
    strict = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    strict.force_login(User.objects.get(email="operator@example.com"))
    assert new_link(strict, row).status_code == 403
    assert Invitation.objects.get().token_hash == "x"


# An operator who may invite, and wants more


def without_password(**fields: Any) -> User:
    user = User(email="ada@example.com", **fields)
    user.set_unusable_password()
    user.save()
    return user


@pytest.mark.parametrize(
    ("permissions", "fields", "sees"),
    [
        (["add_invitation"], {}, False),
        (["add_invitation", "change_user"], {}, True),
        (["add_invitation", "change_user"], {"is_staff": True, "is_superuser": True}, False),
        (["add_invitation"], {"is_active": False}, True),
    ],
)
def test_an_operator_takes_over_no_account_by_inviting_it(
    acme: Organization, permissions: list[str], fields: dict[str, bool], sees: bool
) -> None:
    """An account without a password is opened by the link: only who may set its password is shown that."""
    without_password(**fields)
    client = visitor(staff_who_may(*permissions, "view_organization", "view_invitation"))
    for answer in (add(client, acme), new_link(client, Invitation.objects.get())):
        assert ("/account/invitations/" in page_of(answer)) is sees
        assert ("You may not set passwords" in said(answer)) is not sees
    assert len(mail.outbox) == 2


def test_a_link_opens_no_account_that_came_into_being_later(operator: Client, acme: Organization) -> None:
    link = link_on(add(operator, acme))
    user = without_password()
    assert "Sign in with this address" in said(visitor().get(link))
    visitor().post(link, NEW)
    assert not User.objects.get(pk=user.pk).has_usable_password()
    assert memberships() == []


def test_a_bad_address_is_refused(operator: Client, acme: Organization) -> None:
    for email in ("nonsense", "a@example.com\nBcc: b@example.com", ""):
        assert operator.post(ADD, {"organization": acme.pk, "email": email, "role": "member"}).status_code == 200
    assert mail.outbox == []


def test_inviting_needs_the_permission(acme: Organization) -> None:
    client = visitor(staff_who_may("view_invitation"))
    assert client.get("/admin/orgs/invitation/").status_code == 200
    assert client.post(ADD, {"organization": acme.pk, "email": "a@example.com"}).status_code == 403


def test_inviting_again_replaces_the_link(operator: Client, acme: Organization) -> None:
    first, second = invite(operator, acme), invite(operator, acme)
    assert GONE in said(visitor().get(first))
    assert visitor().get(second).status_code == 200
    assert Invitation.objects.count() == 1


def test_deleting_an_invitation_stops_its_link(operator: Client, acme: Organization) -> None:
    link = invite(operator, acme)
    row = Invitation.objects.get()
    operator.post(f"/admin/orgs/invitation/{row.pk}/delete/", {"post": "yes"})
    assert visitor().get(link).status_code == 404


# Somebody new


def test_somebody_new_chooses_a_password_and_is_a_member(operator: Client, acme: Organization) -> None:
    link = invite(operator, acme)
    client = visitor()
    assert "ada@example.com" in said(client.get(link))
    assert client.post(link, NEW)["Location"] == "/"
    assert who(client) == "ada@example.com"
    assert "Acme &amp; Sons Member" in said(client.get("/account/"))
    assert memberships() == [("ada@example.com", "member")]
    assert User.objects.get(email="ada@example.com").name == "Ada"
    assert sign_in(visitor()).status_code == 302


def test_opening_the_link_changes_nothing(operator: Client, acme: Organization) -> None:
    link = invite(operator, acme)
    for _ in range(3):
        assert visitor().get(link).status_code == 200
        assert visitor().head(link).status_code == 200
    assert memberships() == []


@pytest.mark.parametrize(
    "change",
    [{"name": ""}, {"name": "x" * 101}, {"password1": "short", "password2": "short"}, {"password2": "different-one"},
     {"password1": "ada@example.com", "password2": "ada@example.com"}, {"name": "\x00"}],
)  # fmt: skip
def test_a_bad_choice_says_why_and_leaves_the_link_working(
    operator: Client, acme: Organization, change: dict[str, str]
) -> None:
    link = invite(operator, acme)
    answer = visitor().post(link, NEW | change)
    assert answer.status_code == 200
    assert 'role="alert"' in answer.content.decode()
    assert memberships() == []
    assert visitor().post(link, NEW).status_code == 302


def test_nobody_can_choose_another_address_or_role(operator: Client, acme: Organization) -> None:
    link = invite(operator, acme)
    visitor().post(link, NEW | {"email": "eve@example.com", "role": "owner", "is_staff": "on"})
    assert memberships() == [("ada@example.com", "member")]
    assert not User.objects.get(email="ada@example.com").is_staff


def test_a_link_works_once(operator: Client, acme: Organization) -> None:
    link = invite(operator, acme)
    visitor().post(link, NEW)
    for answer in (visitor().get(link), visitor().post(link, NEW | {"name": "Eve"})):
        assert answer.status_code == 404
        assert GONE in said(answer)
    assert User.objects.get(email="ada@example.com").name == "Ada"


def test_a_form_that_is_sent_twice_ends_well(operator: Client, acme: Organization) -> None:
    link = invite(operator, acme)
    client = visitor()
    assert client.post(link, NEW)["Location"] == "/"
    assert client.post(link, NEW)["Location"] == "/"
    assert memberships() == [("ada@example.com", "member")]


def test_of_two_at_once_one_accepts(operator: Client, acme: Organization, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one has seen an open invitation, and finds it used when it accepts."""
    from apps.accounts import views

    link = invite(operator, acme)

    def late(invitation: Invitation, user: User) -> bool:
        Invitation.objects.filter(pk=invitation.pk).update(accepted_at=timezone.now())
        return accept(invitation, user)

    accept = views.accept
    monkeypatch.setattr(views, "accept", late)
    client = visitor()
    assert client.post(link, NEW)["Location"] == link
    assert memberships() == []
    assert not User.objects.filter(email="ada@example.com").exists()
    assert who(client) is None


def test_an_account_that_came_into_being_meanwhile_is_not_overwritten(
    operator: Client, acme: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apps.accounts import views

    link = invite(operator, acme)
    person(name="The first")
    monkeypatch.setattr(views.User.objects, "filter", lambda **_: User.objects.none())
    assert visitor().post(link, NEW)["Location"] == link
    monkeypatch.undo()
    assert User.objects.get(email="ada@example.com").name == "The first"
    assert memberships() == []


# What does not work


@pytest.mark.parametrize("change", [{"expires_at": timedelta(seconds=-1)}, {"accepted_at": timedelta()}])
def test_old_and_used_links_look_like_ones_that_never_were(
    operator: Client, acme: Organization, change: dict[str, timedelta]
) -> None:
    link = invite(operator, acme)
    Invitation.objects.update(**{name: timezone.now() + delta for name, delta in change.items()})
    unknown = visitor().get("/account/invitations/unknown/")
    for client in (visitor(), visitor(person())):
        answer = client.post(link, NEW) if "expires_at" in change else visitor().get(link)
        assert (answer.status_code, said(answer)) == (404, said(unknown))
    assert memberships() == []


@pytest.mark.parametrize(
    "spoil", [lambda t: t[:-1], lambda t: t + "x", lambda t: t.swapcase(), lambda t: "%00", lambda t: "é"]
)
def test_a_link_that_was_tampered_with_does_not_work(operator: Client, acme: Organization, spoil: Any) -> None:
    token = invite(operator, acme).split("/")[3]
    assert visitor().get(f"/account/invitations/{spoil(token)}/").status_code == 404


def test_the_hash_is_not_the_token(operator: Client, acme: Organization) -> None:
    invite(operator, acme)
    assert visitor().get(f"/account/invitations/{Invitation.objects.get().token_hash}/").status_code == 404


# Somebody who exists


def test_somebody_who_exists_signs_in_and_accepts(operator: Client, acme: Organization) -> None:
    person()
    link = invite(operator, acme)
    client = visitor()
    page = client.get(link)
    assert "password1" not in page.content.decode()
    assert f"/account/login/?next={link.replace('/', '%2F')}" in page.content.decode()
    assert sign_in(client, next=link)["Location"] == link
    assert "you were invited to" in said(client.get(link))
    assert memberships() == []
    assert client.post(link)["Location"] == "/"
    assert client.post(link)["Location"] == "/"
    assert memberships() == [("ada@example.com", "member")]


def test_an_invitation_never_sets_the_password_of_somebody_who_has_one(operator: Client, acme: Organization) -> None:
    user = person()
    link = invite(operator, acme)
    visitor().post(link, NEW | {"password1": "another-password", "password2": "another-password"})
    assert User.objects.get(pk=user.pk).check_password(PASSWORD)
    assert memberships() == []


def test_somebody_without_a_password_yet_chooses_one(operator: Client, acme: Organization) -> None:
    user = User(email="ada@example.com")
    user.set_unusable_password()
    user.save()
    client = visitor()
    assert client.post(invite(operator, acme), NEW)["Location"] == "/"
    assert who(client) == user.email
    assert User.objects.get(email=user.email).check_password(PASSWORD)
    assert memberships() == [("ada@example.com", "member")]


def test_somebody_without_a_password_but_with_a_second_factor_is_asked_for_it(
    operator: Client, acme: Organization, clock: Clock
) -> None:
    user = User(email="ada@example.com")
    user.set_unusable_password()
    user.save()
    give_second_factor(user)
    client = visitor()
    assert client.post(invite(operator, acme), NEW)["Location"].startswith("/account/second-factor/sign-in/")
    assert who(client) is None
    assert client.post("/account/second-factor/sign-in/", {"code": code(clock.step)})["Location"] == "/"


def test_somebody_who_is_switched_off_cannot_come_back_by_invitation(operator: Client, acme: Organization) -> None:
    user = User(email="ada@example.com", is_active=False)
    user.set_unusable_password()
    user.save()
    client = visitor()
    assert "password1" not in client.post(invite(operator, acme), NEW).content.decode()
    assert who(client) is None
    assert memberships() == []


def test_somebody_else_who_is_signed_in_cannot_accept(operator: Client, acme: Organization) -> None:
    link = invite(operator, acme)
    client = visitor(person("eve@example.com"))
    assert "This invitation is for somebody else" in said(client.get(link))
    assert client.post(link, NEW).status_code == 403
    assert memberships() == []
    assert client.post("/account/logout/", {"next": link})["Location"] == link
    assert client.post(link, NEW).status_code == 302
    assert memberships() == [("ada@example.com", "member")]


def test_a_member_who_is_invited_again_keeps_their_role(operator: Client, acme: Organization) -> None:
    user = person()
    Membership.objects.create(organization=acme, user=user, role="owner")
    assert visitor(user).post(invite(operator, acme)).status_code == 302
    assert memberships() == [("ada@example.com", "owner")]
