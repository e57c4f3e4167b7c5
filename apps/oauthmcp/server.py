"""The authorization server: oauthlib's, for codes and refresh tokens only, with PKCE by S256 and nothing weaker."""

import base64
import re
import secrets
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from oauth2_provider.oauth2_backends import OAuthLibCore, get_oauthlib_core
from oauth2_provider.scopes import BaseScopes
from oauthlib.common import Request
from oauthlib.oauth2 import WebApplicationServer
from oauthlib.oauth2.rfc6749.errors import InvalidRequestError, InvalidScopeError

from apps.net.encryption import macs
from apps.orgs.callers import SCOPES

CODE_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")  # RFC 7636 §4.2: SHA-256, base64url, no padding
CODE_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")  # RFC 7636 §4.1


class AuthorizationServer(WebApplicationServer):
    def __init__(self, request_validator: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(request_validator, *args, **kwargs)
        # Before the consent page, not after it.
        self.auth_grant.custom_validators.pre_auth.append(require_s256)
        self.auth_grant.custom_validators.pre_token.append(require_code_verifier)
        self.refresh_grant.custom_validators.post_token.append(drop_unknown_scopes)


def require_s256(request: Request) -> dict[str, Any]:
    """RFC 7636 §4.4.1. Raises InvalidRequestError."""
    if request.code_challenge is None:
        raise InvalidRequestError("code_challenge is missing: PKCE is required.", request=request)
    if request.code_challenge_method != "S256":
        raise InvalidRequestError("code_challenge_method must be S256.", request=request)
    if not CODE_CHALLENGE.fullmatch(request.code_challenge):
        raise InvalidRequestError("code_challenge must be 43 characters of base64url.", request=request)
    return {}


def require_code_verifier(request: Request) -> None:
    """RFC 7636 §4.5. Raises InvalidRequestError."""
    if request.code_verifier is None:
        raise InvalidRequestError("code_verifier is missing.", request=request)
    if not CODE_VERIFIER.fullmatch(request.code_verifier):
        raise InvalidRequestError("code_verifier must be 43 to 128 letters, digits and -._~.", request=request)


def drop_unknown_scopes(request: Request) -> None:
    """Of a refresh: what is left, each once, in our order. Raises InvalidScopeError."""
    request.scopes = [scope for scope in SCOPES if scope in request.scopes]
    if not request.scopes:
        raise InvalidScopeError("None of the scopes is known here.", request=request)


class Scopes(BaseScopes):
    def get_all_scopes(self) -> dict[str, str]:
        return SCOPES

    def get_available_scopes(self, application: Any = None, request: Any = None, *args: Any, **kwargs: Any) -> Any:
        return list(SCOPES)

    def get_default_scopes(self, application: Any = None, request: Any = None, *args: Any, **kwargs: Any) -> Any:
        return list(SCOPES)


class Backend(OAuthLibCore):
    """Hands oauthlib the parameters that parameters.py has read and checked, whether they came as a form or JSON."""

    def extract_body(self, request: HttpRequest) -> list[tuple[str, str]]:
        return list(request.oauth_parameters)  # type: ignore[attr-defined]

    def extract_headers(self, request: HttpRequest) -> dict[str, str]:
        # The only one that concerns it. With an Origin it would answer with a CORS header of its own.
        return {"Authorization": request.META.get("HTTP_AUTHORIZATION", "")}


@cache
def backend() -> Any:
    return get_oauthlib_core()


def issuer() -> str:
    """RFC 8414 §2: the same text in the metadata, in `iss`, and in the protected resources' documents."""
    return str(settings.PUBLIC_URL)


def new_access_token(request: Request) -> str:
    # The prefix lets secret scanners recognize it.
    return f"porthole_at_{secrets.token_urlsafe(32)}"


def new_refresh_token(request: Request) -> str:
    """Random for a code; for a refresh token the successor that the validator determined."""
    return vars(request).get("successor") or f"porthole_rt_{secrets.token_urlsafe(32)}"


def successors_of(refresh_token: str) -> Iterator[str]:
    """Derived, so that the same token always has the same successor, though only hashes are stored.

    First the one that it gets now, by SECRET_KEY; then those that it may have got, by its fallbacks.
    """
    for digest in macs("porthole.refresh-token.successor", refresh_token):
        yield f"porthole_rt_{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
