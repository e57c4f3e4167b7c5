"""What happens around every request: its id, its host, its client, its log line."""

import logging
import random
import re
import time
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address
from itertools import takewhile

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.request import split_domain_port, validate_host

from apps.net.addresses import plain_address
from apps.web.characters import escaped_page
from apps.web.csp import page_policy
from apps.web.errors import bad_host, https_required
from apps.web.headers import headers_of
from apps.web.logs import ACCESS, access_record
from apps.web.redaction import current_request, redact_path, redact_text
from apps.web.surfaces import surface_of

access_log = logging.getLogger(ACCESS)

GetResponse = Callable[[HttpRequest], HttpResponseBase]
REQUEST_ID = re.compile(r"^[A-Za-z0-9-]{1,64}\Z")
CONTENT_SECURITY_POLICY = page_policy()
# Of every page, also of one that is answered before Django's own middleware. The API's reader has its own policy.
PAGE_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class RequestMiddleware:
    """Outermost: every answer, whatever it is, passes here."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        before = current_request.set(request)
        try:
            return self._respond(request)
        finally:
            current_request.reset(before)

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        inbound = request.META.get("HTTP_X_REQUEST_ID", "")
        request.id = inbound if REQUEST_ID.match(inbound) else _new_id()  # type: ignore[attr-defined]
        _apply_forwarded_headers(request)
        response = self._answer(request)
        headers = headers_of(response)
        headers["x-request-id"] = ("X-Request-Id", request.id)  # type: ignore[attr-defined]
        _, kind = headers.get("content-type", ("", ""))
        if kind.startswith("text/html"):
            for name, value in PAGE_HEADERS.items():
                response.headers.setdefault(name, value)
        if kind.startswith(("text/html", "text/plain", "text/markdown")):
            _escape(response)
        if settings.SECURE_HSTS_SECONDS and request.is_secure():
            response["Strict-Transport-Security"] = f"max-age={settings.SECURE_HSTS_SECONDS}; includeSubDomains"
        # RFC 9110 §8.6: none with 204, and with 304 only the length that the whole document would have.
        if isinstance(response, HttpResponse) and response.status_code not in (204, 304):
            headers.setdefault("content-length", ("Content-Length", str(len(response.content))))
        _log(request, response, started)
        return response

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info not in ("/healthz", "/readyz"):  # load balancers ask these by address
            try:
                if not _is_served(request.META.get("HTTP_HOST", ""), tuple(settings.ALLOWED_HOSTS)):
                    request.get_host()
            except DisallowedHost:
                return bad_host(request)
        if _lacks_https(request):
            return https_required(request)
        return self.get_response(request)


def _new_id() -> str:
    """Told apart by chance; nobody relies on its being hard to guess, so the system is not asked for it."""
    return f"{random.getrandbits(128):032x}"


@lru_cache(maxsize=256)  # a few names, from each request again
def _is_served(host: str, allowed: tuple[str, ...]) -> bool:
    """False: Django has the last word, also where it takes more than this."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


def _escape(response: HttpResponseBase) -> None:
    """What turns around, hides or imitates text, and came past all that keeps it from being stored."""
    if not isinstance(response, HttpResponse) or response.headers.get("Content-Encoding"):
        return
    escaped = escaped_page(response.content)
    if escaped != response.content:
        response.content = escaped
        response.headers.pop("Content-Length", None)


def _lacks_https(request: HttpRequest) -> bool:
    """Public pages that are only read are redirected instead (SecurityMiddleware); what a form sends is refused."""
    if not settings.HTTPS_REQUIRED or request.is_secure():
        return False
    surface = surface_of(request)
    return surface.needs_https or (surface.is_page and request.method not in ("GET", "HEAD"))


def _apply_forwarded_headers(request: HttpRequest) -> None:
    """Sets `client_address`: the right-most hop that is not a trusted proxy; takes the scheme from such a proxy."""
    peer = request.META.get("REMOTE_ADDR", "")
    peer = plain_address(peer) or peer
    if not settings.TRUSTED_PROXIES:
        request.client_address = peer  # type: ignore[attr-defined]
        return
    hops = [peer]
    if _is_trusted(peer):
        hops += _forwarded_for(request.META.get("HTTP_X_FORWARDED_FOR", ""))
        if protocols := request.META.get("HTTP_X_FORWARDED_PROTO"):
            request.environ["wsgi.url_scheme"] = _scheme_of(protocols)  # type: ignore[attr-defined]
    request.client_address = next(  # type: ignore[attr-defined]
        (hop for hop in hops if not _is_trusted(hop)), hops[-1]
    )


def _forwarded_for(header: str) -> list[str]:
    """The hops nearest to us first, up to one that is no address: what is behind it could be anything."""
    addresses = (plain_address(hop) for hop in reversed(header.split(",")) if hop.strip())
    return list(takewhile(bool, addresses))


def _scheme_of(protocols: str) -> str:
    """Where several proxies told theirs, all have to say https: which of them the client spoke to is not told."""
    return "https" if all(told.strip().lower() == "https" for told in protocols.split(",")) else "http"


def _is_trusted(hop: str) -> bool:
    try:
        address = ip_address(hop)
    except ValueError:
        return False
    return any(address in network for network in settings.TRUSTED_PROXIES)


def _log(request: HttpRequest, response: HttpResponseBase, started: float) -> None:
    # Neither query strings nor headers: both can carry credentials. Nor the links that mails carry.
    method, path = redact_text(request.method or ""), redact_path(request.path_info)[:200]
    fields = {
        "requestId": request.id,  # type: ignore[attr-defined]
        "method": method,
        "path": path,
        "status": response.status_code,
        "durationMs": round((time.perf_counter() - started) * 1000, 1),
        "client": request.client_address[:45],  # type: ignore[attr-defined]
    }
    fields |= getattr(request, "caller_fields", {})
    if access_log.isEnabledFor(logging.INFO):
        access_log.handle(access_record((method, path, response.status_code), fields))
