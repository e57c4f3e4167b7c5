"""Browsers that were signed in to an account before: a cookie gives them attempts of their own, and nothing else."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from apps.net.encryption import macs

LIFETIME = timedelta(days=365)
MAX_ACCOUNTS = 8  # in one browser: the ones used last
SALT = "known browser"


@dataclass
class Browser:
    """An id of its own, drawn when it first signs in, and marks of the accounts that it was signed in to."""

    id: str = field(default_factory=lambda: secrets.token_hex(16))
    accounts: list[str] = field(default_factory=list)


def cookie_name() -> str:
    # __Host-: no other host of the same domain can set it.
    return "__Host-porthole_browser" if settings.SECURE_COOKIES else "porthole_browser"


def id_of(request: HttpRequest, email: str) -> str | None:
    """The browser's id, where it was signed in to this account before."""
    browser = _read(request)
    return browser.id if browser and any(mark in browser.accounts for mark in _marks(email)) else None


def remember(request: HttpRequest, response: HttpResponse, email: str) -> None:
    """The browser has just signed in to this account."""
    browser, marks = _read(request) or Browser(), list(_marks(email))
    others = [account for account in browser.accounts if account not in marks]
    value = {"id": browser.id, "accounts": [*others, marks[0]][-MAX_ACCOUNTS:]}
    response.set_cookie(
        cookie_name(),
        signing.dumps(value, salt=SALT),
        max_age=LIFETIME,
        secure=settings.SECURE_COOKIES,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> Browser | None:
    try:
        return Browser(**signing.loads(request.COOKIES.get(cookie_name(), ""), salt=SALT, max_age=LIFETIME))
    except signing.BadSignature:
        return None


def _marks(email: str) -> Iterator[str]:
    """That of SECRET_KEY, and then those of its fallbacks. Keyed: the cookie tells nobody which accounts these are."""
    return (digest[:12].hex() for digest in macs("account of a known browser", email))
