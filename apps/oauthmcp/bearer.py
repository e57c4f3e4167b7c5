"""Bearer authentication: the caller of a request, in one query.

A token is one of the two fixed bearers, or an access token that the token endpoint issued.
"""

import hmac

from django.conf import settings
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.net.addresses import host_of, is_loopback
from apps.oauthmcp.tokens import authenticate_access_token
from apps.orgs.callers import SCOPES, Caller
from apps.orgs.scope import scope_by_slug
from apps.web.cors import has_disallowed_origin

ALL_SCOPES = frozenset(SCOPES)
# How proxies and tunnels start the headers that they add.
FORWARDING = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED",
    "HTTP_X_ORIGINAL_",
    "HTTP_X_REAL_IP",
    "HTTP_X_CLIENT_IP",
    "HTTP_TRUE_CLIENT_IP",
    "HTTP_CF_",
)


class BearerAuthentication(BaseAuthentication):
    """`Authorization: Bearer TOKEN` → a Caller. No header: None. An invalid token: AuthenticationFailed."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        token = bearer_of(request._request)
        if token is None:
            return None
        caller = _fixed_bearer(request._request, token) or authenticate_access_token(token)
        if caller is None:
            raise AuthenticationFailed
        request._request.caller_fields = _fields_of(caller)  # type: ignore[attr-defined]  # for the log
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def _fields_of(caller: Caller) -> dict[str, str]:
    """What the log's line says of who asked: which tokens were used, once one has leaked."""
    fields = {"organization": caller.org.organization_id}
    return fields | {"authorizationId": str(caller.authorization_id)} if caller.authorization_id else fields


def bearer_of(request: HttpRequest) -> str | None:
    """The token of the Authorization header (RFC 6750 §2.1); never one from the body or the query."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def _fixed_bearer(request: HttpRequest, token: str) -> Caller | None:
    if _is_same(token, settings.LOCAL_DEV_BEARER) and is_local_call(request):
        return _fixed_caller("local-dev", settings.LOCAL_DEV_ORG)
    if _is_same(token, settings.E2E_BOOTSTRAP_SECRET) and _is_bootstrap_call(request):
        return _fixed_caller("bootstrap", settings.BOOTSTRAP_ORG)
    return None


def is_local_call(request: HttpRequest) -> bool:
    """In local, from this machine, to this machine, past no proxy, and not from another site's page."""
    return (
        settings.IS_LOCAL
        and is_loopback(request.META.get("REMOTE_ADDR", ""))
        and is_loopback(host_of(f"//{request.get_host()}"))
        and not any(name.startswith(FORWARDING) for name in request.META)
        and not has_disallowed_origin(request)
        and request.META.get("HTTP_SEC_FETCH_SITE") != "cross-site"
    )


def _is_bootstrap_call(request: HttpRequest) -> bool:
    return settings.PORTHOLE_ENV == "preview" and not has_disallowed_origin(request)


def _is_same(token: str, secret: str) -> bool:
    # Both as bytes: compare_digest takes text only where it is ASCII. An unset secret matches nothing.
    return bool(secret) and hmac.compare_digest(token.encode(), secret.encode())


def _fixed_caller(name: str, slug: str) -> Caller | None:
    org = scope_by_slug(slug)
    return Caller(org, None, ALL_SCOPES, None, name, None) if org else None
