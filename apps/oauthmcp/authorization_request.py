"""Authorization requests (RFC 6749 §4.1.1): read from a query or the session, and validated."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote_plus, urlencode

from django.contrib.sessions.backends.base import SessionBase
from oauthlib.oauth2 import FatalClientError, OAuth2Error
from oauthlib.oauth2.rfc6749.errors import InvalidClientIdError, MissingClientIdError

from apps.oauthmcp import parameters
from apps.oauthmcp.errors import OAuthError
from apps.oauthmcp.models import Application
from apps.oauthmcp.parameters import Parameters, value_of
from apps.oauthmcp.pending import PendingRequests
from apps.oauthmcp.redirects import NotAllowed, kind_of
from apps.oauthmcp.server import backend, issuer

# All that oauthlib gets: it turns every parameter into an attribute of its request.
KNOWN_PARAMETERS = (
    "client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method",
)  # fmt: skip
RESPONSE_PARAMETERS = ("code", "state", "iss", "error", "error_description", "error_uri")


class DirectError(Exception):
    """Shown to the user, never redirected: there is no verified redirect URI (RFC 6749 §4.1.2.1)."""

    def __init__(self, reason: str, detail: str = "", status: int = 400, headers: dict[str, str] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.status = status
        self.headers = headers or {}


class RedirectError(Exception):
    """An error for the client, at its redirect URI (RFC 6749 §4.1.2.1)."""

    def __init__(
        self, parameters: Parameters, redirect_uri: str, state: str | None, error: str, description: str
    ) -> None:
        super().__init__(error)
        self.parameters = parameters
        self.error = error
        self.description = description
        self.redirect_uri = redirect_uri
        self.location = response_uri(
            redirect_uri, {"error": error, "error_description": description, "state": state, "iss": issuer()}
        )


@dataclass(frozen=True)
class AuthorizationRequest:
    """A validated authorization request."""

    parameters: Parameters
    client: Application
    redirect_uri: str
    state: str | None
    scopes: list[str]
    request: Any  # oauthlib's


def check(params: Parameters) -> AuthorizationRequest:
    """Raises DirectError where there is no valid redirect URI, else RedirectError."""
    known = [(name, value) for name, value in params if name in KNOWN_PARAMETERS]
    problem: OAuth2Error | None = None
    try:
        scopes, found = backend().server.validate_authorization_request(f"/?{urlencode(known)}", "GET", None, {})
        redirect_uri, state = found["redirect_uri"], found["state"]
    except (InvalidClientIdError, MissingClientIdError):
        raise DirectError("unknown_client") from None
    except FatalClientError:
        raise DirectError("redirect_uri") from None
    except OAuth2Error as error:
        problem, redirect_uri, state = error, error.redirect_uri, error.state
    try:
        kind_of(redirect_uri)  # what was registered may not be allowed any more
    except NotAllowed:
        raise DirectError("redirect_uri") from None
    try:
        _check_ours(params)
    except OAuthError as error:
        raise RedirectError(params, redirect_uri, state, error.error, error.description) from None
    if problem is not None:
        raise RedirectError(params, redirect_uri, state, problem.error, problem.description)
    return AuthorizationRequest(params, found["request"].client, redirect_uri, state, scopes, found["request"])


def _check_ours(params: Parameters) -> None:
    """What oauthlib does not validate, or reports as another error. Raises OAuthError."""
    for name in ("request", "request_uri"):  # OpenID Connect Core §6
        if value_of(params, name) is not None:
            raise OAuthError(f"{name}_not_supported", f"The parameter {name} is not supported.")
    if value_of(params, "response_type") not in ("code", None):
        raise OAuthError("unsupported_response_type", "The response_type must be code.")
    if value_of(params, "response_mode") not in ("query", None):
        raise OAuthError("invalid_request", "The response_mode must be query.")
    parameters.check_resource(params)


def parameters_of(query: str, session: SessionBase) -> Parameters:
    """From a query; or from the session, for a request that is too long for one. Raises DirectError."""
    try:
        params = parameters.of_query(query)
    except OAuthError as error:
        raise DirectError("unreadable", error.description) from None
    handle = value_of(params, "pending")
    if handle is None:
        return params
    stored = PendingRequests(session).parameters(handle)
    if stored is None:
        raise DirectError("gone")
    return stored


def response_uri(redirect_uri: str, response: dict[str, str | None]) -> str:
    """The client's own query is kept (RFC 6749 §3.1.2), but for parameters of the response (RFC 9207 §2.4)."""
    base, _, query = redirect_uri.partition("?")
    kept = [
        part for part in query.split("&") if part and unquote_plus(part.partition("=")[0]) not in RESPONSE_PARAMETERS
    ]
    # %20 for a space: apps that read a query without the rules of forms would keep a plus sign.
    added = urlencode({name: value for name, value in response.items() if value is not None}, quote_via=quote)
    return f"{base}?{'&'.join([*kept, added])}"
