"""What owners see of their organization: everybody's tokens for scripts, and whether there may be any."""

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from apps.oauthmcp.models import ScriptToken
from apps.oauthmcp.script_tokens import ending, listing
from apps.orgs.models import Membership, Organization, User

PER_PAGE = 50


@require_safe
@login_required
def tokens(request: HttpRequest, organization_id: str) -> HttpResponse:
    """Those that work, newest first; on the first page also those that ended lately."""
    organization = _owned(request, organization_id)
    found = listing.of_organization(organization)
    page = Paginator(listing.working(found), PER_PAGE).get_page(request.GET.get("page"))
    values = {
        "organization": organization,
        "page": page,
        "working": [listing.ListedToken(token) for token in page],
        "ended": listing.ended(found) if page.number == 1 else [],
        "number": page.paginator.count,
    }
    return render(request, "account/script_tokens/organization.html", values)


@require_POST
@login_required
def end(request: HttpRequest, organization_id: str, id: UUID) -> HttpResponse:
    """Idempotent, as for whoever made it."""
    organization = _owned(request, organization_id)
    chosen = listing.of_organization(organization).filter(pk=id)
    token = chosen.select_related("script_token", "membership__user").first()
    if token is None:
        raise Http404
    ending.end(chosen, ScriptToken.EndedBy.OWNER)
    whose = token.membership.user.email
    messages.success(request, f"{token.script_token.name} of {whose} has ended. It works nowhere any more.")
    return redirect("organization_script_tokens", organization.pk)


@require_POST
@login_required
def allow(request: HttpRequest, organization_id: str) -> HttpResponse:
    """Allows tokens, or forbids them, which ends all that there are. The page has said how many those are."""
    organization = _owned(request, organization_id)
    is_allowed = request.POST.get("allow") == "yes"
    ending.allow(organization, is_allowed)
    done = "allows tokens for scripts again" if is_allowed else "allows no tokens for scripts any more: all have ended"
    messages.success(request, f"{organization.name} {done}.")
    return redirect("organization_script_tokens", organization.pk)


def _owned(request: HttpRequest, id: str) -> Organization:
    """Not found for anybody but an owner, as if there were none."""
    if "\0" in id:  # PostgreSQL takes none in text
        raise Http404
    owners = Membership.objects.filter(user=cast("User", request.user), role=Membership.Role.OWNER)
    membership = owners.filter(organization_id=id).select_related("organization").first()
    if membership is None:
        raise Http404
    return membership.organization
