"""The authorization endpoint (RFC 6749 §3.1): validate the request, ask for consent, redirect to the client."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote_plus, urlencode

from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from oauthlib.oauth2 import FatalClientError, OAuth2Error
from oauthlib.oauth2.rfc6749.errors import InvalidClientIdError, MissingClientIdError

from apps.oauthmcp import consent, limits, parameters, unattended, unused_clients
from apps.oauthmcp.errors import OAuthError
from apps.oauthmcp.models import Application
from apps.oauthmcp.parameters import Parameters, value_of
from apps.oauthmcp.pending import PendingRequests
from apps.oauthmcp.redirects import NotAllowed, kind_of, target_of
from apps.oauthmcp.server import backend, issuer
from apps.orgs.models import Membership, User
from apps.web.errors import request_id_of
from apps.web.limits import Buckets

# All that oauthlib gets: it turns every parameter into an attribute of its request.
KNOWN_PARAMETERS = (
    "client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge", "code_challenge_method",
)  # fmt: skip
RESPONSE_PARAMETERS = ("code", "state", "iss", "error", "error_description", "error_uri")
MAX_NEXT = 2000  # Django takes an address of more than 2,048 characters for none of our own
# Requests too long for that are kept in a session, also of people who are not signed in: each is a row.
STORED_REQUESTS = Buckets(burst=30, per_second=0.2)
DECISIONS = ("allow", "deny", "switch")


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


def authorize(request: HttpRequest) -> HttpResponseBase:
    views: dict[str | None, Callable[[HttpRequest], HttpResponseBase]] = {
        "GET": show_consent,
        "HEAD": show_consent,
        "POST": decide,
    }
    try:
        if request.method not in views:
            raise DirectError("method", status=405, headers={"Allow": "GET, HEAD, POST"})
        response = views[request.method](request)
    except RedirectError as back:
        response = _send_back(request, back)
    except DirectError as refused:
        values = {"reason": refused.reason, "detail": refused.detail, "request_id": request_id_of(request)}
        response = render(request, "oauth/refused.html", values, status=refused.status)
        for name, value in refused.headers.items():
            response.headers[name] = value
    response.headers["Cache-Control"] = "no-store"
    # Addresses here carry state and codes.
    response.headers.setdefault("Referrer-Policy", "no-referrer")
    return response


def _send_back(request: HttpRequest, back: RedirectError) -> HttpResponse:
    """Redirects with an error; or shows it, with a link, where nobody clicked and the target could be anybody's."""
    client_id = value_of(back.parameters, "client_id") or ""
    if request.method == "POST" or unattended.may_redirect(request.user, client_id, back.redirect_uri):
        return see_other(back.location)
    values = {
        "target": target_of(back.redirect_uri),
        "error": back.error,
        "description": back.description,
        "location": back.location,
    }
    return render(request, "oauth/not_sent_back.html", values, status=400)


def show_consent(request: HttpRequest) -> HttpResponseBase:
    """Everything is validated before anybody signs in: apps that may be told of an error are told at once."""
    params = _request_params(request)
    validated = check(params)
    if "none" in (value_of(params, "prompt") or "").split():  # OpenID Connect Core §3.1.2.6
        is_known = request.user.is_authenticated
        error = "consent_required" if is_known else "login_required"
        raise RedirectError(params, validated.redirect_uri, validated.state, error, "User consent is required.")
    if not request.user.is_authenticated:
        return _sign_in(request, params)
    unused_clients.keep_for_now(validated.client)
    memberships = consent.memberships_of(request.user)
    choice = consent.initial_choice(memberships, validated.scopes)
    return _page(request, PendingRequests(request.session).add(params), validated, memberships, choice)


