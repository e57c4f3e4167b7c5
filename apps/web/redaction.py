"""What no log line holds: tokens, links that mails carry, query strings, headers with credentials, values of forms."""

import json
import re
from collections.abc import Iterator
from contextvars import ContextVar
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote

from django.http import HttpRequest

HIDDEN = "…"
MIN_SECRET = 6  # characters: shorter values are words that stand in every line
MAX_CACHED = 200  # characters

# What is being answered, so that its secrets are known to whatever is logged meanwhile.
current_request: ContextVar[HttpRequest | None] = ContextVar("current_request", default=None)

_LINK = r"(?:invitations|reset(?:/|%2f)+key)(?:/|%2f)+"
_LINK_IN_PATH = re.compile(rf"(?is)({_LINK}).+")
_PATTERNS = [
    (re.compile(rf"(?i)({_LINK})[^\s\"'<>]+"), r"\1…"),
    (re.compile(r"\b[0-9A-Za-z]{1,13}-[0-9a-z]{6,7}-[0-9a-f]{32}\b"), HIDDEN),  # the key of a password's reset
    (re.compile(r"(porthole_[a-z]{2}_)[A-Za-z0-9_-]+"), r"\1…"),
    (re.compile(r"\beyJ[A-Za-z0-9_.-]+"), "eyJ…"),  # a JSON Web Token
    (re.compile(r"\?[^\s\"'<>]*=[^\s\"'<>]*"), "?…"),
    (re.compile(r"(://)[^/\s@]+@"), r"\1…@"),
    (
        re.compile(
            r"(?i)((?:proxy[-_])?authorization|(?:set[-_])?cookie|x[-_]api[-_]key|x[-_]auth[-_]token|x[-_]csrftoken)"
            r"([\"']?\s*[:=])[^\r\n]*"
        ),
        r"\1\2 …",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s\"',;)]{6,}"), r"\1 …"),
    (
        re.compile(
            r"(?i)\b(\w*(?:password\d?|passwd|secret|token|verifier|assertion))([\"']?\s*[=:]\s*[\"']?)"
            r"[^\s\"',;&)}\]]{4,}"
        ),
        r"\1\2…",
    ),
    (re.compile(r"(?i)\b(code|state|nonce|key)(=)[^\s\"',;&)}\]]{4,}"), r"\1\2…"),
    # Codes, handles and keys are random: upper case, lower case and digits in one long word, as names never have them.
    (
        re.compile(r"(?<![\w-])(?=[\w-]*?[a-z])(?=[\w-]*?[A-Z])(?=[\w-]*?[0-9])[A-Za-z0-9_-]{30,}=*"),
        HIDDEN,
    ),
]
_SECRET_NAMES = re.compile(r"(?i).*(?:authorization|cookie|password|secret|token|api[-_]?key)")
# Headers that identify no one. The values of all others are hidden wherever they turn up.
_HARMLESS = re.compile(
    r"HTTP_(?:HOST|ACCEPT.*|CONNECTION|USER_AGENT|ORIGIN|X_REQUEST_ID|X_FORWARDED_.*|X_REAL_IP|FORWARDED|VIA|SEC_.*|MCP_.*"
    r"|CACHE_CONTROL|PRAGMA|UPGRADE_INSECURE_REQUESTS|PRIORITY|DNT|TE)"
)


@lru_cache(maxsize=1024)  # the same are asked for again and again; a server refuses those of many kilobytes
def redact_path(path: str) -> str:
    """A path as it may be logged: whatever follows the beginning of a mail's link is left out, spelled in any way."""
    return redact_text(_LINK_IN_PATH.sub(r"\1…", path))


def redact(value: Any, secrets: tuple[str, ...] = ()) -> Any:
    """A value of a log line, lists and objects included, without `secrets` and without what looks like one."""
    match value:
        case str():
            return redact_text(value, secrets)
        case bool() | int() | float() | None:
            return value
        case dict():
            return {redact(key): _member(key, member, secrets) for key, member in value.items()}
        case list() | tuple() | set() | frozenset():
            return [redact(member, secrets) for member in value]
    return redact_text(str(value), secrets)


def _member(key: Any, value: Any, secrets: tuple[str, ...]) -> Any:
    if key == "requestId":  # what a caller looks for; its form was checked
        return value
    return HIDDEN if isinstance(key, str) and _names_secret(key) else redact(value, secrets)


@lru_cache(maxsize=1024)  # most lines have the same keys
def _names_secret(key: str) -> bool:
    return bool(_SECRET_NAMES.fullmatch(key))


def redact_text(text: str, secrets: tuple[str, ...] = ()) -> str:
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return _short(text) if len(text) <= MAX_CACHED else _by_pattern(text)


def _by_pattern(text: str) -> str:
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text


_short = lru_cache(maxsize=1024)(_by_pattern)  # most lines repeat their paths and words


def secrets_of(request: object) -> tuple[str, ...]:
    """What the caller sent and no line repeats, in every spelling that a message could have; the longest first."""
    if not isinstance(request, HttpRequest):
        return ()
    found = {value for value in _sent(request) if len(value) >= MIN_SECRET}
    spellings = {spelling for value in found for spelling in _spellings(value)}
    return tuple(sorted(spellings, key=len, reverse=True))


def _spellings(value: str) -> Iterator[str]:
    yield value
    yield repr(value)[1:-1]
    yield json.dumps(value)[1:-1]
    yield quote(value, safe="", errors="surrogatepass")


def _sent(request: HttpRequest) -> Iterator[str]:
    if link := _LINK_IN_PATH.search(request.path_info):
        yield request.path_info[link.end(1) :]
    query = request.META.get("QUERY_STRING", "")
    yield query
    yield from (value for _, value in parse_qsl(query, errors="replace"))
    yield from request.COOKIES.values()
    for name, value in request.META.items():
        if name.startswith("HTTP_") and not _HARMLESS.fullmatch(name):
            yield value
            yield value.partition(" ")[2]  # the credentials after a scheme
    yield from _sent_in_body(request)


def _sent_in_body(request: HttpRequest) -> Iterator[str]:
    """Of a body that was read. One that nobody asked for cannot be in a message."""
    known = vars(request)
    if form := known.get("_post"):
        yield from (value for _, values in form.lists() for value in values)
    if body := known.get("_body"):
        text = body.decode("utf-8", "replace")
        yield text
        try:
            yield from _texts(json.loads(text))
        except (ValueError, RecursionError):
            yield from (value for _, value in parse_qsl(text, errors="replace"))


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from (text for member in value.values() for text in _texts(member))
        case list():
            yield from (text for member in value for text in _texts(member))
