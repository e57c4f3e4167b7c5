"""Client metadata (RFC 7591 §2): validated, bounded, and narrowed to what is supported here."""

from typing import Any

from apps.oauthmcp.errors import OAuthError
from apps.oauthmcp.models import GRANT_TYPES, Application
from apps.oauthmcp.names import MAX_NAME, clean
from apps.oauthmcp.redirects import MAX_LENGTH, NotAllowed, is_web_address, kind_of
from apps.orgs.callers import SCOPES
from apps.web.characters import prose

MAX_REDIRECT_URIS = 10
MAX_SCOPE = 1000
MAX_SOFTWARE = 255
RESPONSE_TYPES = ["code"]
AUTH_METHODS = list(Application.AuthMethod.values)
APPLICATION_TYPES = ["native", "web"]
WEB_ADDRESSES = ("client_uri", "logo_uri", "tos_uri", "policy_uri")


def read(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata to register. A member that is null counts as omitted. Raises OAuthError."""
    # RFC 7591 §2: client_secret_basic when it is left out. A client that keeps no secret says "none".
    auth_method = _choice(metadata, "token_endpoint_auth_method", AUTH_METHODS) or "client_secret_basic"
    found = {
        "redirect_uris": _redirect_uris(metadata),
        "client_name": _name(metadata),
        "token_endpoint_auth_method": auth_method,
        "grant_types": _narrowed(metadata, "grant_types", GRANT_TYPES, needed="authorization_code"),
        "response_types": _narrowed(metadata, "response_types", RESPONSE_TYPES, needed="code"),
        "scope": _scope(metadata),
        **{name: _web_address(metadata, name) for name in WEB_ADDRESSES},
        "software_id": prose(_text(metadata, "software_id", MAX_SOFTWARE) or ""),
        "software_version": prose(_text(metadata, "software_version", MAX_SOFTWARE) or ""),
        "application_type": _choice(metadata, "application_type", APPLICATION_TYPES),
    }
    return {name: value for name, value in found.items() if value}


def _redirect_uris(metadata: dict[str, Any]) -> list[str]:
    uris = _texts(metadata, "redirect_uris") or []
    if not 1 <= len(uris) <= MAX_REDIRECT_URIS:
        raise OAuthError("invalid_redirect_uri", f"redirect_uris must be a list of 1 to {MAX_REDIRECT_URIS} URIs.")
    try:
        for uri in uris:
            kind_of(uri)
    except NotAllowed as reason:
        raise OAuthError("invalid_redirect_uri", str(reason)) from None
    return list(dict.fromkeys(uris))


def _name(metadata: dict[str, Any]) -> str:
    """Without control, bidirectional and zero-width characters, which only serve to look like somebody else."""
    return clean(_text(metadata, "client_name", MAX_NAME) or "")


def _scope(metadata: dict[str, Any]) -> str | None:
    """RFC 7591 §2: without one that we know, a default set. Some clients ask every server for the same."""
    scope = _text(metadata, "scope", MAX_SCOPE)
    if not scope:
        return None
    requested = scope.split()
    return " ".join([ours for ours in SCOPES if ours in requested] or SCOPES)


def _narrowed(metadata: dict[str, Any], name: str, ours: list[str], needed: str) -> list[str]:
    """RFC 7591 §3.2.1 lets a server replace what it cannot do, or what was left out."""
    requested = _texts(metadata, name)
    if requested is None:
        return ours
    if needed not in requested:
        raise OAuthError("invalid_client_metadata", f"{name} must have {needed} in it.")
    return [one for one in ours if one in requested]


def _choice(metadata: dict[str, Any], name: str, choices: list[str]) -> str | None:
    value = metadata.get(name)
    if value is not None and value not in choices:
        raise OAuthError("invalid_client_metadata", f"{name} must be one of {', '.join(choices)}.")
    return value


def _web_address(metadata: dict[str, Any], name: str) -> str | None:
    value = _text(metadata, name, MAX_LENGTH)
    if value and not is_web_address(value):
        raise OAuthError("invalid_client_metadata", f"{name} must be an https address.")
    return value


def _text(metadata: dict[str, Any], name: str, longest: int) -> str | None:
    value = metadata.get(name)
    if value is not None and not isinstance(value, str):
        raise OAuthError("invalid_client_metadata", f"{name} must be a string.")
    if value and len(value) > longest:
        raise OAuthError("invalid_client_metadata", f"{name} may have at most {longest} characters.")
    return value


def _texts(metadata: dict[str, Any], name: str) -> list[str] | None:
    value = metadata.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise OAuthError("invalid_client_metadata", f"{name} must be a list of strings.")
    return value
