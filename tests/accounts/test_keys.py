"""SECRET_KEY is replaced: nobody is signed out or locked out, and what no key reads any more says so."""

import logging
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client

from apps.accounts import browsers
from tests.accounts.conftest import Clock
from tests.accounts.test_second_factor import CHALLENGE, CODES, challenged
from tests.accounts.visitors import code, confirm, give_second_factor, link_in_mail, person, said, sign_in, visitor, who

pytestmark = pytest.mark.django_db
ADA, OLD, NEW = "ada@example.com", "the-old-key-" * 5, "the-new-key-" * 5
UNREADABLE = "can no longer be read"


@pytest.fixture(autouse=True)
def old_key(settings: Any) -> None:
    settings.SECRET_KEY = OLD


def replace_key(settings: Any, *, keep: bool = True) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD] if keep else []


def rotate(capsys: pytest.CaptureFixture[str]) -> str:
    call_command("rotate_keys")
    return capsys.readouterr().out


def same_browser(client: Client) -> Client:
    """With the cookies of now: another page that it asks for at the same moment."""
    other = visitor()
    other.cookies.load({name: morsel.value for name, morsel in client.cookies.items()})
    return other


def test_nobody_is_signed_out_not_even_who_asks_for_two_pages_at_once(settings: Any) -> None:
    client = visitor(person())
    replace_key(settings)
    beside = same_browser(client)
    assert who(client) == who(beside) == who(client) == ADA
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OLD, [NEW]  # a process that has not been restarted
    assert who(client) == who(beside) == ADA


def test_a_session_that_is_saved_after_the_change_needs_the_old_key_no_more(settings: Any) -> None:
    client = visitor(person())
    replace_key(settings)
    confirm(client)
    replace_key(settings, keep=False)
    assert who(client) == ADA


def test_reading_a_session_of_the_old_key_writes_nothing(settings: Any) -> None:
    client = visitor(person())
    stored = Session.objects.get().session_data
    replace_key(settings)
    who(client)
    assert Session.objects.get().session_data == stored


def test_a_changed_password_still_ends_sessions_of_the_old_key(settings: Any) -> None:
    user = person()
    client = visitor(user)
    replace_key(settings)
    user.set_password("another-long-password")
    user.save()
    assert who(client) is None


