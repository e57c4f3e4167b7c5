"""Limits of attempts: who guesses is stopped, and nobody is locked out by others."""

from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client, RequestFactory

from apps.accounts import attempts, browsers
from apps.accounts.attempts import PAIR_WAIT
from tests.accounts.conftest import Clock
from tests.accounts.visitors import PASSWORD, code, give_second_factor, person, said, visitor, who

pytestmark = pytest.mark.django_db
CHALLENGE = "/account/second-factor/sign-in/"
ADA = "ada@example.com"


class Time:
    """Passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def limits(db: None, settings: Any) -> None:
    cache.clear()  # cases with transactions of their own leave it as it was
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_LIMITS


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(attempts, "time", time)
    return time


def sign_in(browser: Client, address: str, password: str = PASSWORD, email: str = ADA) -> Any:
    return browser.post("/account/login/", {"login": email, "password": password}, REMOTE_ADDR=address)


def is_refused(answer: Any, wait: int) -> bool:
    assert "Too many attempts" in said(answer)
    return (answer.status_code, answer["Retry-After"]) == (429, str(wait))


def known_browser(address: str = "203.0.113.1") -> Client:
    """It was signed in before, and is not any more."""
    browser = visitor()
    assert sign_in(browser, address).status_code == 302
    browser.post("/account/logout/")
    assert who(browser) is None
    return browser


def fail_from_many(email: str = ADA, number: int = 20) -> None:
    """As that many wrong passwords would, without the forms."""
    for host in range(number):
        request = RequestFactory().post("/account/login/")
        request.client_address = f"198.51.{host}.1"  # type: ignore[attr-defined]
        attempts.Attempt(request, "password", email).failed()


@pytest.mark.both_databases
def test_five_wrong_passwords_stop_only_those_who_sent_them() -> None:
    person()
    for _ in range(5):
        assert sign_in(visitor(), "192.0.2.1", "wrong-password").status_code == 200
    assert is_refused(sign_in(visitor(), "192.0.2.1"), PAIR_WAIT)
    assert sign_in(visitor(), "192.0.2.2").status_code == 302


def test_a_right_password_uses_nothing_up() -> None:
    person()
    for _ in range(7):
        assert sign_in(visitor(), "192.0.2.1").status_code == 302


def test_many_accounts_from_one_address_are_stopped_by_the_address() -> None:
    for number in range(10):
        assert sign_in(visitor(), "192.0.2.1", "x", f"{number}@example.com").status_code == 200
    assert is_refused(sign_in(visitor(), "192.0.2.1", "x", "11@example.com"), 60)


@pytest.mark.parametrize("email", [ADA, "nobody@example.com"])
@pytest.mark.both_databases
def test_an_account_that_many_try_is_slow_for_strangers_and_never_locked(time: Time, email: str) -> None:
    person()
    for host in range(20):
        assert sign_in(visitor(), f"198.51.{host}.1", "wrong-password", email).status_code == 200
    stranger = visitor()
    assert is_refused(sign_in(stranger, "203.0.113.1", "x", email), 5)
    time.now += 3
    assert is_refused(sign_in(stranger, "203.0.113.1", "x", email), 2)
    assert is_refused(sign_in(visitor(), "192.0.2.1", "x", email), 5)  # an attacker, who waits for itself
    time.now += 2
    assert sign_in(stranger, "203.0.113.1", "x", email).status_code == 200
    assert is_refused(sign_in(stranger, "203.0.113.1", "x", email), 5)


@pytest.mark.slow
def test_the_owner_in_a_new_browser_waits_at_most_half_a_minute(time: Time) -> None:
    person()
    for host in range(60):  # as many as are counted
        browser, address = visitor(), f"198.51.{host}.1"
        if (answer := sign_in(browser, address, "wrong-password")).status_code == 429:
            time.now += int(answer["Retry-After"])
            assert sign_in(browser, address, "wrong-password").status_code == 200
    owner = visitor()
    assert is_refused(sign_in(owner, "203.0.113.1"), 30)
    time.now += 30
    assert sign_in(owner, "203.0.113.1").status_code == 302


def test_after_an_hour_nobody_waits(time: Time) -> None:
    person()
    fail_from_many()
    time.now += 3601
    assert sign_in(visitor(), "203.0.113.1").status_code == 302


# A browser that was signed in before


def test_a_known_browser_is_not_locked_out_by_others_not_even_at_its_own_address() -> None:
    person()
    browser = known_browser("192.0.2.1")
    fail_from_many()
    for number in range(12):
        sign_in(visitor(), "192.0.2.1", "x", f"{number}@example.com")
    for _ in range(20):
        sign_in(visitor(), "192.0.2.1", "wrong-password")
    assert sign_in(visitor(), "192.0.2.1").status_code == 429
    assert sign_in(browser, "192.0.2.1").status_code == 302


@pytest.mark.both_databases
def test_a_known_browser_has_five_attempts_of_its_own() -> None:
    person()
    browser = known_browser()
    for host in range(5):
        assert sign_in(browser, f"203.0.113.{host}", "wrong-password").status_code == 200
    assert is_refused(sign_in(browser, "203.0.113.9"), PAIR_WAIT)


def test_a_browser_knows_only_its_own_accounts_and_up_to_eight() -> None:
    emails = [f"{number}@example.com" for number in range(9)]
    for email in emails:
        person(email)
    browser = visitor()
    for email in emails:
        assert sign_in(browser, "203.0.113.1", email=email).status_code == 302
        browser.post("/account/logout/")
    person()
    for email in (ADA, emails[0]):
        fail_from_many(email)
        assert sign_in(browser, "203.0.113.1", email=email).status_code == 429
    fail_from_many(emails[1])
    assert sign_in(browser, "203.0.113.1", email=emails[1]).status_code == 302


def test_a_cookie_that_is_not_ours_gives_nothing(settings: Any) -> None:
    person()
    browser = known_browser()
    value = browser.cookies[browsers.cookie_name()].value
    fail_from_many()
    for made_up in ("", "x", value[:-1] + ("a" if value[-1] != "a" else "b"), value.partition(":")[0], "\x7f" * 5000):
        stranger = visitor()
        stranger.cookies[browsers.cookie_name()] = made_up
        assert sign_in(stranger, "203.0.113.8").status_code == 429
    request = RequestFactory().get("/")
    request.COOKIES[browsers.cookie_name()] = value
    assert browsers.id_of(request, ADA)
    settings.SECRET_KEY = "another"
    assert browsers.id_of(request, ADA) is None


def test_the_cookie_says_nothing_and_stays_with_us(settings: Any) -> None:
    person()
    settings.SECURE_COOKIES = True
    browser = visitor()
    sign_in(browser, "203.0.113.1")
    cookie = browser.cookies["__Host-porthole_browser"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (True, "Lax", "/", "")
    assert (cookie["secure"], cookie["max-age"]) == (True, 365 * 24 * 3600)
    assert "ada" not in cookie.value
    stranger = visitor()
    stranger.cookies["__Host-porthole_browser"] = cookie.value
    assert who(stranger) is None


# Codes


def challenged(address: str, browser: Client | None = None) -> Client:
    browser = browser or visitor()
    assert sign_in(browser, address)["Location"].startswith(CHALLENGE)
    return browser


def send_code(browser: Client, value: str, address: str) -> Any:
    return browser.post(CHALLENGE, {"code": value}, REMOTE_ADDR=address)


def test_wrong_codes_stop_only_those_who_sent_them(clock: Clock) -> None:
    give_second_factor(person())
    attacker = challenged("192.0.2.1")
    for _ in range(5):
        assert send_code(attacker, "000000", "192.0.2.1").status_code == 200
    assert is_refused(send_code(attacker, code(clock.step), "192.0.2.1"), PAIR_WAIT)
    assert send_code(challenged("203.0.113.1"), code(clock.step), "203.0.113.1").status_code == 302


@pytest.mark.both_databases
def test_codes_are_guessed_one_at_a_time_however_many_guess(clock: Clock, time: Time) -> None:
    give_second_factor(person())
    for host in range(20):
        attacker = challenged(f"198.51.{host}.1")
        assert send_code(attacker, "000000", f"198.51.{host}.1").status_code == 200
    one, other = challenged("192.0.2.1"), challenged("203.0.113.1")
    assert is_refused(send_code(one, "000000", "192.0.2.1"), 5)
    time.now += 5
    assert send_code(other, "000000", "203.0.113.1").status_code == 200
    assert is_refused(send_code(one, "000000", "192.0.2.1"), 5)


# The rest


def test_confirming_a_password_is_not_stopped_by_others(clock: Clock) -> None:
    person()
    browser = visitor()
    sign_in(browser, "203.0.113.1")
    fail_from_many()
    for _ in range(6):
        sign_in(visitor(), "203.0.113.1", "wrong-password")
    answer = browser.post("/account/reauthenticate/", {"password": PASSWORD}, REMOTE_ADDR="203.0.113.1")
    assert answer.status_code == 302


@pytest.mark.parametrize("email", [ADA, "nobody@example.com"])
def test_a_mailbox_gets_five_links_an_hour(email: str) -> None:
    person()
    statuses = [
        visitor().post("/account/password/reset/", {"email": email}, REMOTE_ADDR=f"198.51.{host}.1").status_code
        for host in range(7)
    ]
    assert statuses == [302] * 5 + [429] * 2
    assert len(mail.outbox) == (5 if email == ADA else 0)


def test_a_mail_tells_the_address_and_not_what_limits_count() -> None:
    person()
    browser = visitor()
    sign_in(browser, "203.0.113.1")
    values = {"oldpassword": PASSWORD, "password1": "another-long-one", "password2": "another-long-one"}
    assert browser.post("/account/password/change/", values, REMOTE_ADDR="203.0.113.1").status_code == 302
    assert "203.0.113.1" in mail.outbox[-1].body


def test_invitations_are_not_tried_without_end() -> None:
    answers = [visitor().post("/account/invitations/guessed/", REMOTE_ADDR="192.0.2.1") for _ in range(21)]
    assert [answer.status_code for answer in answers] == [404] * 20 + [429]
    assert visitor().post("/account/invitations/guessed/", REMOTE_ADDR="192.0.2.2").status_code == 404
