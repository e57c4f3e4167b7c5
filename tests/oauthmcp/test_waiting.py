"""Signing in on the way to a consent page: which app waits and for what, and nothing that a stranger wrote."""

from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tests.accounts.visitors import give_second_factor, person, said, sign_in, visitor
from tests.oauthmcp.authorizing import PATH, ask, wanted
from tests.oauthmcp.grants import make_client

pytestmark = pytest.mark.django_db
LOGIN = "/account/login/"


def sign_in_page(address: str) -> str:
    return said(visitor().get(f"{LOGIN}?next={quote(address, safe='')}"))


def address_of(*args: Any, **changes: Any) -> str:
    return f"{PATH}?{urlencode(wanted(*args, **changes))}"


def test_the_sign_in_page_says_which_app_waits_and_for_what() -> None:
    client = make_client("Claude\u202e Code")
    browser = visitor()
    text = said(browser.get(ask(browser, client, scope="apps:read docs:read")["Location"]))
    assert "Claude Code wants to see apps and deployments, documentation and templates. Sign in to decide." in text
    assert "nobody has checked it. It is a program on this computer." in text


@pytest.mark.parametrize(
    ("uri", "words"),
    [("https://app.example/cb", "It is at app.example ."), ("cursor://x/cb", "It is an app on this device.")],
)
def test_it_says_where_the_app_is(uri: str, words: str) -> None:
    assert words in sign_in_page(address_of(make_client(redirect_uris=uri), redirect_uri=uri))


def test_it_says_so_after_a_wrong_password_and_when_it_asks_for_a_code() -> None:
    give_second_factor(person())
    browser, address = visitor(), address_of(make_client("Weather vane"))
    assert "Weather vane wants to see" in said(sign_in(browser, password="wrong-password", next=address))
    browser.post(LOGIN, {"login": "ada@example.com", "password": "a-long-password", "next": address})
    assert "Weather vane wants to see" in said(browser.get("/account/second-factor/sign-in/"))


def test_it_says_so_where_the_request_is_too_long_for_an_address() -> None:
    browser = visitor()
    sent = ask(browser, make_client("Weather vane"), state="x" * 3000)["Location"]
    assert "pending" in sent
    assert "Weather vane wants to see" in said(browser.get(sent))
    assert "wants to see" not in said(visitor().get(sent))  # of another browser


@pytest.mark.parametrize(
    "address",
    [
        f"{PATH}?client_id=Call+555-0100",
        f"{PATH}?pending=Call+555-0100",
        f"{PATH}?client_id=a&client_id=b",
        f"{PATH}?client_id=%00&client_name=Call+555-0100",
        f"http://localhost{PATH}?client_id=Call+555-0100",
        f"{PATH}/../?client_id=x",
        "/account/?name=Call+555-0100",
        "//[",
        "",
    ],
)
def test_what_is_no_valid_request_shows_nothing(address: str) -> None:
    text = sign_in_page(address)
    assert "wants to see" not in text
    assert "555-0100" not in text


def test_a_strangers_link_shows_no_words_but_the_cleaned_name() -> None:
    client = make_client("<b>Bank</b>")
    address = address_of(client, state="Call 555-0100", scope="apps:read Call-555-0100", prompt="Call 555-0100")
    page = visitor().get(f"{LOGIN}?next={quote(address, safe='')}").content.decode()
    assert "&lt;b&gt;Bank&lt;/b&gt;" in page
    assert "555-0100" not in page.replace(quote(address).replace("%2B", "+"), "").partition("<form")[0]
    assert "wants to see" not in sign_in_page(address_of(client, redirect_uri="https://evil.example/cb"))
    assert "wants to see" not in sign_in_page(address_of(client, code_challenge=None))
