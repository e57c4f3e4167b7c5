#!/usr/bin/env python3
"""What somebody does in a browser, over HTTP: signs in, and makes a token for a script. Standard library only.

    newcomer.py https://porthole.example.com ops@example.com [--connect-to 127.0.0.1:8443] [--ca root.crt]

The password is the first line of standard input; the token is printed, and nothing else.
"""

import argparse
import http.cookiejar
import socket
import ssl
import sys
from html.parser import HTMLParser
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, HTTPSHandler, Request, build_opener

PAGE = "/account/tokens/new/"
ASKED_FOR = {"name": "check-deploy", "scope": "account:read"}  # the rest stays as the page suggests it
TIMES = 2  # that a password is asked for: to sign in, and to confirm that it is still the same person


class Page(HTMLParser):
    """`forms`: what each would send: where to, and each field's value, with what is ticked and no button. `token`: the
    text of what has this id.
    """

    def __init__(self, address: str, text: str) -> None:
        super().__init__()
        self.address = address
        self.token = ""
        self.is_token = False
        self.forms: list[tuple[str, list[tuple[str, str]]]] = []
        self.names: list[set[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.is_token = values.get("id") == "token"
        if tag == "form":
            self.forms.append((urljoin(self.address, values.get("action") or ""), []))
            self.names.append(set())
        elif tag == "input" and self.forms and (name := values.get("name")):
            self.names[-1].add(name)
            is_sent = values.get("type") not in ("checkbox", "radio") or "checked" in values
            self.forms[-1][1].extend([(name, values.get("value") or "")] * is_sent)

    def handle_data(self, data: str) -> None:
        self.token += data * self.is_token

    def handle_endtag(self, tag: str) -> None:
        self.is_token = False

    def has(self, field: str) -> bool:
        return any(field in names for names in self.names)

    def filled_in(self, **given: str) -> tuple[str, list[tuple[str, str]]]:
        """Of the form that has all these fields: where it goes, and what it sends."""
        for (action, fields), names in zip(self.forms, self.names, strict=True):
            if given.keys() <= names:
                return action, [*((name, value) for name, value in fields if name not in given), *given.items()]
        raise SystemExit(f"{self.address} has no form with {', '.join(given)}.")


class Browser:
    def __init__(self, origin: str, ca: str | None = None) -> None:
        self.origin = origin
        context = ssl.create_default_context(cafile=ca)
        self.opener = build_opener(HTTPCookieProcessor(http.cookiejar.CookieJar()), HTTPSHandler(context=context))

    def open(self, path: str, fields: list[tuple[str, str]] | None = None) -> Page:
        address = urljoin(self.origin, path)
        body = None if fields is None else urlencode(fields).encode()
        request = Request(address, body, {"Origin": self.origin, "Referer": address})
        try:
            with self.opener.open(request, timeout=30) as answer:
                return Page(answer.url, answer.read().decode())
        except HTTPError as error:
            raise SystemExit(f"{request.get_method()} {path}: {error.code} {error.read(2000).decode()}") from None


def token_of(browser: Browser, email: str, password: str) -> str:
    """Begins at the page itself, as somebody does who was sent there: it asks who they are first."""
    page = browser.open(PAGE)
    for _ in range(TIMES):
        if page.has("password"):
            who = {"login": email} if page.has("login") else {}
            page = browser.open(*page.filled_in(**who, password=password))
    if any("scope" in dict(fields) for _, fields in page.forms):
        raise SystemExit("A scope was ticked beforehand.")
    made = browser.open(*page.filled_in(**ASKED_FOR))
    if not made.token:
        raise SystemExit(f"{made.address} shows no token.")
    if browser.open("/account/tokens/").token:
        raise SystemExit("The token is shown twice.")
    return made.token


def connect_to(address: str) -> None:
    """From now on every connection goes there, whatever name is asked for; the name stays the one that is verified."""
    host, _, port = address.rpartition(":")
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, int(port)))]
    socket.getaddrinfo = lambda *args, **options: found  # type: ignore[assignment]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("origin")
    parser.add_argument("email")
    parser.add_argument("--connect-to", metavar="HOST:PORT")
    parser.add_argument("--ca", metavar="FILE", help="whose certificates are believed")
    given = parser.parse_args()
    if given.connect_to:
        connect_to(given.connect_to)
    print(token_of(Browser(given.origin, given.ca), given.email, sys.stdin.readline().rstrip("\n")))


if __name__ == "__main__":
    main()
