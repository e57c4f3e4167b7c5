"""/account/tokens/new/: who may make which token, and that it is shown once."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.net.encryption import hash_of
from apps.oauthmcp.models import SCRIPT_CLIENT, AccessToken, Authorization, ScriptToken
from apps.oauthmcp.script_tokens import making
from apps.orgs.models import Membership, Organization, User
from apps.web import logs
from apps.web.limits import Buckets
from tests.accounts.conftest import Clock
from tests.accounts.visitors import PASSWORD, Fields, code, confirm, give_second_factor, said, visitor
from tests.api import Api
from tests.factories import Fill
from tests.oauthmcp.database_scan import find_in_database
from tests.oauthmcp.grants import make_member
from tests.oauthmcp.script_tokens.page import LIST, NEW, confirmed, form_of, make_token, newest, send, shown


def test_a_member_makes_a_token_that_opens_the_organization_and_only_what_was_ticked(
    api: Api, ada: Membership, acme: Fill
) -> None:
    answer = send(confirmed(ada))
    raw = shown(answer)
    script = Api(bearer=raw)
    account = script("get_account")
    assert account["organization"]["id"] == acme.organization.id
    assert account["viewer"] == {"email": "ada@example.com", "name": "Ada", "role": "member"}
    assert account["scopes"] == ["account:read", "apps:read"]
    assert script.post("list_templates").status_code == 403
    authorization = Authorization.objects.get()
    assert authorization.application.client_id == SCRIPT_CLIENT
    assert (authorization.membership, authorization.script_token.name) == (ada, "Nightly")
    token = AccessToken.objects.get()
    assert (token.token_checksum, token.token, token.expires) == (hash_of(raw), "", authorization.expires_at)


def test_nothing_is_ticked_beforehand_thirty_days_are_and_files_are_told_plainly(ada: Membership) -> None:
    page = confirmed(ada).get(NEW).content.decode()
    scopes, ends = page.split('id="scope"')[1].split("</fieldset>")[0], page.split('id="end"')[1]
    assert "checked" not in scopes
    assert scopes.count("checkbox") == 5
    assert 'value="30" required checked' in ends
    assert ends.count("checked") == 1
    assert "All source code of every app in this organization" in page


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": ""}, "Give it a name."),
        ({"name": "\u200b \u202e"}, "Give it a name in which something is to be seen."),
        ({"name": "x" * 101}, "at most 100 characters"),
        ({"name": "a\x00b"}, "Null characters are not allowed."),
        ({"organization": None}, "Choose the organization that it may look at."),
        ({"organization": "x"}, "Choose an organization of yours"),
        ({"scope": []}, "Tick at least one thing that it may see."),
        ({"scope": ["apps:write"]}, "Tick only what there is."),
        ({"end": None}, "Choose when it ends."),
        ({"end": "366"}, "Choose when it ends."),
        ({"end": "day"}, "Choose the day on which it ends."),
        ({"end": "day", "day": "31.12.2026"}, "Write the day like 2027-01-31."),
        ({"end": "day", "day": "2020-01-01"}, "Choose a day from tomorrow on"),
        ({"end": "day", "day": "9999-12-31"}, "Choose a day from tomorrow on"),
        ({"form": None}, "A part of this page was missing."),
    ],
)
def test_a_form_that_is_not_in_order_makes_nothing_and_loses_nothing(
    ada: Membership, changes: dict[str, Any], problem: str
) -> None:
    answer = send(confirmed(ada), **{"name": "Nightly <b>", "end": "90"} | changes)
    assert answer.status_code == 400
    assert problem in said(answer)
    page = answer.content.decode()
    assert ("name" in changes) or 'value="Nightly &lt;b&gt;"' in page
    assert ("scope" in changes) or 'value="apps:read" checked' in page
    assert ("end" in changes) or 'value="90" required checked' in page
    assert not ScriptToken.objects.exists()


@pytest.mark.parametrize(("end", "days"), [("7", 7), ("30", 30), ("90", 90), ("365", 365)])
def test_a_token_ends_when_it_was_said_to(ada: Membership, end: str, days: int) -> None:
    before = timezone.now()
    make_token(ada, end=end)
    assert before <= newest().authorization.expires_at - timedelta(days=days) <= timezone.now()


def test_a_token_that_ends_on_a_day_ends_when_that_day_is_over(ada: Membership) -> None:
    day = (timezone.now() + timedelta(days=200)).date()
    make_token(ada, end="day", day=day.isoformat())
    assert newest().authorization.expires_at == datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1)


def test_no_day_makes_a_token_that_lives_longer_than_a_year(ada: Membership) -> None:
    page = Fields(confirmed(ada).get(NEW).content.decode())
    assert page.names["day"] == ""
    year = timezone.now() + timedelta(days=365)
    make_token(ada, end="day", day=(year - timedelta(days=1)).date().isoformat())
    assert newest().authorization.expires_at <= year
    assert send(confirmed(ada), end="day", day=year.date().isoformat()).status_code == 400


def test_a_name_is_one_short_line_of_what_can_be_seen(ada: Membership) -> None:
    make_token(ada, name=" Nigh\u202etly \u200b  build\ufeff ")
    assert newest().name == "Nightly build"


# Whose organization


def test_a_member_of_two_organizations_chooses(ada: Membership, rival: Fill) -> None:
    there = make_member(rival.organization)
    page = confirmed(ada).get(NEW).content.decode()
    assert page.count('type="radio" name="organization"') == 2
    assert "checked" not in page.split('id="organization"')[1].split("</fieldset>")[0]
    raw = make_token(there)
    assert Api(bearer=raw)("get_account")["organization"]["slug"] == "rival"


def test_nobody_makes_a_token_for_an_organization_of_others(ada: Membership, rival: Fill) -> None:
    bob = make_member(rival.organization, "bob@example.com")
    assert send(confirmed(ada), organization=str(bob.pk)).status_code == 400
    assert not ScriptToken.objects.exists()


def test_whoever_leaves_while_the_form_is_open_makes_nothing(ada: Membership, rival: Fill) -> None:
    browser = confirmed(ada)
    form = form_of(browser)
    make_member(rival.organization)
    ada.delete()
    assert browser.post(NEW, form).status_code == 400
    assert not ScriptToken.objects.exists()


def test_an_organization_that_forbids_tokens_is_not_to_be_chosen(ada: Membership, rival: Fill) -> None:
    browser = confirmed(ada)
    form = form_of(browser)
    Organization.objects.filter(slug="acme").update(allows_script_tokens=False)
    assert "Acme allows no tokens for scripts." in said(browser.get(NEW))
    assert "Make a token<" not in browser.get(LIST).content.decode()
    assert browser.post(NEW, form).status_code == 400
    make_member(rival.organization)
    assert "Acme allows no tokens for scripts." in said(browser.get(NEW))
    assert form_of(browser)["organization"] != str(ada.pk)
    assert not ScriptToken.objects.exists()


def test_tokens_that_are_forbidden_after_the_form_was_read_are_not_made(ada: Membership) -> None:
    Organization.objects.filter(slug="acme").update(allows_script_tokens=False)
    wanted = making.Wanted("x" * 32, "x", ada.pk, ["apps:read"], timezone.now() + timedelta(days=1), timezone.now())
    with pytest.raises(making.NotMade, match="Acme allows no tokens for scripts"):
        making.make(ada.user, wanted)


def test_somebody_without_an_organization_reads_why_there_is_nothing_to_make(db: None) -> None:
    browser = visitor(User.objects.create_user("new@example.com", PASSWORD))
    confirm(browser)
    assert "You are a member of no organization." in said(browser.get(NEW))
    assert "You are a member of no organization." not in said(browser.get("/"))
    assert "because you are a member of no organization" in said(browser.get(LIST))


# Only whoever is there


@pytest.mark.parametrize("method", ["get", "post"])
def test_somebody_who_is_not_signed_in_is_sent_to_sign_in(db: None, method: str) -> None:
    assert getattr(visitor(), method)(NEW)["Location"] == f"/account/login/?next={NEW}"


def test_the_password_is_asked_for_again_after_five_minutes_and_nothing_typed_is_lost(
    ada: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = confirmed(ada)
    form = form_of(browser)
    later = datetime.now(UTC).timestamp() + 301
    monkeypatch.setattr("time.time", lambda: later)
    answer = browser.post(NEW, form | {"name": "Typed before"})
    assert answer["Location"].startswith("/account/reauthenticate/")
    assert not ScriptToken.objects.exists()
    assert browser.post(answer["Location"], {"password": "wrong"}).status_code == 200
    assert not ScriptToken.objects.exists()
    raw = shown(browser.post(answer["Location"], {"password": PASSWORD}))
    assert newest().name == "Typed before"
    # Loading that answer anew sends the password anew, and nothing else.
    again = browser.post(answer["Location"], {"password": PASSWORD})
    assert (again.status_code, again["Location"]) == (302, NEW)
    assert ScriptToken.objects.count() == 1
    assert find_in_database([raw]) == []


def test_opening_the_form_asks_for_the_password_first(ada: Membership) -> None:
    assert visitor(ada.user).get(NEW)["Location"].startswith("/account/reauthenticate/?next=")


def test_with_a_second_factor_a_code_will_do(ada: Membership, clock: Clock) -> None:
    give_second_factor(ada.user)
    browser = visitor(ada.user)
    answer = browser.get(NEW, follow=True)
    assert "Use a code instead" in said(answer)
    confirmed = browser.post(f"/account/second-factor/confirm/?next={NEW}", {"code": code(clock.step)})
    assert confirmed["Location"] == NEW
    assert shown(send(browser))


def test_a_form_from_another_site_makes_nothing(ada: Membership) -> None:
    strict = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    strict.cookies = confirmed(ada).cookies
    form = {"form": "x" * 32, "name": "x", "organization": ada.pk, "scope": ["apps:read"], "end": "30"}
    for headers in ({}, {"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert strict.post(NEW, form, headers=headers).status_code == 403
    assert not ScriptToken.objects.exists()


# Once


def test_a_form_that_is_sent_twice_makes_one_token_and_says_so(ada: Membership) -> None:
    browser = confirmed(ada)
    form = form_of(browser)
    raw = shown(browser.post(NEW, form))
    again = browser.post(NEW, form | {"name": "Another name"})
    assert again.status_code == 409
    assert "This token was made already" in said(again)
    assert "Nightly" in said(again)
    assert raw not in again.content.decode()
    assert ScriptToken.objects.count() == AccessToken.objects.count() == len(mail.outbox) == 1


def test_the_same_form_of_another_member_is_another_form(ada: Membership, acme: Fill) -> None:
    bob = make_member(acme.organization, "bob@example.com")
    browser = confirmed(ada)
    form = form_of(browser)
    shown(browser.post(NEW, form))
    assert shown(confirmed(bob).post(NEW, form | {"organization": bob.pk}))


def test_a_token_is_on_no_other_page_in_no_cookie_and_kept_by_no_cache(ada: Membership, operator: Client) -> None:
    browser = confirmed(ada)
    answer = send(browser)
    raw = shown(answer)
    assert "no-store" in answer["Cache-Control"]
    assert raw not in repr(browser.cookies)
    assert raw not in repr(dict(browser.session))
    row = newest()
    pages = [
        browser.get(LIST), browser.get(NEW), browser.get("/account/"), browser.get("/account/password/change/"),
        operator.get("/admin/oauthmcp/scripttoken/"), operator.get(f"/admin/oauthmcp/scripttoken/{row.pk}/change/"),
        operator.get("/admin/oauthmcp/accesstoken/"), operator.get("/admin/oauthmcp/authorization/"),
    ]  # fmt: skip
    for page in pages:
        assert page.status_code == 200
        assert raw not in page.content.decode()
        assert hash_of(raw) not in page.content.decode()
    assert raw not in "".join(f"{message.subject}{message.body}" for message in mail.outbox)


def test_a_token_stands_nowhere_in_the_database_and_in_no_log_line(
    ada: Membership, caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    cache.clear()
    raw = make_token(ada)
    Api(bearer=raw).post("get_account")
    lines = [logs.JsonFormatter().format(record) for record in caplog.records]
    made = next(line for line in lines if "a token for scripts was made" in line)
    assert f'"authorizationId":"{newest().pk}"' in made
    assert '"clientId":"porthole-scripts"' in made
    assert not [line for line in lines if raw in line or raw[12:] in line]
    assert find_in_database([raw, raw[12:]]) == []


def test_what_breaks_while_a_token_is_made_names_it_nowhere(
    ada: Membership, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def fail(row: AccessToken, raw: str) -> None:
        made.append(raw)
        raise RuntimeError(f"could not store {raw}")

    monkeypatch.setattr(making, "set_token_value", fail)
    browser = confirmed(ada)
    browser.raise_request_exception = False
    answer = send(browser)
    assert answer.status_code == 500
    text = answer.content.decode() + "".join(logs.JsonFormatter().format(record) for record in caplog.records)
    assert "could not store porthole_st_" in text
    assert made[0] not in text
    assert made[0][12:] not in text
    assert not ScriptToken.objects.exists()
    assert not Authorization.objects.exists()


# How many


def test_nobody_has_more_than_twenty_at_once(ada: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "MAX_NUMBER", 2)
    browser = confirmed(ada)
    assert send(browser).status_code == 200
    last = form_of(browser)
    assert browser.post(NEW, last).status_code == 200
    answer = send(browser)
    assert answer.status_code == 400
    assert "You have 2 tokens, and there can be no more at once." in said(answer)
    assert browser.post(NEW, last).status_code == 409
    ended = newest()
    assert browser.post(f"{LIST}{ended.pk}/end/").status_code == 302
    assert shown(send(browser))


def test_those_that_ended_count_no_more_and_others_never(
    ada: Membership, acme: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MAX_NUMBER", 1)
    make_token(make_member(acme.organization, "bob@example.com"))
    make_token(ada)
    Authorization.objects.update(expires_at=timezone.now())
    assert make_token(ada)


def test_whoever_makes_many_waits_and_keeps_what_was_typed(
    ada: Membership, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(making, "MADE", Buckets(burst=1, per_second=1 / 60))
    browser = confirmed(ada)
    shown(send(browser))
    answer = send(browser, name="Second")
    assert (answer.status_code, answer["Retry-After"]) == (429, "60")
    assert "Wait a minute" in said(answer)
    assert 'value="Second"' in answer.content.decode()
    assert ScriptToken.objects.count() == 1


def test_a_password_that_is_changed_while_the_form_is_under_way_makes_it_worthless(ada: Membership) -> None:
    browser = confirmed(ada)
    user = User.objects.get(pk=ada.user_id)
    stale = User.objects.get(pk=ada.user_id)
    user.set_password("another-long-password")
    user.save()
    wanted = making.Wanted("x" * 32, "x", ada.pk, ["apps:read"], timezone.now() + timedelta(days=1), timezone.now())
    with pytest.raises(making.NotMade):
        making.make(stale, wanted)
    assert browser.get(NEW)["Location"].startswith("/account/login/")


def test_a_token_that_is_made_while_the_password_is_being_changed_ends_with_the_old_one(
    ada: Membership, api: Api
) -> None:
    browser = confirmed(ada)
    form = form_of(browser)
    # Set, and not yet stored: hashing takes its time, and the session is still good.
    User.objects.update(password_changed_at=timezone.now())
    assert Api(bearer=shown(browser.post(NEW, form))).post("get_account").status_code == 401


# The example


@pytest.mark.parametrize(
    ("scope", "tool"),
    [
        ("account:read", "get_account"), ("apps:read", "list_apps"), ("config:read", "list_org_secrets"),
        ("docs:read", "list_templates"), ("files:read", "list_files"),
    ],
)  # fmt: skip
def test_the_example_asks_what_the_token_may_ask(ada: Membership, api: Api, scope: str, tool: str) -> None:
    answer = send(confirmed(ada), scope=[scope])
    assert f"http://localhost:8000/api/v1/tools/{tool} " in said(answer)
    assert Api(bearer=shown(answer)).post(tool).status_code in (200, 422)
