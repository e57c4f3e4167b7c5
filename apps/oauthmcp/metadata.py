"""Metadata documents: the authorization server (RFC 8414) and its protected resources (RFC 9728)."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import get_conditional_response

from apps.oauthmcp.client_metadata import AUTH_METHODS, RESPONSE_TYPES
from apps.oauthmcp.errors import OAuthError, respond
from apps.oauthmcp.models import GRANT_TYPES
from apps.oauthmcp.server import issuer
from apps.orgs.callers import SCOPES
from apps.web.render import encode, json_response


def document(content: Callable[..., dict[str, Any]]) -> Callable[..., HttpResponseBase]:
    """A view that answers this JSON to GET and HEAD, and 304 to whoever has it."""

    @wraps(content)
    def answer(request: HttpRequest, **of: str) -> HttpResponseBase:
        if request.method not in ("GET", "HEAD"):
            return respond(OAuthError("invalid_request", "Read it with GET.", 405, {"Allow": "GET, HEAD, OPTIONS"}))
        value = content(**of)
        etag = f'"{hashlib.sha256(encode(value)).hexdigest()[:32]}"'
        response = json_response(value, headers={"Cache-Control": "public, max-age=300", "ETag": etag})
        return get_conditional_response(request, etag=etag, response=response) or response

    return answer


def _protected_resource(door: str) -> dict[str, Any]:
    """RFC 9728 §2. `door` is "", "/mcp" or "/api/v1": the resource is the origin and that path."""
    return {
        "resource": settings.PUBLIC_URL + door,
        "authorization_servers": [issuer()],
        "resource_name": "Porthole",
        "resource_documentation": f"{settings.PUBLIC_URL}/api/v1/docs",
        "scopes_supported": list(SCOPES),
        "bearer_methods_supported": ["header"],
    }


def _authorization_server() -> dict[str, Any]:
    """RFC 8414 §2."""
    endpoints = f"{issuer()}/api/auth/mcp"
    return {
        "issuer": issuer(),
        "authorization_endpoint": f"{endpoints}/authorize",
        "token_endpoint": f"{endpoints}/token",
        "registration_endpoint": f"{endpoints}/register",
        "revocation_endpoint": f"{endpoints}/revoke",
        # Some clients want to refresh only where they see offline_access. No door needs it, so no door names it.
        "scopes_supported": [*SCOPES, "offline_access"],
        "response_types_supported": RESPONSE_TYPES,
        "response_modes_supported": ["query"],
        "grant_types_supported": GRANT_TYPES,
        "token_endpoint_auth_methods_supported": AUTH_METHODS,
        "revocation_endpoint_auth_methods_supported": AUTH_METHODS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,  # RFC 9207 §3
        "protected_resources": [settings.PUBLIC_URL + door for door in ("", "/mcp", "/api/v1")],  # RFC 9728 §4
        "service_documentation": f"{settings.PUBLIC_URL}/api/v1/docs",
    }


def _openid_configuration() -> dict[str, Any]:
    """The same, for clients that look nowhere else.

    Some of them, such as the MCP SDK for TypeScript, refuse it without the three members that OpenID Connect requires.
    These say what is so: there are no ID tokens, so nothing signs any.
    """
    return _authorization_server() | {
        "jwks_uri": f"{issuer()}/.well-known/jwks.json",
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [],
    }


def _jwks() -> dict[str, Any]:
    """RFC 7517 §5: no keys."""
    return {"keys": []}


protected_resource = document(_protected_resource)
authorization_server = document(_authorization_server)
openid_configuration = document(_openid_configuration)
jwks = document(_jwks)
