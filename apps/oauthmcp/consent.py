"""The consent page and its form."""

from dataclasses import dataclass, field

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from apps.oauthmcp.models import DOCS_CLIENT, Application
from apps.oauthmcp.redirects import form_action_of, kind_of, target_of
from apps.orgs.models import Membership, User
from apps.web.csp import page_policy

# Title and description for users; apps.orgs.callers.SCOPES has the descriptions for developers.
SCOPE_DESCRIPTIONS = {
    "account:read": (
        "The organization and you",
        "Its name, plan, limits and connected code hosts. Your name and e-mail address.",
    ),
    "apps:read": (
        "Apps and deployments",
        "Projects, apps, domains, previews and deployments, and whether the apps are healthy.",
    ),
    "config:read": (
        "Names of settings and secrets",
        "Only what they are called. Their values are not in Porthole, so nobody can read them here.",
    ),
    "files:read": (
        "Files in code repositories",
        "The code that the apps are built from, without files that hold keys or passwords by nature.",
    ),
    "docs:read": ("Documentation and templates", "The guides that can be searched here, and the templates for apps."),
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
    request: HttpRequest, handle: str, client: Application, redirect_uri: str, requested: list[str],
    memberships: list[Membership], choice: Choice,
) -> HttpResponse:  # fmt: skip
    values = {
        "handle": handle,
        "name": client.display_name,
        "is_ours": client.client_id == DOCS_CLIENT,
        "target": target_of(redirect_uri),
        "kind": kind_of(redirect_uri).name.lower(),
        "memberships": memberships,
        "choice": choice,
        "scopes": [(scope, *SCOPE_DESCRIPTIONS[scope], scope in choice.scopes) for scope in requested],
        "lasts": "refresh_token" in client.grant_types,
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
