"""People at a browser: what they open, fill in and read."""

import re
from html.parser import HTMLParser
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from django.core import mail
from django.test import Client

from apps.orgs.models import User

PASSWORD = "a-long-password"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


class Fields(HTMLParser):
    """The forms of a page: what a browser would send back."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "input" and values.get("name"):
            self.names[values["name"] or ""] = values.get("value") or ""


def visitor(user: User | None = None) -> Client:
    client = Client(headers={"host": "localhost"})
    if user is not None:
        client.force_login(user)
    return client


def person(email: str = "ada@example.com", **fields: Any) -> User:
    return User.objects.create_user(email, PASSWORD, **fields)


def sign_in(client: Client, email: str = "ada@example.com", password: str = PASSWORD, **more: str) -> Any:
    return client.post("/account/login/", {"login": email, "password": password, **more})


def who(client: Client) -> str | None:
    """The address that a browser is signed in with."""
    answer = client.get("/account/")
    return answer.context["request"].user.email if answer.status_code == 200 else None


def confirm(client: Client, password: str = PASSWORD) -> None:
    """Gives the password once more, as pages that change the second factor ask for."""
    assert client.post("/account/reauthenticate/", {"password": password}).status_code == 302


def give_second_factor(user: User) -> None:
    auth.TOTP.activate(user, SECRET)


def code(step: int, secret: str = SECRET) -> str:
    return auth.format_hotp_value(auth.hotp_value(secret, step))


def secret_of(user: User) -> str:
    """As the database has it."""
    return str(Authenticator.objects.get(user=user, type="totp").data["secret"])


def said(answer: Any) -> str:
    """The text of a page, on one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def link_in_mail(number: int = -1) -> str:
    """The path of the first link in a mail that was sent."""
    found = re.search(r"http://localhost:8000(/account/\S+)", str(mail.outbox[number].body))
    assert found
    return found[1]
