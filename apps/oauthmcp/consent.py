"""The consent page: what a person is told about a request, and the form that they answer with."""

import re
import unicodedata
from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render

from apps.oauthmcp.models import DOCS_CLIENT, Application
from apps.oauthmcp.redirects import form_action_of, kind_of, target_of
from apps.orgs.models import Membership, User
from apps.tools.policy import page_policy

MAX_NAME = 100
NAMELESS = "An app without a name"
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}  # control, format (so bidirectional and zero-width), unassigned
# Letters and marks by category, and yet nothing is to be seen of them.
BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")

# For whoever decides; apps.tools.base.SCOPES says the same to developers. What it is, and what is in it.
SENTENCES = {
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
    """What somebody filled in, as far as they may choose it, and what is missing."""

    membership: Membership | None
    scopes: list[str]
    problems: dict[str, str] = field(default_factory=dict)


def memberships_of(user: User) -> list[Membership]:
    rows = Membership.objects.filter(user=user).select_related("organization")
    return list(rows.order_by("organization__name", "id"))


def before_choosing(memberships: list[Membership], requested: list[str]) -> Choice:
    """Everything asked for is ticked. Of several organizations none is: a wrong one is chosen too easily."""
    return Choice(memberships[0] if len(memberships) == 1 else None, requested)


def chosen(form: QueryDict, memberships: list[Membership], requested: list[str]) -> Choice:
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
        "name": display_name(client),
        "is_ours": client.client_id == DOCS_CLIENT,
        "target": target_of(redirect_uri),
        "kind": kind_of(redirect_uri).name.lower(),
        "memberships": memberships,
        "choice": choice,
        "scopes": [(scope, *SENTENCES[scope], scope in choice.scopes) for scope in requested],
        "lasts": "refresh_token" in client.grant_types,
    }
    response = render(request, "oauth/consent.html", values, status=400 if choice.problems else 200)
    # Chromium holds the redirect that answers a form against form-action too.
    response["Content-Security-Policy"] = page_policy(f"'self' {form_action_of(redirect_uri)}")
    # Not no-referrer: with it browsers send `Origin: null` along with the form, and Django's CSRF check refuses that.
    response["Referrer-Policy"] = "same-origin"
    return response


def display_name(client: Application) -> str:
    """What an app calls itself, with nothing in it that hides, reorders or imitates what is around it."""
    return clean(str(client.name)) or NAMELESS


def clean(text: str) -> str:
    spaced = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text))
    seen = "".join(one for one in BLANK.sub("", spaced) if unicodedata.category(one) not in INVISIBLE)
    name = " ".join(seen.split())
    if not any(unicodedata.category(one)[0] in "LNSP" for one in name):  # marks alone have nothing to stand on
        return ""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - 1].rstrip()}…"
