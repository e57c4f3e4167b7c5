#!/usr/bin/env python3
"""What somebody does in a browser, over HTTP: signs in, lets a program in, and gets its token. Standard library only.

    newcomer.py https://porthole.example.com ops@example.com [--connect-to 127.0.0.1:8443] [--ca root.crt]

The password is the first line of standard input; the token is printed, and nothing else.
"""

import argparse
import base64
import hashlib
import http.cookiejar
import json
import secrets
import socket
import ssl
import sys
from html.parser import HTMLParser
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

CALLBACK = "http://127.0.0.1:33418/callback"  # nobody listens: what would be sent there is read from the redirect


class Form(HTMLParser):
    """What a page's form with a field of this name would send: each field's value, what is ticked, no button."""

    def __init__(self, page: str, field: str) -> None:
        super().__init__()
        self.forms: list[list[tuple[str, str]]] = []
        self.feed(page)
        found = [fields for fields in self.forms if field in dict(fields)]
        if not found:
            raise SystemExit(f"The page has no form with {field}.")
        self.fields = found[0]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "form":
            self.forms.append([])
        elif tag == "input" and self.forms and (name := values.get("name")):
            is_sent = values.get("type") not in ("checkbox", "radio") or "checked" in values
            self.forms[-1] += [(name, values.get("value") or "")] * is_sent


class StopAtCallback(HTTPRedirectHandler):
    def redirect_request(self, request: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if newurl.startswith(CALLBACK):
            raise HTTPError(newurl, code, msg, headers, fp)
        return super().redirect_request(request, fp, code, msg, headers, newurl)


class Browser:
    def __init__(self, origin: str, ca: str | None = None) -> None:
        self.origin = origin
        self.opener = build_opener(
            HTTPCookieProcessor(http.cookiejar.CookieJar()),
            HTTPSHandler(context=ssl.create_default_context(cafile=ca)),
            StopAtCallback(),
        )

    def open(self, path: str, fields: Any = None, **headers: str) -> tuple[str, str]:
        """The address that it ended at, and the page."""
        address = urljoin(self.origin, path)
        body = None if fields is None else fields if isinstance(fields, bytes) else urlencode(fields).encode()
        request = Request(address, body, {"Origin": self.origin, "Referer": address, **headers})
        try:
            with self.opener.open(request, timeout=30) as answer:
                return answer.url, answer.read().decode()
        except HTTPError as error:
            if error.url.startswith(CALLBACK):
                return error.url, ""
            raise SystemExit(f"{request.get_method()} {path}: {error.code} {error.read(2000).decode()}") from None


def token_of(browser: Browser, email: str, password: str) -> str:
    """OAuth 2.1: register, authorize (sign in, allow everything that is suggested), redeem."""
    client = {"client_name": "check-deploy", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}
    _, said = browser.open(
        "/api/auth/mcp/register", json.dumps(client).encode(), **{"Content-Type": "application/json"}
    )
    verifier = secrets.token_urlsafe(48)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    asked = {
        "client_id": json.loads(said)["client_id"], "redirect_uri": CALLBACK, "response_type": "code", "state": "s",
        "code_challenge": challenge, "code_challenge_method": "S256",
    }  # fmt: skip
    address, page = browser.open(f"/api/auth/mcp/authorize?{urlencode(asked)}")
    form = Form(page, "password")
    signed_in = [(name, value) for name, value in form.fields if name not in ("login", "password")]
    address, page = browser.open(address, [*signed_in, ("login", email), ("password", password)])
    consent = Form(page, "scope").fields
    address, _ = browser.open("/api/auth/mcp/authorize", [*consent, ("decision", "allow")])
    if not address.startswith(CALLBACK):
        raise SystemExit(f"Nothing was allowed: {address}")
    redeemed = {
        "grant_type": "authorization_code", "client_id": asked["client_id"], "code_verifier": verifier,
        "code": parse_qs(urlsplit(address).query)["code"][0], "redirect_uri": CALLBACK,
    }  # fmt: skip
    _, said = browser.open("/api/auth/mcp/token", redeemed)
    return str(json.loads(said)["access_token"])


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
