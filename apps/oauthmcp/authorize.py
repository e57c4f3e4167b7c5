"""The authorization endpoint (RFC 6749 §3.1): validate the request, ask for consent, redirect to the client."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlencode

from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from apps.oauthmcp import consent, limits, unattended, unused_clients
from apps.oauthmcp.authorization_request import (
    AuthorizationRequest,
    DirectError,
    RedirectError,
    check,
    parameters_of,
    response_uri,
)
from apps.oauthmcp.errors import OAuthError
from apps.oauthmcp.parameters import Parameters, value_of
from apps.oauthmcp.pending import PendingRequests
from apps.oauthmcp.redirects import target_of
from apps.oauthmcp.server import backend, issuer
from apps.orgs.models import Membership, User
from apps.web.errors import request_id_of
from apps.web.limits import Buckets

MAX_NEXT = 2000  # Django takes an address of more than 2,048 characters for none of our own
# Requests too long for that are kept in a session, also of people who are not signed in: each is a row.
STORED_REQUESTS = Buckets(burst=30, per_second=0.2)
DECISIONS = ("allow", "deny", "switch", "later")


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
    params = parameters_of(request.META.get("QUERY_STRING", ""), request.session)
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
    return consent.page(request, PendingRequests(request.session).add(params), validated, memberships, choice)


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
        if decision == "later":  # somebody pressed Enter in a tick box
            choice = replace(choice, problems={})
        if decision == "later" or choice.problems or choice.membership is None:
            return consent.page(request, handle, validated, memberships, choice)
        location = _issue_code(validated, choice.membership, choice.scopes, request.user)
    pending.record_decision(handle, decision, location)
    return see_other(location)


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


def see_other(location: str) -> HttpResponse:
    """303, so that no form is sent on (RFC 9700 §4.12). Django's own redirects refuse private-use schemes."""
    return HttpResponse(status=303, headers={"Location": location})
