"""Codes from an app, recovery codes, and that operators need them."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client

from apps.accounts.second_factors import PURPOSE
from apps.net.encryption import decrypt
from apps.orgs.models import User
from tests.accounts.conftest import Clock
from tests.accounts.visitors import (
    SECRET,
    code,
    confirm,
    give_second_factor,
    person,
    said,
    secret_of,
    sign_in,
    visitor,
    who,
)

pytestmark = pytest.mark.django_db
APP = "/account/second-factor/app/"
CODES = "/account/second-factor/codes/"
CHALLENGE = "/account/second-factor/sign-in/"


def set_up(client: Client, clock: Clock) -> tuple[str, Any]:
    """The secret that the page showed, and the answer to its code."""
    page = client.get(APP)
    assert page.status_code == 200
    secret = re.search(r'class="key">(\w+)<', page.content.decode())
    assert secret
    return secret[1], client.post(APP, {"code": code(clock.step, secret[1])})


def recovery_codes(client: Client) -> list[str]:
    return re.findall(r"<code>(\d{8})</code>", client.get(CODES).content.decode())


def challenged(email: str = "ada@example.com") -> Client:
    """Somebody whose password was right, and who is asked for a code."""
    client = visitor()
    answer = sign_in(client, email)
    assert answer["Location"].startswith(CHALLENGE)
    assert who(client) is None
    return client


def test_setting_up_asks_for_the_password_once_more() -> None:
    client = visitor(person())
    answer = client.get(APP)
    assert (answer.status_code, answer["Location"]) == (302, f"/account/reauthenticate/?next={quote(APP, safe='')}")
    assert "This is not your password." in said(client.post("/account/reauthenticate/", {"password": "wrong"}))
    assert client.get(APP).status_code == 302


def test_an_app_is_set_up_and_brings_recovery_codes(clock: Clock, django_capture_on_commit_callbacks: Any) -> None:
    client = visitor(person())
    confirm(client)
    with django_capture_on_commit_callbacks(execute=True):
        _, answer = set_up(client, clock)
    assert answer["Location"] == CODES
    assert len(recovery_codes(client)) == 10
    assert "Second factor: on" in said(client.get("/account/"))
    assert mail.outbox[-1].subject == "Porthole: An authenticator app was set up"
    assert "choose a new password at once" in mail.outbox[-1].body


def test_a_wrong_code_sets_nothing_up(clock: Clock) -> None:
    client = visitor(person())
    confirm(client)
    client.get(APP)
    assert "This code is not right." in said(client.post(APP, {"code": "000000"}))
    assert "Second factor: off" in said(client.get("/account/"))


def test_the_secret_is_in_the_database_only_encrypted(clock: Clock) -> None:
    user = person()
    client = visitor(user)
    confirm(client)
    secret, _ = set_up(client, clock)
    assert secret not in secret_of(user)
    assert decrypt(secret_of(user), PURPOSE) == secret


def test_a_code_is_asked_for_at_sign_in_and_works(clock: Clock) -> None:
    give_second_factor(person())
    client = challenged()
    assert "authenticator app" in said(client.get(CHALLENGE))
    assert client.post(CHALLENGE, {"code": code(clock.step)})["Location"] == "/"
    assert who(client) == "ada@example.com"


def test_one_comes_back_to_where_one_wanted_to_go(clock: Clock) -> None:
    give_second_factor(person())
    client = visitor()
    sign_in(client, next="/admin/")
    assert client.post(CHALLENGE, {"code": code(clock.step)})["Location"] == "/admin/"


@pytest.mark.parametrize("late", [-1, 1, 2])
def test_a_code_of_another_time_is_refused(clock: Clock, late: int) -> None:
    give_second_factor(person())
    client = challenged()
    assert "This code is not right." in said(client.post(CHALLENGE, {"code": code(clock.step + late)}))
    assert who(client) is None


def test_a_code_works_once(clock: Clock) -> None:
    give_second_factor(person())
    first, second = challenged(), challenged()
    assert first.post(CHALLENGE, {"code": code(clock.step)}).status_code == 302
    assert "This code is not right." in said(second.post(CHALLENGE, {"code": code(clock.step)}))
    clock.step += 1
    assert second.post(CHALLENGE, {"code": code(clock.step)}).status_code == 302


@pytest.mark.parametrize("bad", ["", "0", "abcdef", "1" * 5000, "１２３４５６", "\x00"])
def test_nonsense_instead_of_a_code_is_refused(clock: Clock, bad: str) -> None:
    give_second_factor(person())
    client = challenged()
    assert client.post(CHALLENGE, {"code": bad}).status_code == 200
    assert who(client) is None


def test_guessing_codes_is_stopped(clock: Clock, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_LIMITS
    give_second_factor(person())
    client = challenged()
    for _ in range(5):
        client.post(CHALLENGE, {"code": "000000"})
    assert "Too many attempts" in said(client.post(CHALLENGE, {"code": code(clock.step)}))
    assert who(client) is None


def test_the_challenge_is_for_those_whose_password_was_right() -> None:
    assert visitor().get(CHALLENGE)["Location"] == "/account/login/"


def test_a_recovery_code_works_once(clock: Clock) -> None:
    client = visitor(person())
    confirm(client)
    set_up(client, clock)
    first = recovery_codes(client)[0]
    again = challenged()
    assert again.post(CHALLENGE, {"code": first}).status_code == 302
    assert who(again) == "ada@example.com"
    assert "This code is not right." in said(challenged().post(CHALLENGE, {"code": first}))
    assert len(recovery_codes(client)) == 9


def test_new_recovery_codes_replace_the_old_ones(clock: Clock) -> None:
    client = visitor(person())
    confirm(client)
    set_up(client, clock)
    old = recovery_codes(client)
    assert client.post(f"{CODES}new/")["Location"] == CODES
    new = recovery_codes(client)
    assert len(new) == 10
    assert not set(old) & set(new)
    assert "This code is not right." in said(challenged().post(CHALLENGE, {"code": old[0]}))


def test_recovery_codes_can_be_saved_as_a_file(clock: Clock) -> None:
    client = visitor(person())
    confirm(client)
    set_up(client, clock)
    file = client.get(f"{CODES}download/")
    assert file["Content-Type"].startswith("text/plain")
    assert "no-store" in file["Cache-Control"]
    assert all(code in file.content.decode() for code in recovery_codes(client))


def test_recovery_codes_are_shown_only_to_somebody_who_confirmed_lately(clock: Clock) -> None:
    user = person()
    client = visitor(user)
    confirm(client)
    set_up(client, clock)
    for address in (CODES, f"{CODES}download/", f"{CODES}new/", f"{APP}remove/"):
        assert visitor(user).get(address)["Location"].startswith("/account/reauthenticate/?next=")


def test_the_app_is_removed_with_its_recovery_codes(clock: Clock) -> None:
    user = person()
    client = visitor(user)
    confirm(client)
    set_up(client, clock)
    assert client.post(f"{APP}remove/")["Location"] == "/account/second-factor/"
    assert not user.authenticator_set.exists()
    assert sign_in(visitor())["Location"] == "/"


def test_one_can_confirm_with_a_code_instead(clock: Clock) -> None:
    user = person()
    give_second_factor(user)
    client = visitor(user)
    answer = client.post("/account/second-factor/confirm/", {"code": code(clock.step), "next": f"{APP}remove/"})
    assert answer["Location"] == f"{APP}remove/"
    assert client.get(f"{APP}remove/").status_code == 200


def test_an_operator_can_remove_somebodys_second_factor(capsys: pytest.CaptureFixture[str]) -> None:
    user = person()
    give_second_factor(user)
    call_command("remove_second_factor", "ADA@example.com")
    assert "password alone" in capsys.readouterr().out
    assert sign_in(visitor())["Location"] == "/"
    for email in ("ada@example.com", "nobody@example.com", "nonsense"):
        with pytest.raises(CommandError):
            call_command("remove_second_factor", email)


# The admin


@pytest.fixture
def operator() -> User:
    return User.objects.create_superuser("ada@example.com", "a-long-password")


@pytest.fixture
def outside_local(settings: Any) -> None:
    settings.OPERATORS_NEED_SECOND_FACTOR = True


def test_the_admins_door_is_the_one_for_everybody(operator: User) -> None:
    client = visitor()
    door = client.get("/admin/orgs/app/", follow=True)
    assert door.request["PATH_INFO"] == "/account/login/"
    answer = sign_in(client, next=door.context["redirect_field_value"])
    assert answer["Location"] == "/admin/orgs/app/"
    assert client.get("/admin/orgs/app/").status_code == 200


def test_the_admins_own_form_takes_no_password(operator: User) -> None:
    client = visitor()
    client.post("/admin/login/", {"username": "ada@example.com", "password": "a-long-password"})
    assert who(client) is None


def test_somebody_who_is_no_operator_does_not_get_in() -> None:
    client = visitor(person())
    answer = client.get("/admin/", follow=True)
    assert answer.status_code == 403


def test_in_local_an_operator_needs_no_second_factor(operator: User) -> None:
    assert visitor(operator).get("/admin/").status_code == 200


@pytest.mark.parametrize("address", ["/admin/", "/admin/orgs/user/", "/admin/orgs/user/1/password/", "/admin/jsi18n/"])
def test_outside_local_every_page_waits_for_a_second_factor(operator: User, outside_local: None, address: str) -> None:
    client = visitor(operator)
    answer = client.get(address, follow=True)
    assert answer.request["PATH_INFO"] == "/account/reauthenticate/"
    assert [hop for hop, _ in answer.redirect_chain][-2] == APP
    assert client.post(address, {"name": "x"}).status_code == 302


def test_outside_local_a_second_factor_opens_the_admin(operator: User, outside_local: None, clock: Clock) -> None:
    client = visitor(operator)
    confirm(client)
    assert "Operators need a second factor" in said(client.get(APP))
    set_up(client, clock)
    assert client.get("/admin/").status_code == 200
    assert client.get("/admin/login/")["Location"] == "/admin/"


def test_recovery_codes_alone_are_no_second_factor(operator: User, outside_local: None) -> None:
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    RecoveryCodes.activate(operator)
    assert visitor(operator).get("/admin/").status_code == 302


def test_the_admins_other_doors_lead_to_our_pages(operator: User) -> None:
    client = visitor(operator)
    assert client.get("/admin/password_change/")["Location"] == "/account/password/change/"
    assert client.post("/admin/logout/")["Location"] == "/account/login/"
    assert who(client) is None


def test_the_admin_shows_no_secrets_of_second_factors(operator: User, clock: Clock) -> None:
    give_second_factor(operator)
    client = visitor(operator)
    assert client.get("/admin/mfa/authenticator/").status_code == 404
    assert client.get("/admin/account/emailaddress/").status_code == 404
    page = client.get(f"/admin/orgs/user/{operator.pk}/change/").content.decode()
    assert SECRET not in page
    assert secret_of(operator) not in page
