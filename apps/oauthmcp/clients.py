"""The page of connected clients: a user's active authorizations, and revoking them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import cast
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.timesince import timesince
from django.views.decorators.http import require_POST, require_safe

from apps.oauthmcp.consent import SCOPE_DESCRIPTIONS
from apps.oauthmcp.models import Authorization, AuthorizationQuerySet
from apps.oauthmcp.redirects import Kind, recipient_of
from apps.orgs.models import User

PER_PAGE = 50
RECENT = timedelta(minutes=2)  # last_used_at is accurate to one
MAX_TARGETS = 3  # told of a client that was let in before it was kept which it was


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """An authorization in the words of the page."""

    authorization: Authorization

    @property
    def may(self) -> list[str]:
        return [
            SCOPE_DESCRIPTIONS[scope][0] for scope in self.authorization.scope.split() if scope in SCOPE_DESCRIPTIONS
        ]

    @property
    def sent_back_to(self) -> str:
        """In words; of an old authorization all that it may have been, or the first of them."""
        recipients = [recipient_of(uri) for uri in self.authorization.redirect_uris]
        told = list(dict.fromkeys(_in_words(*recipient) for recipient in recipients if recipient))
        more = ["others"] if len(told) > MAX_TARGETS else []
        return " or ".join(told[:MAX_TARGETS] + more)

    @property
    def used_ago(self) -> str:
        time = self.authorization.last_used_at
        if time is None:
            return ""
        return "just now" if timezone.now() - time < RECENT else f"{timesince(time, depth=1)} ago"

    @property
    def lasts_while_used(self) -> bool:
        return "refresh_token" in self.authorization.application.grant_types


def _in_words(kind: Kind, target: str) -> str:
    match kind:
        case Kind.LOOPBACK:
            return "a program on your computer"
        case Kind.PRIVATE:
            return f"an app on your device ({target})"
    return target


@require_safe
@login_required
def clients(request: HttpRequest) -> HttpResponse:
    """Active authorizations, newest first."""
    active = _own(request).active().select_related("application", "membership__organization")
    page = Paginator(active.order_by("-created", "id"), PER_PAGE).get_page(request.GET.get("page"))
    connected = [ConnectedClient(authorization) for authorization in page]
    address = f"{settings.PUBLIC_URL}/mcp"
    return render(request, "account/clients.html", {"page": page, "connected": connected, "address": address})


@require_POST
@login_required
def revoke(request: HttpRequest, id: UUID) -> HttpResponse:
    """Idempotent: revoking again, from a page that is out of date, is no error."""
    authorization = _own(request).filter(pk=id).select_related("application", "membership__organization").first()
    if authorization is None:
        raise Http404
    Authorization.objects.filter(pk=authorization.pk).revoke()
    name, organization = authorization.application.display_name, authorization.membership.organization.name
    messages.success(request, f"{name} is disconnected. It sees nothing of {organization} any more.")
    return redirect("account_clients")


def _own(request: HttpRequest) -> AuthorizationQuerySet:
    return Authorization.objects.filter(membership__user=cast("User", request.user)).of_programs()
