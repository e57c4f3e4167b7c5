"""What create_operator and add_member say the person does next, and the link that one of them prints."""

import io
import re
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command

from apps.orgs.models import Invitation, Organization, User
from tests.accounts.visitors import PASSWORD, link_in_mail, person, said, visitor, who

pytestmark = pytest.mark.django_db
NEW = {"name": "Ada", "password1": PASSWORD, "password2": PASSWORD}


@pytest.fixture
def acme() -> Organization:
    return Organization.objects.create(slug="acme", name="Acme")


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def printed_link(output: str) -> str:
    found = re.search(r"^http://localhost:8000(/account/invitations/\S+)$", output, re.MULTILINE)
    assert found, output
    return found[1]


def test_a_new_operator_is_told_where_to_sign_in_and_what_else_is_needed(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setenv("PORTHOLE_OPERATOR_PASSWORD", PASSWORD)
    told = run("create_operator", "ops@example.com")
    assert "http://localhost:8000/admin/" in told
    assert "manage.py add_member ORGANIZATION ops@example.com" in told
    assert "second factor" not in told
    assert PASSWORD not in told
    settings.OPERATORS_NEED_SECOND_FACTOR = True
    assert "asks for a second factor the first time" in run("create_operator", "grace@example.com")


def test_somebody_new_is_told_how_to_choose_a_password_and_that_works(acme: Organization) -> None:
    page = re.search(r"http://localhost:8000(\S+)", run("add_member", "acme", "ada@example.com"))
    assert page
    client = visitor()
    client.post(page[1], {"email": "ada@example.com"})
    form = client.get(link_in_mail(), follow=True).redirect_chain[-1][0]
    client.post(form, {"password1": PASSWORD, "password2": PASSWORD})
    assert User.objects.get(email="ada@example.com").check_password(PASSWORD)


def test_without_mail_the_way_is_a_link_that_the_command_prints(acme: Organization, settings: Any) -> None:
    settings.MAIL_IS_SET_UP = False
    assert "run this again with --link" in run("add_member", "acme", "ada@example.com", "--role", "owner")
    assert not Invitation.objects.exists()
    link = printed_link(run("add_member", "acme", "ada@example.com", "--link"))
    assert link.split("/")[3] not in str(Invitation.objects.values().get())
    client = visitor()
    assert client.post(link, NEW)["Location"] == "/"
    assert who(client) == "ada@example.com"
    assert "Acme Owner" in said(client.get("/account/"))
    assert visitor().get(link).status_code == 404
    assert mail.outbox == []


def test_a_link_that_is_printed_again_replaces_the_first(acme: Organization) -> None:
    first, second = (printed_link(run("add_member", "acme", "ada@example.com", "--link")) for _ in range(2))
    assert visitor().get(first).status_code == 404
    assert visitor().get(second).status_code == 200


def test_whoever_has_a_password_or_is_switched_off_gets_no_link(acme: Organization) -> None:
    person()
    assert "signs in with their password: http://localhost:8000/account/" in run(
        "add_member", "acme", "ada@example.com", "--link"
    )
    User.objects.create_user("eve@example.com", is_active=False)
    assert "is switched off" in run("add_member", "acme", "eve@example.com", "--link")
    assert not Invitation.objects.exists()
