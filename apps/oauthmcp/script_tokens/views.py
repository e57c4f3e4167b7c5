"""A member's own tokens for scripts: the list, making one, and ending one."""

import time
from datetime import UTC, datetime
from math import ceil
from typing import Any, cast
from uuid import UUID

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.login import get_authentication_records
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.oauthmcp.consent import memberships_of
from apps.oauthmcp.models import ScriptToken
from apps.oauthmcp.script_tokens import listing, mails
from apps.oauthmcp.script_tokens.ending import end as end_tokens
from apps.oauthmcp.script_tokens.forms import NewTokenForm
from apps.oauthmcp.script_tokens.making import MAX_NUMBER, MadeAlready, NotMade, Wanted, make, wait_of
from apps.orgs.models import Membership, User

# What the example asks: of the first of these scopes that the token has.
EXAMPLES = {
    "account:read": ("get_account", "{}"),
    "apps:read": ("list_apps", "{}"),
    "config:read": ("list_org_secrets", "{}"),
    "docs:read": ("list_templates", "{}"),
    "files:read": ("list_files", '{"applicationId": "app_…"}'),
}


@require_safe
@login_required
def tokens(request: HttpRequest) -> HttpResponse:
    """Those that work, newest first, and those that ended lately."""
    user = cast("User", request.user)
    own = listing.of_user(user)
    memberships = memberships_of(user)
    values = {
        "working": [listing.ListedToken(token) for token in listing.working(own)],
        "ended": listing.ended(own),
        "max_number": MAX_NUMBER,
        "may_make": any(membership.organization.allows_script_tokens for membership in memberships),
        "memberships": memberships,
        "owned": [membership.organization for membership in memberships if membership.role == Membership.Role.OWNER],
    }
    return render(request, "account/script_tokens/list.html", values)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@reauthentication_required
def new(request: HttpRequest) -> HttpResponse:
    """The form; and, once, the token. A form that waits for a password meanwhile is kept by allauth."""
    user = cast("User", request.user)
    memberships = memberships_of(user)
    allowed = [membership for membership in memberships if membership.organization.allows_script_tokens]
    form = NewTokenForm(request.POST if request.method == "POST" else None, memberships=allowed)
    wait = 0.0
    if form.is_valid():
        wait = wait_of(user, time.monotonic())
        if not wait:
            return _make(request, user, form, memberships)
        form.add_error(None, "You have just made many tokens. Wait a minute, then try again.")
    return _form(request, form, memberships, wait)


@require_POST
@login_required
def end(request: HttpRequest, id: UUID) -> HttpResponse:
    """Idempotent: ending it again, from a page that is out of date, is no error."""
    own = listing.of_user(cast("User", request.user)).filter(pk=id)
    token = own.select_related("script_token").first()
    if token is None:
        raise Http404
    end_tokens(own, ScriptToken.EndedBy.MEMBER)
    messages.success(request, f"{token.script_token.name} has ended. It works nowhere any more.")
    return redirect("script_tokens")


@sensitive_variables("raw")
def _make(request: HttpRequest, user: User, form: NewTokenForm, memberships: list[Membership]) -> HttpResponse:
    try:
        token, raw = make(user, _wanted(request, user, form.cleaned_data))
    except MadeAlready as already:
        return render(request, "account/script_tokens/made_already.html", {"name": already.token.name}, status=409)
    except NotMade as error:
        form.add_error(None, str(error))
        return _form(request, form, memberships)
    mails.tell_of_new(request, token)
    return _show_once(request, token, raw)


@sensitive_variables("raw")
def _show_once(request: HttpRequest, token: ScriptToken, raw: str) -> HttpResponse:
    """On the answer itself: it goes through no address, no session and no cache."""
    scopes = token.authorization.scope.split()
    tool, body = next(example for scope, example in EXAMPLES.items() if scope in scopes)
    values = {
        "token": listing.ListedToken(token.authorization),
        "raw": raw,
        "address": f"{settings.PUBLIC_URL}/api/v1/tools/{tool}",
        "body": body,
        "is_mailed": settings.MAIL_IS_SET_UP,
    }
    return render(request, "account/script_tokens/made.html", values)


def _wanted(request: HttpRequest, user: User, values: dict[str, Any]) -> Wanted:
    return Wanted(
        values["form"],
        values["name"],
        values["organization"],
        values["scope"],
        values["expires_at"],
        _confirmed_at(request, user),
    )


def _confirmed_at(request: HttpRequest, user: User) -> datetime:
    """When the password or a code was last given; now, for an account that has neither."""
    records = get_authentication_records(request, user)
    times = [record["at"] for record in records if record.get("reauthenticated")]
    return datetime.fromtimestamp(times[-1], UTC) if times else timezone.now()


def _form(request: HttpRequest, form: NewTokenForm, memberships: list[Membership], wait: float = 0.0) -> HttpResponse:
    values = {
        "form": form,
        "memberships": memberships,
        "forbidden": [one.organization for one in memberships if not one.organization.allows_script_tokens],
    }
    status = 429 if wait else 400 if form.errors else 200
    response = render(request, "account/script_tokens/new.html", values, status=status)
    if wait:
        response.headers["Retry-After"] = str(ceil(wait))
    return response
