"""An HTTP client for one address that an operator typed: what it may reach, how often, how long and how much."""

import json
import queue
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any, Literal
from urllib.parse import quote, urlencode

import pycurl
from django.conf import settings

from apps.net import authorities
from apps.net.outbound import (
    HOST_NAME,
    Destination,
    Network,
    NoAddress,
    NotAllowed,
    ResolvedDestination,
    is_reachable,
    resolve_allowed,
    web_destination,
)
from apps.net.token_bucket import TokenBucket

Reason = Literal["timeout", "refused", "unresolved", "not_allowed", "tls", "too_large", "not_json", "failed"]

# An operator typed the address, so it may be in the next room.
PRIVATE = tuple(map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")))
LOOPBACK = tuple(map(ip_network, ("127.0.0.0/8", "::1/128")))
# Whatever was opened: here clouds tell machines their credentials, and nobody's platform lives.
NEVER = tuple(
    map(ip_network, ("0.0.0.0/8", "169.254.0.0/16", "100.100.100.200/32", "::/128", "fe80::/10", "fd00:ec2::/32"))
)
CONNECT_SECONDS = 5
RESOLVED_FOR = 600.0  # seconds: names get new addresses
TURNS_AT_ONCE = 10  # seconds of turns that may be taken at once

SENTENCES: dict[Reason, str] = {
    "timeout": "It did not answer in time.",
    "refused": "Nothing accepts connections there.",
    "unresolved": "Its host name has no address.",
    "not_allowed": "This address may not be reached from here.",
    "tls": "Its certificate is not valid, or it does not speak TLS.",
    "too_large": "Its answer is too large.",
    "not_json": "Its answer is not JSON.",
    "failed": "The connection broke.",
}
REASONS: dict[int, Reason] = {
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_COULDNT_CONNECT: "refused",
    pycurl.E_COULDNT_RESOLVE_HOST: "unresolved",
    pycurl.E_SSL_CONNECT_ERROR: "tls",
    pycurl.E_PEER_FAILED_VERIFICATION: "tls",
    pycurl.E_SSL_CERTPROBLEM: "tls",
    pycurl.E_SSL_CIPHER: "tls",
    pycurl.E_SSL_CACERT_BADFILE: "tls",
    pycurl.E_SSL_ISSUER_ERROR: "tls",
}


class HttpError(Exception):
    """There is no usable answer. The message holds nothing that was sent or received."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(SENTENCES[reason])
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class Response:
    """Whatever was answered, errors and redirects included; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    def json(self) -> Any:
        """Raises HttpError (not_json)."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            pass  # raised below: the decoder's own exception holds the whole body, also as another one's context
        raise HttpError("not_json")


class Client:
    """Calls one host, which it resolves now and then: the addresses that were checked are those that are used.

    Follows no redirect. With a `proxy` that one looks names up, and only addresses are checked here. From as many
    threads as there are, `max_at_once` calls run at a time; each waits for its turn (`calls_per_minute`). `timeout`:
    seconds of one call. `max_bytes`: of one body, unpacked.
    `allows_private`: whether private networks may be reached without being among `allowed_networks`. Loopback may be in
    local alone, whatever that says: whoever writes addresses there sits at this machine.
    Raises HttpError (not_allowed) where `base_url` is none, ValueError where a header cannot be sent.
    """

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str],
        calls_per_minute: int,
        allowed_networks: Iterable[Network] = (),
        allows_private: bool = True,
        proxy: str | None = None,
        timeout: float = 30,
        max_bytes: int = 32 * 2**20,
        max_at_once: int = 4,
    ) -> None:
        self._destination = _destination(base_url)
        self._headers = _header_lines(headers)
        private = PRIVATE if allows_private else ()
        self._allowed = (*private, *(LOOPBACK if settings.IS_LOCAL else ()), *allowed_networks)
        self._timeout, self._max_bytes, self._proxy = timeout, max_bytes, proxy
        self._turns = TokenBucket(calls_per_minute, max(max_at_once, calls_per_minute * TURNS_AT_ONCE // 60))
        self._idle: queue.LifoQueue[pycurl.Curl | None] = queue.LifoQueue()
        for _ in range(max_at_once):
            self._idle.put(None)
        self._resolved: tuple[ResolvedDestination, float] | None = None  # and when

    def __repr__(self) -> str:
        return f"<Client of {self._destination.url}>"

    @property
    def calls(self) -> int:
        """How many were made so far."""
        return self._turns.taken

    def get(self, path: str | Sequence[str], query: Mapping[str, str | int] = {}) -> Response:
        """`path` is below the base URL and is quoted here; of several parts each one whole, slashes too.

        Raises HttpError.
        """
        return self._call(path, query, None)

    def post_json(self, path: str, body: object) -> Response:
        """Raises HttpError."""
        return self._call(path, {}, json.dumps(body).encode())

    def _call(self, path: str | Sequence[str], query: Mapping[str, str | int], body: bytes | None) -> Response:
        url = self._url(path, query)
        curl = self._idle.get()
        try:
            self._turns.wait()
            resolved = None if self._proxy and HOST_NAME.match(self._destination.host) else self._resolve()
            curl = curl or pycurl.Curl()
            return _Transfer(curl, self._max_bytes).perform(self._options(url, resolved, body))
        finally:
            self._idle.put(curl)

    def _url(self, path: str | Sequence[str], query: Mapping[str, str | int]) -> str:
        parts = path.lstrip("/").split("/") if isinstance(path, str) else path
        if any(part in (".", "..") for part in parts):
            raise HttpError("not_allowed")
        url = f"{self._destination.url.rstrip('/')}/{'/'.join(quote(part, safe='') for part in parts)}"
        return f"{url}?{urlencode(query)}" if query else url

    def _resolve(self) -> ResolvedDestination:
        """Two threads may both do it at first: then one of two answers, both checked, is kept."""
        known = self._resolved
        if known is None or time.monotonic() - known[1] > RESOLVED_FOR:
            self._resolved = known = resolve_platform(self._destination, self._allowed), time.monotonic()
        return known[0]

    def _options(self, url: str, resolved: ResolvedDestination | None, body: bytes | None) -> dict[int, Any]:
        web = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
        options: dict[int, Any] = {
            pycurl.URL: url,
            pycurl.RESOLVE: [resolved.curl_resolve] if resolved else [],
            pycurl.PROXY: self._proxy or "",
            pycurl.NOPROXY: "" if self._proxy else "*",
            pycurl.PROTOCOLS: web,
            pycurl.FOLLOWLOCATION: 0,
            pycurl.NOSIGNAL: 1,
            pycurl.CONNECTTIMEOUT_MS: int(min(CONNECT_SECONDS, self._timeout) * 1000),
            pycurl.TIMEOUT_MS: int(self._timeout * 1000),
            pycurl.ENCODING: "gzip",
            pycurl.USERAGENT: "Porthole",
            pycurl.HTTPHEADER: ["Accept: application/json", *self._headers],
            **authorities.curl_options(),
        }
        if body is not None:
            options[pycurl.HTTPHEADER] += ["Content-Type: application/json", "Expect:"]
            options |= {pycurl.POST: 1, pycurl.POSTFIELDS: body}
        return options


def resolve_platform(destination: Destination, allowed: Iterable[Network]) -> ResolvedDestination:
    """Raises HttpError (unresolved, not_allowed)."""
    reason: Reason
    try:
        resolved = resolve_allowed(destination, allowed_networks=allowed)
    except NoAddress:
        reason = "unresolved"
    except NotAllowed:
        reason = "not_allowed"
    else:
        if not any(_is_never_reached(address) for address in resolved.addresses):
            return resolved
        reason = "not_allowed"
    raise HttpError(reason)


def _is_never_reached(address: str) -> bool:
    """By asking whether the networks that nobody may open are all that makes it reachable."""
    return not is_reachable(address) and is_reachable(address, NEVER)


def _destination(base_url: str) -> Destination:
    try:
        return web_destination(base_url)
    except NotAllowed:
        pass
    raise HttpError("not_allowed")


def _header_lines(headers: Mapping[str, str]) -> list[str]:
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            raise ValueError(f"The header {name} holds what cannot be sent.")
    return [f"{name}: {value}" for name, value in headers.items()]


class _Transfer:
    """One call with one handle, whose connection is used again by the next."""

    def __init__(self, curl: pycurl.Curl, max_bytes: int) -> None:
        self._curl, self._max_bytes = curl, max_bytes
        self._body, self._headers = bytearray(), dict[str, str]()

    def perform(self, options: dict[int, Any]) -> Response:
        curl = self._curl
        curl.reset()  # what the last call set; its connection stays
        for option, value in options.items():
            curl.setopt(option, value)
        curl.setopt(pycurl.WRITEFUNCTION, self._keep)
        curl.setopt(pycurl.HEADERFUNCTION, self._keep_header)
        reason = self._failure()
        status = curl.getinfo(pycurl.RESPONSE_CODE)
        curl.reset()  # lets go of the key, the body and this object
        if reason:
            raise HttpError(reason)
        return Response(status, self._headers, bytes(self._body))

    def _failure(self) -> Reason | None:
        try:
            self._curl.perform()
        except pycurl.error as error:  # its text may hold what was received
            return "too_large" if len(self._body) > self._max_bytes else REASONS.get(error.args[0], "failed")
        return None

    def _keep(self, chunk: bytes) -> int | None:
        self._body += chunk
        return -1 if len(self._body) > self._max_bytes else None

    def _keep_header(self, line: bytes) -> None:
        name, colon, value = line.decode("latin-1").partition(":")
        if colon:
            self._headers[name.strip().lower()] = value.strip()
        elif line.startswith(b"HTTP/"):
            self._headers.clear()  # of an interim answer
