"""Mails in local: printed where the server runs, so that nobody overlooks them or their link."""

import re
from typing import Any

import pytest
from django.core.mail import EmailMessage

from apps.accounts.invitations import invite
from apps.accounts.printed_mail import WIDTH, EmailBackend
from apps.orgs.models import Invitation, Organization


def printed(capsys: pytest.CaptureFixture[str], mail: EmailMessage) -> list[str]:
    assert EmailBackend().send_messages([mail]) == 1
    return capsys.readouterr().out.splitlines()


@pytest.mark.django_db
def test_an_invitation_stands_between_rules_and_its_link_alone_in_a_line(
    capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    settings.EMAIL_BACKEND = "apps.accounts.printed_mail.EmailBackend"
    organization = Organization.objects.create(slug="acme", name="Größe & Söhne — a name that makes the line very long")
    link, _ = invite(Invitation(organization=organization, email="ada@example.com"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == lines[-1] == ""
    assert re.fullmatch(r"=+ Mail that would be sent =+", lines[1])
    assert lines[-2] == "=" * WIDTH
    assert "To: ada@example.com" in lines
    assert "Subject: Join Größe & Söhne — a name that makes the line very long on Porthole" in lines
    assert link in lines


def test_nothing_in_a_mail_moves_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(
        capsys, EmailMessage("Join \x1b[2J", "You\x1b]8;;http://evil\x07 are\r invited\u202e", to=["a@b.c"])
    )
    assert "You�]8;;http://evil� are� invited�" in lines
    assert "Subject: Join �[2J" in lines


def test_a_mail_is_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[str] = []
    monkeypatch.setattr("sys.stdout.write", writes.append)
    monkeypatch.setattr("sys.stdout.flush", lambda: None)
    EmailBackend().send_messages([EmailMessage("Subject", "Line\n" * 100, to=["a@b.c"])])
    assert len(writes) == 1
