"""Which addresses a client may have its user sent back to (RFC 8252, RFC 9700 §2.1), and what kind one is."""

import re
from enum import Enum, auto
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

MAX_LENGTH = 2000
# What RFC 3986 allows in a URI. No space, no control character, no backslash: browsers read those their own way.
URI = re.compile(r"[a-z][a-z0-9+.-]*:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+", re.IGNORECASE)
HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Kind(Enum):
    WEB = auto()  # https
    LOOPBACK = auto()  # http, on the user's own machine
    PRIVATE = auto()  # a scheme that some app on the user's machine claims


class NotAllowed(ValueError):
    """Its message is a sentence for whoever wrote the client."""


def kind_of(uri: str) -> Kind:
    """Raises NotAllowed."""
    if len(uri) > MAX_LENGTH:
        raise NotAllowed(f"A redirect URI may have at most {MAX_LENGTH} characters.")
    if "#" in uri:
        raise NotAllowed("A redirect URI may not have a fragment.")  # RFC 6749 §3.1.2
    if not URI.fullmatch(uri):
        raise NotAllowed("A redirect URI must be an absolute URI, in ASCII and without spaces.")
    try:
        parts = urlsplit(uri)
        _port = parts.port
    except ValueError:
        raise NotAllowed("The host or port of a redirect URI cannot be read.") from None
    if "@" in parts.netloc:
        raise NotAllowed("A redirect URI may not have a user name.")
    match parts.scheme:
        case "https":
            _check_host(parts)
            return Kind.WEB
        case "http":
            if parts.hostname not in LOOPBACK:
                raise NotAllowed("http is for 127.0.0.1, [::1] and localhost only; use https.")
            return Kind.LOOPBACK
    _check_scheme(parts.scheme)
    return Kind.PRIVATE


def target_of(uri: str) -> str:
    """The host that an allowed URI leads to, for people; of a private-use scheme that scheme."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://" if kind_of(uri) is Kind.PRIVATE else parts.netloc.lower()


def form_action_of(uri: str) -> str:
    """What a Content-Security-Policy must name, so that a browser follows a form's redirect to an allowed URI."""
    parts = urlsplit(uri)
    if kind_of(uri) is Kind.PRIVATE or ":" in (parts.hostname or ""):  # CSP has no way to write either
        return f"{parts.scheme}:"
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _check_host(parts: SplitResult) -> None:
    host = parts.hostname or ""
    if not (HOST.fullmatch(host) or (":" in host and parts.netloc.startswith("["))):
        raise NotAllowed("A redirect URI must name a host.")


def _check_scheme(scheme: str) -> None:
    # RFC 8252 §7.1: the reversed name of a domain, so it has a dot; others only where an operator trusts them.
    is_reversed_domain = "." in scheme and not scheme.startswith((".", "ms-")) and not scheme.endswith(".")
    if not (is_reversed_domain or scheme in settings.REDIRECT_SCHEMES):
        raise NotAllowed("A redirect URI needs https, http on loopback, or a scheme like com.example.app.")