def decide(request: HttpRequest) -> HttpResponseBase:
    """The form holds a handle and the choice; the request itself comes from the session."""
    pending = PendingRequests(request.session)
    handle, decision = request.POST.get("handle", ""), request.POST.get("decision")
    params = pending.parameters(handle)
    if params is None or decision not in DECISIONS or not request.user.is_authenticated:
        raise DirectError("gone")
    if decision == "switch":
        logout(request)
        return _sign_in(request, params)
    if pending.is_decided(handle):
        location = pending.location_of(handle, decision)
        if location is None:
            raise DirectError("answered", status=409)
        return see_other(location)
    validated = check(params)
    if decision == "deny":
        location = RedirectError(
            params, validated.redirect_uri, validated.state, "access_denied", "The request was denied."
        ).location
    else:
        memberships = consent.memberships_of(request.user)
        choice = consent.submitted_choice(request.POST, memberships, validated.scopes)
        if choice.problems or choice.membership is None:
            return _page(request, handle, validated, memberships, choice)
        location = _issue_code(validated, choice.membership, choice.scopes, request.user)
    pending.record_decision(handle, decision, location)
    return see_other(location)


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


def _request_params(request: HttpRequest) -> Parameters:
    """From the query; or from the session, for a long request whose user has just signed in."""
    try:
        params = parameters.of_query(request)
    except OAuthError as error:
        raise DirectError("unreadable", error.description) from None
    handle = value_of(params, "pending")
    if handle is None:
        return params
    stored = PendingRequests(request.session).parameters(handle)
    if stored is None:
        raise DirectError("gone")
    return stored


def _sign_in(request: HttpRequest, params: Parameters) -> HttpResponseBase:
    """To the sign-in page, which leads back here."""
    address = reverse("oauth2_provider:authorize")
    here = f"{address}?{urlencode(params)}"
    if len(here) > MAX_NEXT:
        try:
            limits.take(STORED_REQUESTS, request)
        except OAuthError as error:
            raise DirectError("too_often", status=error.status, headers=error.headers) from None
        here = f"{address}?pending={PendingRequests(request.session).add(params)}"
    return redirect_to_login(here)


def _page(
    request: HttpRequest,
    handle: str,
    validated: AuthorizationRequest,
    memberships: list[Membership],
    choice: consent.Choice,
) -> HttpResponse:
    return consent.page(
        request,
        handle,
        validated.client,
        validated.redirect_uri,
        validated.scopes,
        memberships,
        choice,
    )


def _issue_code(validated: AuthorizationRequest, membership: Membership, scopes: list[str], user: User) -> str:
    """Issues a code for the choice. Returns the redirect location."""
    server = backend().server
    membership.user = user
    (
        validated.request.membership,
        validated.request.user,
        validated.request.scopes,
    ) = membership, user, scopes
    code = server.auth_grant.create_authorization_code(validated.request)
    try:
        with transaction.atomic():
            server.request_validator.save_authorization_code(validated.client.client_id, code, validated.request)
    except IntegrityError:  # the client or the membership went in this moment
        raise DirectError("gone") from None
    return response_uri(
        validated.redirect_uri,
        {"code": code["code"], "state": validated.state, "iss": issuer()},
    )


def response_uri(redirect_uri: str, response: dict[str, str | None]) -> str:
    """The client's own query is kept (RFC 6749 §3.1.2), but for parameters of the response (RFC 9207 §2.4)."""
    base, _, query = redirect_uri.partition("?")
    kept = [
        part for part in query.split("&") if part and unquote_plus(part.partition("=")[0]) not in RESPONSE_PARAMETERS
    ]
    # %20 for a space: apps that read a query without the rules of forms would keep a plus sign.
    added = urlencode({name: value for name, value in response.items() if value is not None}, quote_via=quote)
    return f"{base}?{'&'.join([*kept, added])}"


def see_other(location: str) -> HttpResponse:
    """303, so that no form is sent on (RFC 9700 §4.12). Django's own redirects refuse private-use schemes."""
    return HttpResponse(status=303, headers={"Location": location})
