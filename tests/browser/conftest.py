"""A browser, and what it sees of a server that runs beside the test."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

import pytest
from allauth.mfa.totp.internal import auth
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from apps.orgs.models import User
from tests.accounts.visitors import code, confirm, sign_in, visitor
from tests.browser.chromium import FLAGS, MISSING, find
from tests.factories import fill
from tests.patience import patience

STEP = 57_000_000  # the 30 seconds that codes of authenticator apps are for, as long as a test lasts


def milliseconds() -> float:
    """Until a page is given up."""
    return 1000 * patience()


@dataclass
class Visit:
    """A page of a browser, and what it complained about or asked other hosts for."""

    page: Page
    origin: str
    patch: pytest.MonkeyPatch = field(default_factory=pytest.MonkeyPatch)
    complaints: list[str] = field(default_factory=list)
    asked_elsewhere: list[str] = field(default_factory=list)

    def listen(self) -> "Visit":
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._see)
        return self

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _see(self, request: Request) -> None:
        if not request.url.startswith((self.origin + "/", "data:", "blob:")):
            self.asked_elsewhere.append(request.url)

    def open(self, address: str) -> None:
        self.page.goto(self.origin + address)

    def follow(self, selector: str = "main [type=submit]") -> None:
        """Clicks what leads to another page, and waits until that one is there: a click alone returns before."""
        with self.page.expect_navigation(wait_until="load"):
            self.page.click(selector)

    def send(self, **fields: str) -> None:
        """Fills in the page's form and sends it."""
        for name, value in fields.items():
            self.page.fill(f"main [name={name}]", value)
        self.follow()

    def sign_in(self, user: User, *, is_confirmed: bool = True) -> None:
        """As the form would, without opening it. Confirmed: the password was given once more, as some pages ask."""
        client = visitor()
        answer = sign_in(client, user.email)
        if answer.url == "/account/second-factor/sign-in/":
            answer = client.post(answer.url, {"code": code(STEP)})
        assert answer.status_code == 302
        if is_confirmed:
            confirm(client)
        cookies = [{"name": name, "value": cookie.value, "url": self.origin} for name, cookie in client.cookies.items()]
        self.page.context.add_cookies(cookies)  # type: ignore[arg-type]

    def was_quiet(self) -> bool:
        assert self.complaints == []
        assert self.asked_elsewhere == []
        return True


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    if (program := find()) is None:
        pytest.fail(MISSING, pytrace=False)
    with sync_playwright() as playwright:
        # Playwright keeps an event loop in this thread, where Django would refuse to use the database.
        before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=milliseconds())
        expect.set_options(timeout=milliseconds())
        yield browser
        browser.close()
        os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE")
        if before is not None:
            os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


@pytest.fixture
def visit(chromium: Browser, live_server: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    monkeypatch.setattr(auth, "yield_hotp_counters_from_time", lambda: iter([STEP]))
    monkeypatch.setattr("apps.accounts.mail.start", Thread.run)  # mail is sent at once
    fill("acme")
    settings.LOCAL_DEV_ORG = "acme"
    page = chromium.new_page()
    page.set_default_timeout(milliseconds())
    yield Visit(page, live_server.url, monkeypatch).listen()
    page.close()
