"""What a client says of itself when it registers (RFC 7591 §2): every member read, bounded, and narrowed to ours."""

from typing import Any

from apps.oauthmcp.errors import OAuthError
from apps.oauthmcp.models import GRANT_TYPES, Application
from apps.oauthmcp.names import MAX_NAME, clean
from apps.oauthmcp.redirects import MAX_LENGTH, NotAllowed, is_web_address, kind_of
from apps.orgs.callers import SCOPES

MOST_REDIRECT_URIS = 10
LONGEST_SCOPE = 1000
LONGEST_SOFTWARE = 255
RESPONSE_TYPES = ["code"]
AUTH_METHODS = list(Application.AuthMethod.values)
APPLICATION_TYPES = ["native", "web"]
WEB_ADDRESSES = ("client_uri", "logo_uri", "tos_uri", "policy_uri")


def read(said: dict[str, Any]) -> dict[str, Any]:
    """What is registered of it, under the same names. A member that is null counts as left out. Raises OAuthError."""
    # RFC 7591 §2: client_secret_basic when nothing is said. A client that keeps no secret says "none".
    auth_method = _choice(said, "token_endpoint_auth_method", AUTH_METHODS) or "client_secret_basic"
    found = {
        "redirect_uris": _redirect_uris(said),
        "client_name": _name(said),
        "token_endpoint_auth_method": auth_method,
        "grant_types": _narrowed(said, "grant_types", GRANT_TYPES, needed="authorization_code"),
        "response_types": _narrowed(said, "response_types", RESPONSE_TYPES, needed="code"),
        "scope": _scope(said),
        **{name: _web_address(said, name) for name in WEB_ADDRESSES},
        "software_id": _text(said, "software_id", LONGEST_SOFTWARE),
        "software_version": _text(said, "software_version", LONGEST_SOFTWARE),
        "application_type": _choice(said, "application_type", APPLICATION_TYPES),
    }
    return {name: value for name, value in found.items() if value}


def _redirect_uris(said: dict[str, Any]) -> list[str]:
    uris = _texts(said, "redirect_uris") or []
    if not 1 <= len(uris) <= MOST_REDIRECT_URIS:
        raise OAuthError("invalid_redirect_uri", f"redirect_uris must be a list of 1 to {MOST_REDIRECT_URIS} URIs.")
    try:
        for uri in uris:
            kind_of(uri)
    except NotAllowed as reason:
        raise OAuthError("invalid_redirect_uri", str(reason)) from None
    return list(dict.fromkeys(uris))


def _name(said: dict[str, Any]) -> str:
    """Without control, bidirectional and zero-width characters, which only serve to look like somebody else."""
    return clean(_text(said, "client_name", MAX_NAME) or "")


def _scope(said: dict[str, Any]) -> str | None:
    """RFC 7591 §2: without one that we know, a default set. Some clients ask every server for the same."""
    scope = _text(said, "scope", LONGEST_SCOPE)
    if not scope:
        return None
    asked = scope.split()
    return " ".join([ours for ours in SCOPES if ours in asked] or SCOPES)


def _narrowed(said: dict[str, Any], name: str, ours: list[str], needed: str) -> list[str]:
    """RFC 7591 §3.2.1 lets a server replace what it cannot do, or what was not said."""
    asked = _texts(said, name)
    if asked is None:
        return ours
    if needed not in asked:
        raise OAuthError("invalid_client_metadata", f"{name} must have {needed} in it.")
    return [one for one in ours if one in asked]


def _choice(said: dict[str, Any], name: str, choices: list[str]) -> str | None:
    value = said.get(name)
    if value is not None and value not in choices:
        raise OAuthError("invalid_client_metadata", f"{name} must be one of {', '.join(choices)}.")
    return value


def _web_address(said: dict[str, Any], name: str) -> str | None:
    value = _text(said, name, MAX_LENGTH)
    if value and not is_web_address(value):
        raise OAuthError("invalid_client_metadata", f"{name} must be an https address.")
    return value


def _text(said: dict[str, Any], name: str, longest: int) -> str | None:
    value = said.get(name)
    if value is not None and not isinstance(value, str):
        raise OAuthError("invalid_client_metadata", f"{name} must be a string.")
    if value and len(value) > longest:
        raise OAuthError("invalid_client_metadata", f"{name} may have at most {longest} characters.")
    return value


def _texts(said: dict[str, Any], name: str) -> list[str] | None:
    value = said.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise OAuthError("invalid_client_metadata", f"{name} must be a list of strings.")
    return value
