"""Whoever made a token for scripts is told so, and once more a week before it ends."""

from datetime import timedelta
from smtplib import SMTPServerDisconnected
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.utils import timezone

from apps.jobs import scheduling
from apps.oauthmcp import tasks
from apps.oauthmcp.models import Authorization, ScriptToken
from apps.orgs.models import Membership, User
from tests.oauthmcp.grants import make_authorization, make_client
from tests.oauthmcp.script_tokens.page import confirmed, make_token, newest, send, shown

WEEK = timedelta(days=7)


def remind() -> list[Any]:
    """The mails that the task sends."""
    mail.outbox.clear()
    tasks.remind.call()
    return list(mail.outbox)


def end_in(span: timedelta) -> None:
    Authorization.objects.update(expires_at=timezone.now() + span)


def test_a_mail_says_what_was_made_from_where_and_what_to_do_about_it(ada: Membership, settings: Any) -> None:
    settings.PUBLIC_URL = "https://porthole.example.com"
    raw = shown(send(confirmed(ada), scope=["apps:read", "files:read"]))
    (message,) = mail.outbox
    assert message.to == ["ada@example.com"]
    assert message.subject == "Porthole: A token for scripts was made"
    for words in (
        "Name: Nightly\nOrganization: Acme\nMay see: Apps and deployments, Files in code repositories\n",
        f"Ends: {newest().authorization.expires_at:%Y-%m-%d %H:%M} UTC",
        "https://porthole.example.com/account/tokens/",
        "from the address 127.0.0.1",
        "If it was not, choose a new password at once:\nhttps://porthole.example.com/account/password/reset/",
        "A new password ends all of your tokens.",
    ):
        assert words in message.body
    assert raw[12:] not in message.body


def test_a_name_with_signs_is_told_as_it_is(ada: Membership) -> None:
    send(confirmed(ada), name="R&D <nightly>")
    assert "Name: R&D <nightly>\n" in mail.outbox[0].body


def test_a_mail_comes_a_week_before_the_end_and_once(ada: Membership) -> None:
    make_token(ada)
    end_in(WEEK + timedelta(minutes=5))
    assert remind() == []
    end_in(WEEK - timedelta(minutes=5))
    (message,) = remind()
    assert (message.to, message.subject) == (["ada@example.com"], "Porthole: A token for scripts ends soon")
    assert "Name: Nightly\nOrganization: Acme\n" in message.body
    assert "Last used: never" in message.body
    assert "http://localhost:8000/account/tokens/" in message.body
    assert remind() == []


def test_nobody_is_told_of_a_token_that_lives_no_longer_than_a_week(ada: Membership) -> None:
    make_token(ada, end="7")
    day = (timezone.now() + timedelta(days=3)).date().isoformat()
    make_token(ada, end="day", day=day)
    assert remind() == []


def test_nobody_is_told_of_what_works_no_more_or_is_no_token_for_scripts(ada: Membership) -> None:
    soon = timezone.now() + timedelta(days=3)
    make_authorization(make_client(), ada, expires_at=soon)
    make_token(ada)
    end_in(timedelta(days=3))
    for ended in ({"revoked_at": timezone.now()}, {"expires_at": timezone.now()}):
        before = Authorization.objects.filter(script_token__isnull=False).values("revoked_at", "expires_at").get()
        Authorization.objects.update(**ended)
        assert remind() == []
        Authorization.objects.update(**before)
    User.objects.update(is_active=False)
    assert remind() == []
    User.objects.update(is_active=True, password_changed_at=timezone.now())
    assert remind() == []
    User.objects.update(password_changed_at=None)
    assert len(remind()) == 1


def test_a_mail_that_was_not_sent_is_sent_the_next_day_and_keeps_no_other_back(
    ada: Membership, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make_token(ada, name="First")
    make_token(ada, name="Second")
    end_in(timedelta(days=3))
    send_messages = EmailBackend.send_messages
    names = []

    def refuse_first(backend: EmailBackend, messages: Any) -> int:
        names.append("First" if "Name: First" in messages[0].body else "Second")
        if len(names) == 1:
            raise SMTPServerDisconnected("ada@example.com")
        return send_messages(backend, messages)

    monkeypatch.setattr(EmailBackend, "send_messages", refuse_first)
    assert len(remind()) == 1
    assert "a mail was not sent: SMTPServerDisconnected" in caplog.text
    assert "ada@" not in caplog.text
    assert len(remind()) == 1
    assert sorted(names[1:]) == ["First", "Second"]
    assert not ScriptToken.objects.filter(reminded_at=None).exists()


def test_without_mail_nothing_is_noted_as_told(ada: Membership, settings: Any) -> None:
    make_token(ada)
    end_in(timedelta(days=3))
    settings.MAIL_IS_SET_UP = False
    assert remind() == []
    settings.MAIL_IS_SET_UP = True
    assert len(remind()) == 1


def test_the_task_runs_every_day() -> None:
    periodic = next(one for one in scheduling.registered() if one.name == "remind:script-tokens")
    assert (periodic.task, periodic.period) == (tasks.remind.module_path, scheduling.DAY)
