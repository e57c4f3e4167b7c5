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
from apps.orgs.models import User

PER_PAGE = 50
RECENT = timedelta(minutes=10)  # last_used_at is accurate to five minutes


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
    def last_used(self) -> str:
        time = self.authorization.last_used_at
        if time is None:
            return "Never used."
        if timezone.now() - time < RECENT:
            return "Used just now."
        return f"Last used {timesince(time, depth=1)} ago."

    @property
    def lasts_while_used(self) -> bool:
        return "refresh_token" in self.authorization.application.grant_types


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
