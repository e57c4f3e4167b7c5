"""A copy of the database signs nobody in, and what is left in a browser ends by itself."""

from datetime import datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore as DjangosStore
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from apps.accounts.sessions import SessionStore, hash_key
from apps.orgs.models import User
from tests.accounts.visitors import person, sign_in, visitor, who
from tests.oauthmcp.database_scan import find_in_database
from tests.operators import queries_of

COOKIE = settings.SESSION_COOKIE_NAME


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, db: None) -> Any:
    """`clock(hours=1)`: it is an hour later."""
    now = timezone.now()

    def later(**passed: float) -> datetime:
        nonlocal now
        now += timedelta(**passed)
        monkeypatch.setattr(timezone, "now", lambda: now)
        return now

    later()
    return later


def ada(*, staff: bool = False) -> tuple[User, Client]:
    """Somebody whom the browser keeps signed in."""
    user, browser = person(is_staff=staff), visitor()
    assert sign_in(browser, remember="on").status_code == 302
    return user, browser


def test_nothing_in_the_database_is_a_cookie_that_opens_a_session(db: None) -> None:
    _, browser = ada(staff=True)
    key = browser.cookies[COOKIE].value
    assert who(browser) == "ada@example.com"
    assert find_in_database([key]) == []
    thief = visitor()
    for stored in Session.objects.values_list("session_key", flat=True):
        thief.cookies[COOKIE] = stored
        assert who(thief) is None


@pytest.mark.parametrize(("hours", "lasts"), [(14 * 24 - 0.1, True), (14 * 24 + 0.1, False)])
def test_a_members_session_ends_two_weeks_after_the_sign_in(clock: Any, hours: float, lasts: bool) -> None:
    _, browser = ada()
    for _ in range(10):
        clock(hours=hours / 10)
        is_in = who(browser)
    assert bool(is_in) is lasts


@pytest.mark.parametrize(("minutes", "lasts"), [(58, True), (61, False)])
def test_an_operators_session_ends_when_nobody_is_there(clock: Any, minutes: int, lasts: bool) -> None:
    _, browser = ada(staff=True)
    for _ in range(2):
        clock(minutes=minutes)
        is_in = who(browser)
    assert bool(is_in) is lasts
    assert (browser.cookies[COOKIE].value != "") is lasts


@pytest.mark.parametrize(("steps", "lasts"), [(15, True), (17, False)])  # of 45 minutes: 11.25 and 12.75 hours
def test_an_operators_session_ends_half_a_day_after_the_sign_in(clock: Any, steps: int, lasts: bool) -> None:
    _, browser = ada(staff=True)
    for _ in range(steps):
        clock(minutes=45)
        is_in = who(browser)
    assert bool(is_in) is lasts


def test_whoever_becomes_an_operator_meanwhile_is_held_to_their_times(clock: Any) -> None:
    user, browser = ada()
    User.objects.filter(pk=user.pk).update(is_staff=True)
    clock(hours=11)
    assert who(browser)
    clock(minutes=61)
    assert who(browser) is None
    assert not Session.objects.filter(expire_date__gt=timezone.now()).exists()


def test_signing_in_again_begins_anew(clock: Any) -> None:
    _, browser = ada(staff=True)
    clock(minutes=61)
    assert sign_in(browser).status_code == 302
    clock(minutes=58)
    assert who(browser)


def test_being_there_is_noted_once_a_minute_and_changes_nothing_else(clock: Any) -> None:
    _, browser = ada(staff=True)

    def written() -> list[str]:
        queries = queries_of(lambda: browser.get("/account/"))
        return [query["sql"] for query in queries if query["sql"].startswith(("UPDATE", "INSERT"))]

    clock(seconds=59)
    assert written() == []
    clock(seconds=2)
    (update,) = written()
    assert "expire_date" in update
    assert "session_data" not in update
    assert written() == []


def test_what_ended_is_forgotten(clock: Any) -> None:
    ada(staff=True)
    clock(minutes=61)
    call_command("clearsessions")
    assert not Session.objects.exists()


def test_signing_out_and_a_new_key_leave_no_row_behind(db: None) -> None:
    _, browser = ada()
    store = SessionStore(browser.cookies[COOKIE].value)
    assert store.exists(str(store.session_key))
    store.cycle_key()
    browser.cookies[COOKIE] = str(store.session_key)
    assert Session.objects.get().session_key == hash_key(str(store.session_key))
    assert who(browser)
    browser.post("/account/logout/")
    assert not Session.objects.exists()


def test_sessions_of_before_the_upgrade_stay_and_age(clock: Any) -> None:
    _, browser = ada(staff=True)
    now = SessionStore(browser.cookies[COOKIE].value)
    before = DjangosStore()  # as the earlier release wrote it
    before.update({name: value for name, value in now.items() if name != "signed_in_at"})
    before.save()
    Session.objects.exclude(pk=before.session_key).delete()
    import_module("apps.accounts.migrations.0001_hash_session_keys").hash_keys(apps, None)
    browser.cookies[COOKIE] = str(before.session_key)
    clock(hours=11)
    assert who(browser)
    clock(minutes=61)
    assert who(browser) is None
