"""The consent page and its form."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.timesince import timesince

from apps.oauthmcp.authorization_request import AuthorizationRequest
from apps.oauthmcp.client_history import ClientHistory, history_of, needs_warning
from apps.oauthmcp.models import DOCS_CLIENT
from apps.oauthmcp.redirects import form_action_of, kind_of, split_target, target_of
from apps.orgs.models import Membership, User
from apps.web.csp import page_policy

# Title and description for users; apps.orgs.callers.SCOPES has the descriptions for developers.
SCOPE_DESCRIPTIONS = {
    "account:read": ("The organization and you", "Its plan, limits and code hosts; your name and e-mail address."),
    "apps:read": ("Apps and deployments", "What runs, at which domains, and whether it works."),
    "config:read": ("Names of settings and secrets", "Never their values: Porthole has none."),
    "files:read": ("Files in code repositories", "The code itself, without files of keys or passwords."),
    "docs:read": ("Documentation and templates", "The guides to search here, and templates for apps."),
}


@dataclass(frozen=True)
class Choice:
    """The organization and scopes selected in the form, and its errors by field."""

    membership: Membership | None
    scopes: list[str]
    problems: dict[str, str] = field(default_factory=dict)


def memberships_of(user: User) -> list[Membership]:
    rows = Membership.objects.filter(user=user).select_related("organization")
    return list(rows.order_by("organization__name", "id"))


def initial_choice(memberships: list[Membership], requested: list[str]) -> Choice:
    """Everything asked for is ticked. Of several organizations none is: a wrong one is chosen too easily."""
    return Choice(memberships[0] if len(memberships) == 1 else None, requested)


def submitted_choice(form: QueryDict, memberships: list[Membership], requested: list[str]) -> Choice:
    """Only the user's own memberships count, and only scopes that the app asked for."""
    membership = next((one for one in memberships if str(one.pk) == form.get("organization")), None)
    ticked = form.getlist("scope")
    problems = {}
    if membership is None:
        problems["organization"] = "Choose the organization that the app may look at."
    if not ticked or not set(ticked) <= set(requested):
        problems["scope"] = "Tick at least one thing that the app may see, or deny the request."
    return Choice(membership, [scope for scope in requested if scope in ticked], problems)


def page(
    request: HttpRequest, handle: str, validated: AuthorizationRequest, memberships: list[Membership], choice: Choice
) -> HttpResponse:
    client, redirect_uri = validated.client, validated.redirect_uri
    values = {
        "handle": handle,
        "name": client.display_name,
        "is_ours": client.client_id == DOCS_CLIENT,
        "target": target_of(redirect_uri),
        "split_target": split_target(target_of(redirect_uri)),
        "kind": kind_of(redirect_uri).name.lower(),
        "memberships": memberships,
        "choice": choice,
        "scopes": [(scope, *SCOPE_DESCRIPTIONS[scope], scope in choice.scopes) for scope in validated.scopes],
        "lasts": "refresh_token" in client.grant_types,
        **_past_of(validated, request.user, memberships),  # type: ignore[arg-type]  # somebody is signed in
    }
    response = render(request, "oauth/consent.html", values, status=400 if choice.problems else 200)
    # Chromium holds the redirect that answers a form against form-action too, and every one after it: apps on the
    # web send people on to an app on the device, and those on the device to a page that thanks them.
    further = [f"{scheme}:" for scheme in ("https", *settings.REDIRECT_SCHEMES)]
    allowed = dict.fromkeys(["'self'", form_action_of(redirect_uri), *further])
    response["Content-Security-Policy"] = page_policy(form_action=" ".join(allowed))
    # Not no-referrer: with it browsers send `Origin: null` along with the form, and Django's CSRF check refuses that.
    response["Referrer-Policy"] = "same-origin"
    return response


def _past_of(validated: AuthorizationRequest, user: User, memberships: list[Membership]) -> dict[str, Any]:
    history = history_of(validated.client, validated.redirect_uri, user)
    where = memberships[0].organization.name if len(memberships) == 1 else "your organizations"
    return {
        "needs_warning": needs_warning(history, validated.redirect_uri),
        "registered": _registered(history),
        "authorized_by": _authorized_by(history, where),
    }


def _registered(history: ClientHistory) -> str:
    if history.is_registered_by_operators:
        return "By whoever runs this installation"
    if timezone.now() - history.registered_at < timedelta(minutes=1):
        return "Less than a minute ago"
    return f"{timesince(history.registered_at, depth=1)} ago"


def _authorized_by(history: ClientHistory, where: str) -> str:
    others = "one other person" if history.others == 1 else f"{history.others} other people"
    match history.is_authorized_by_me, history.others:
        case True, 0:
            return "By you"
        case True, _:
            return f"By you, and by {others} in {where}"
        case False, 0:
            return f"By nobody in {where}"
    return f"By {others} in {where}"
