"""Redirect URIs: which are allowed (RFC 8252, RFC 9700 §2.1), and of which kind one is."""

import re
from enum import Enum, auto
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from apps.net.addresses import is_loopback

MAX_LENGTH = 2000
# What RFC 3986 allows in a URI. No space, no control character, no backslash: browsers read those their own way.
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~:/?\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+")
# A host and a port and nothing else, so that no parser finds another host in it.
AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?", re.IGNORECASE | re.ASCII)
HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
# What browsers take for an IPv4 address (https://url.spec.whatwg.org/#ends-in-a-number-checker).
NUMERIC_ENDING = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
LOOPBACK_ORIGIN = re.compile(r"\A(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::[0-9]{1,5})?(?=[/?]|\Z)")
# RFC 8252 §7.1: the reversed name of a domain. x-apple, of x-apple.systempreferences, is no top-level one.
REVERSED_DOMAIN = re.compile(r"[a-z]{2,63}(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+")
CSP_HOST = re.compile(r"[a-z0-9.-]+")


class Kind(Enum):
    WEB = auto()  # https, at some server
    LOOPBACK = auto()  # http or https, on the user's own machine: RFC 8252 §7.3
    PRIVATE = auto()  # a private-use URI scheme: RFC 8252 §7.1


class NotAllowed(ValueError):
    """Its message is a sentence for the client's developer."""


def kind_of(uri: str) -> Kind:
    """Raises NotAllowed."""
    parts = _split(uri)
    if parts.scheme not in ("http", "https"):
        _check_scheme(parts.scheme)
        return Kind.PRIVATE
    if not AUTHORITY.fullmatch(parts.netloc):
        raise NotAllowed("A redirect URI must name a host, and perhaps a port.")
    host = parts.hostname or ""
    if parts.scheme == "http":
        if host not in LOOPBACK:
            raise NotAllowed("http is for 127.0.0.1, [::1] and localhost only; use https.")
        return Kind.LOOPBACK
    _check_host(host)
    return Kind.LOOPBACK if _is_own_machine(host) else Kind.WEB


def is_web_address(uri: str) -> bool:
    """Whether it is an https address that people may be shown as a link; here a fragment does no harm."""
    try:
        kind_of(uri.replace("#", "?", 1))
    except NotAllowed:
        return False
    return uri[:6].lower() == "https:"


def is_same(uri: str, registered: str) -> bool:
    """Simple string comparison (RFC 9700 §2.1), except for the port of a loopback address (RFC 8252 §7.3)."""
    return LOOPBACK_ORIGIN.sub(r"\1", uri) == LOOPBACK_ORIGIN.sub(r"\1", registered)


def target_of(uri: str) -> str:
    """The host that an allowed URI leads to, for people; of a private-use scheme that scheme."""
    kind, parts = kind_of(uri), urlsplit(uri)
    return f"{parts.scheme}://" if kind is Kind.PRIVATE else parts.netloc.lower()


def recipient_of(uri: str) -> tuple[Kind, str] | None:
    """Who gets what is sent there: on the user's own machine the port tells nothing. None where it is not allowed."""
    try:
        kind = kind_of(uri)
    except NotAllowed:  # what was registered may not be allowed any more
        return None
    return kind, "" if kind is Kind.LOOPBACK else target_of(uri)


def split_target(target: str) -> tuple[str, str]:
    """A web target in two: what whoever owns it may put in front, and the end, which tells whose it is.

    The end is what is sold as one name, as far as that shows: two labels, or three as in `example.co.uk`.
    """
    host = target.partition(":")[0]
    labels = host.split(".")
    if target.startswith("[") or NUMERIC_ENDING.fullmatch(host):
        return "", target
    size = 3 if len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3 else 2
    front = "".join(f"{label}." for label in labels[:-size])
    return front, target[len(front) :]


def form_action_of(uri: str) -> str:
    """What a Content-Security-Policy must name, so that a browser follows a form's redirect to an allowed URI."""
    kind, parts = kind_of(uri), urlsplit(uri)
    host = parts.hostname or ""
    is_other_address = NUMERIC_ENDING.fullmatch(host) and host != "127.0.0.1"  # CSP 3 §6.7.2.9
    # Nor has CSP a way to write an IPv6 address, a host with an underscore, or more of a private-use address.
    if kind is Kind.PRIVATE or is_other_address or not CSP_HOST.fullmatch(host):
        return f"{parts.scheme}:"
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _split(uri: str) -> SplitResult:
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
    return parts


def _check_host(host: str) -> None:
    try:
        if ":" in host:
            IPv6Address(host)
        elif NUMERIC_ENDING.fullmatch(host):
            IPv4Address(host)  # 127.1 and 2130706433 are 127.0.0.1 to a browser, and nobody would see it
        elif not HOST.fullmatch(host):
            raise ValueError
    except ValueError:
        raise NotAllowed("The host of a redirect URI cannot be read: write a name, or an address in full.") from None


def _is_own_machine(host: str) -> bool:
    # 0.0.0.0 and [::] reach it as well; names under localhost never leave it (RFC 6761 §6.3).
    return is_loopback(host) or host.endswith(".localhost") or host in ("0.0.0.0", "::")  # noqa: S104


def _check_scheme(scheme: str) -> None:
    # Without a dot only where an operator trusts it: anybody's app may claim such a scheme.
    if not (REVERSED_DOMAIN.fullmatch(scheme) or scheme in settings.REDIRECT_SCHEMES):
        raise NotAllowed("A redirect URI needs https, http on loopback, or a scheme like com.example.app.")
