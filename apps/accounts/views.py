"""The pages of our own: what somebody's account is, and accepting an invitation."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from allauth.account.internal.flows.login import record_authentication
from allauth.account.utils import perform_login
from allauth.core import ratelimit
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.response import SimpleTemplateResponse
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.adapter import has_second_factor
from apps.accounts.forms import AcceptInvitationForm
from apps.accounts.invitations import accept, asks_to_sign_in
from apps.accounts.second_factors import UnreadableSecondFactor, log_unreadable
from apps.orgs.models import Invitation, Membership, User
from apps.web.errors import too_many_requests


def tell_to_wait(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A form that was not tried, because there were too many attempts, is a 429."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if wait := getattr(request, "retry_after", 0):
            response.status_code = 429
            response.headers["Retry-After"] = str(wait)
        return response

    return answer


def tell_unreadable(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Pages that show recovery codes, to somebody whose second factor no key reads any more."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
            return response.render() if isinstance(response, SimpleTemplateResponse) else response
        except UnreadableSecondFactor:
            log_unreadable(cast("User", request.user))
            return render(request, "mfa/unreadable.html", status=409)

    return answer


@require_safe
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Who is signed in, which organizations they see, and what they can change."""
    user = cast("User", request.user)
    memberships = Membership.objects.filter(user=user).select_related("organization")
    return render(
        request,
        "account/account.html",
        {
            "memberships": memberships.order_by("organization__name", "id"),
            "has_second_factor": has_second_factor(user),
        },
    )


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Opening the link changes nothing: mail programs open links by themselves. Only a form that is sent accepts."""
    if not ratelimit.consume(request, action="invitation"):
        return too_many_requests(request)
    found = Invitation.objects.of_token(token).select_related("organization").first()
    if found is not None and found.accepted_at and _is_for(request, found):
        return redirect("home")  # a form that was sent twice
    if found is None or not Invitation.objects.pending().filter(pk=found.pk).exists():
        return render(request, "account/invitation_gone.html", status=404)
    if request.user.is_authenticated:
        return _join(request, found)
    invited = User.objects.filter(email=found.email).first()
    if invited is not None and asks_to_sign_in(found, invited):
        return render(request, "account/invitation_sign_in.html", {"invitation": found, "next": request.path})
    return _welcome(request, found, invited)


def _is_for(request: HttpRequest, invitation: Invitation) -> bool:
    return isinstance(request.user, User) and request.user.email == invitation.email


def _join(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    """Somebody is signed in. Whoever it is, only the account with the invited address may accept."""
    is_right = _is_for(request, invitation)
    if request.method == "POST" and is_right:
        with transaction.atomic():
            is_member = accept(invitation, request.user)  # type: ignore[arg-type]
        if is_member:
            _tell_that_they_joined(request, invitation)
        return redirect("home")
    status = 403 if request.method == "POST" else 200
    values = {"invitation": invitation, "is_right": is_right, "next": request.path}
    return render(request, "account/invitation_join.html", values, status=status)


def _tell_that_they_joined(request: HttpRequest, invitation: Invitation) -> None:
    messages.success(request, f"You are a member of {invitation.organization.name} now.")


def _welcome(request: HttpRequest, invitation: Invitation, user: User | None) -> HttpResponse:
    """Nobody has signed in with this address yet: the link stands for the mailbox, so they choose a password here."""
    form = AcceptInvitationForm(request.POST or None, email=invitation.email)
    if request.method != "POST" or not form.is_valid():
        return render(request, "account/invitation_new.html", {"invitation": invitation, "form": form})
    user = user or User(email=invitation.email)
    user.name = form.cleaned_data["name"]
    user.set_password(form.cleaned_data["password1"])
    try:
        with transaction.atomic():
            user.save()
            if not accept(invitation, user):
                transaction.set_rollback(True)
                return redirect(request.path)
    except IntegrityError:  # another invitation made the account at the same moment: now they sign in
        return redirect(request.path)
    record_authentication(request, user, method="password", email=user.email)
    _tell_that_they_joined(request, invitation)
    response: HttpResponse = perform_login(request, user, redirect_url=reverse("home"))
    return response