def test_after_rotating_nothing_that_is_stored_needs_the_old_key(
    clock: Clock, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    user = person()
    give_second_factor(user)
    recovery = RecoveryCodes.activate(user).get_unused_codes()
    client = visitor(user)
    replace_key(settings)
    told = rotate(capsys)
    assert "2 second factors encrypted with SECRET_KEY." in told
    assert "1 session signed with SECRET_KEY." in told
    replace_key(settings, keep=False)
    assert who(client) == ADA
    assert challenged().post(CHALLENGE, {"code": code(clock.step)}).status_code == 302
    assert challenged().post(CHALLENGE, {"code": recovery[0]}).status_code == 302


def test_a_used_recovery_code_stays_used(clock: Clock, settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    user = person()
    give_second_factor(user)
    used = RecoveryCodes.activate(user).get_unused_codes()[0]
    assert challenged().post(CHALLENGE, {"code": used}).status_code == 302
    replace_key(settings)
    rotate(capsys)
    assert challenged().post(CHALLENGE, {"code": used}).status_code == 200


def test_a_link_for_a_new_password_goes_on_working(settings: Any) -> None:
    person()
    visitor().post("/account/password/reset/", {"email": ADA})
    replace_key(settings)
    client = visitor()
    page = client.get(link_in_mail(), follow=True)
    new = {"password1": "another-long-password", "password2": "another-long-password"}
    client.post(page.request["PATH_INFO"], new)
    assert sign_in(visitor(), password=new["password1"]).status_code == 302


def test_a_browser_stays_known_and_is_noted_once(settings: Any) -> None:
    person()
    client = visitor()
    sign_in(client)
    replace_key(settings)
    assert is_known(client, ADA)
    assert not is_known(client, "bob@example.com")
    client.post("/account/logout/")
    sign_in(client)
    replace_key(settings, keep=False)
    assert is_known(client, ADA)
    assert len(browsers._read(request_of(client)).accounts) == 1  # type: ignore[union-attr]


def is_known(client: Client, email: str) -> bool:
    return browsers.id_of(request_of(client), email) is not None


def request_of(client: Client) -> Any:
    return type("Request", (), {"COOKIES": {name: morsel.value for name, morsel in client.cookies.items()}})


# The old key is gone


def test_a_second_factor_that_cannot_be_read_says_so_and_is_logged_once(
    clock: Clock, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    user = person()
    give_second_factor(user)
    RecoveryCodes.activate(user)
    replace_key(settings, keep=False)
    client = challenged()
    assert UNREADABLE not in said(client.get(CHALLENGE))
    with caplog.at_level(logging.ERROR, "porthole.accounts"):
        page = said(client.post(CHALLENGE, {"code": code(clock.step)}))
    assert f"{UNREADABLE} here" in page
    assert "Ask an operator to remove it" in page
    lines = [record.getMessage() for record in caplog.records if record.name == "porthole.accounts"]
    assert [line.split(" cannot")[0] for line in lines] == [f"the second factor of user {user.pk}"]
    assert code(clock.step) not in caplog.text
    assert who(client) is None
    call_command("remove_second_factor", ADA)
    assert sign_in(visitor())["Location"] == "/"


def test_whoever_lacks_the_password_learns_nothing_of_it(settings: Any) -> None:
    give_second_factor(person())
    replace_key(settings, keep=False)
    client = visitor()
    assert UNREADABLE not in said(sign_in(client, password="wrong-password"))
    assert client.post(CHALLENGE, {"code": "000000"})["Location"] == "/account/login/"


def test_guessing_codes_that_cannot_be_checked_is_stopped_too(clock: Clock, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_LIMITS
    give_second_factor(person())
    replace_key(settings, keep=False)
    client = challenged()
    pages = [client.post(CHALLENGE, {"code": "000000"}) for _ in range(6)]
    assert [page.status_code for page in pages] == [200] * 5 + [429]


def test_recovery_codes_of_a_newer_key_work_where_the_app_cannot_be_read(clock: Clock, settings: Any) -> None:
    user = person()
    give_second_factor(user)
    replace_key(settings, keep=False)
    recovery = RecoveryCodes.activate(user).get_unused_codes()[0]
    assert challenged().post(CHALLENGE, {"code": recovery}).status_code == 302
    assert UNREADABLE in said(challenged().post(CHALLENGE, {"code": recovery}))


def test_pages_with_codes_tell_who_is_still_signed_in_how_to_replace_them(clock: Clock, settings: Any) -> None:
    user = person()
    give_second_factor(user)
    RecoveryCodes.activate(user)
    replace_key(settings, keep=False)
    client = visitor(user)
    confirm(client)
    for address in ("/account/second-factor/", CODES, f"{CODES}new/", f"{CODES}download/"):
        answer = client.get(address)
        assert (answer.status_code, UNREADABLE in said(answer)) == (409, True), address
    assert client.post("/account/second-factor/app/remove/").status_code == 302
    assert sign_in(visitor())["Location"] == "/"


def test_rotating_names_who_cannot_be_read_and_leaves_them_for_the_right_key(
    clock: Clock, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    give_second_factor(person())
    replace_key(settings, keep=False)
    give_second_factor(person("bob@example.com"))
    with pytest.raises(CommandError, match="reads the second factor of ada@example") as refused:
        call_command("rotate_keys")
    assert "bob@" not in str(refused.value)
    replace_key(settings)
    rotate(capsys)
    replace_key(settings, keep=False)
    assert challenged().post(CHALLENGE, {"code": code(clock.step)}).status_code == 302
