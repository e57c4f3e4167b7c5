"""The page that asks whether access is to be revoked, and says what will stop."""

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from apps.oauthmcp.models import AuthorizationQuerySet

MAX_LISTED, MAX_COUNTED = 20, 1000
CONFIRMED = "confirmed"
SHOWN = ("application", "script_token", "membership__user", "membership__organization")  # of an authorization
Action = Callable[[Any, HttpRequest, Any], HttpResponse | None]


def page(
    admin: Any, request: HttpRequest, stops: AuthorizationQuerySet, *, back: str, hidden: Iterable[tuple[str, str]] = ()
) -> HttpResponse:
    """`admin` is the ModelAdmin of the list; `stops` are those that would be revoked, `hidden` what the form sends."""
    ending = stops.filter(revoked_at=None).select_related(*SHOWN).order_by("-expires_at", "pk")
    rows = list(ending[: MAX_COUNTED + 1])
    more = len(rows) - MAX_LISTED
    context = admin.admin_site.each_context(request) | {
        "title": "Revoke access?",
        "opts": admin.opts,
        "stops": [sentence(row) for row in rows[:MAX_LISTED]],
        "number": len(rows),
        "more": f"more than {MAX_COUNTED - MAX_LISTED:,}" if len(rows) > MAX_COUNTED else max(0, more),
        "hidden": [*hidden, (CONFIRMED, "yes")],
        "back": back,
        "list_address": reverse(f"admin:{admin.opts.app_label}_{admin.opts.model_name}_changelist"),
    }
    return TemplateResponse(request, "admin/oauthmcp/revoke.html", context)


def name_of(row: Any) -> str:
    """An app's name, or that of a token for scripts."""
    token = getattr(row, "script_token", None)  # there is none for most
    return f"Token “{token}”" if token is not None else str(row.application)


def scopes_of(row: Any) -> str:
    return str(row.scope.replace(":read", "").replace(" ", ", "))


def sentence(row: Any) -> str:
    """What one authorization lets whom see of what."""
    membership = row.membership
    used = f"last used {row.last_used_at:%Y-%m-%d %H:%M}" if row.last_used_at else "never used"
    return f"{name_of(row)}, which {membership.user.email} let into {membership.organization}: {scopes_of(row)}; {used}"


def asking(action: Action, authorizations_of: Callable[[QuerySet[Any]], AuthorizationQuerySet]) -> Action:
    """The action of a list, which asks before it is done."""

    def ask(admin: Any, request: HttpRequest, chosen: QuerySet[Any]) -> HttpResponse | None:
        if request.POST.get(CONFIRMED):
            return action(admin, request, chosen)
        hidden = [
            (name, value)
            for name in ("action", "select_across", ACTION_CHECKBOX_NAME)
            for value in request.POST.getlist(name)
            if value
        ]
        return page(admin, request, authorizations_of(chosen), back=request.get_full_path(), hidden=hidden)

    return ask
