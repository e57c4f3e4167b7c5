"""Somebody at a browser, over plain HTTP: signs in, ticks what an app may see, allows it."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

import requests

from tests.accounts.visitors import PASSWORD
from tests.patience import patience


@dataclass
class Form:
    action: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[tuple[str, str]] = field(default_factory=list)

    def filled_in(self, **values: str) -> list[tuple[str, str]]:
        """What a browser would send when somebody had typed these."""
        assert values.keys() <= {name for name, _ in self.fields}
        return [(name, values.get(name, value)) for name, value in self.fields]

    def without(self, name: str, *, kept: str | None) -> list[tuple[str, str]]:
        """Only the values of `name` that are in the list `kept`; None keeps all."""
        return [(n, value) for n, value in self.fields if n != name or kept is None or value in kept.split()]


class Forms(HTMLParser):
    """The forms of a page, with what is in them as it arrives: ticked boxes, the first radio button."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[Form] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(values.get("action", "")))
        name, value = values.get("name", ""), values.get("value", "")
        if not self.found or not name:
            return
        form = self.found[-1]
        if tag == "button":
            form.buttons.append((name, value))
        if tag != "input" or (values.get("type") == "checkbox" and "checked" not in values):
            return
        if values.get("type") != "radio" or name not in dict(form.fields):
            form.fields.append((name, value))


def sign_in_and_allow(authorize_url: str, email: str, password: str = PASSWORD, scope: str | None = None) -> str:
    """Where the browser is sent back to: the app's address with the code. `scope`: all that stays ticked."""
    with requests.Session() as browser:
        page = _get(browser, authorize_url)
        sign_in = next(form for form in Forms(page.text).found if "login" in dict(form.fields))
        page = browser.post(
            urljoin(page.url, sign_in.action), sign_in.filled_in(login=email, password=password), timeout=patience()
        )
        assert page.status_code == 200, page.text
        consent = next(form for form in Forms(page.text).found if ("decision", "allow") in form.buttons)
        answer = browser.post(
            urljoin(page.url, consent.action),
            [*consent.without("scope", kept=scope), ("decision", "allow")],
            timeout=patience(),
            allow_redirects=False,
        )
        assert answer.status_code == 303, answer.text
        return answer.headers["Location"]


def _get(browser: requests.Session, address: str) -> requests.Response:
    page = browser.get(address, timeout=patience())
    assert page.status_code == 200, page.text
    return page
