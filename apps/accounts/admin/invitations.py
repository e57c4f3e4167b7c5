"""Invitations: an operator writes an address and sees a link, once; where mail is set up, a mail takes it there too."""

from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from apps.accounts.invitations import may_see_link, renew, send_link
from apps.orgs.admin.finding import OrganizationFilter
from apps.orgs.admin.parts import exactly, first_keys
from apps.orgs.admin.readonly import ListAdmin
from apps.orgs.models import Invitation, User
from apps.orgs.models.people import fold_email

TOO_LATE = "This invitation is not there any more: it was accepted, deleted or replaced by a newer one."


class InvitationForm(forms.ModelForm):
    """`newest`: of all invitations, when the form was opened. So a form that is sent again replaces no link."""

    newest = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        newest, email = values.get("newest"), fold_email(values.get("email") or "")
        if newest is None:
            return values
        if Invitation.objects.filter(organization=values.get("organization"), email=email, pk__gt=newest).exists():
            raise forms.ValidationError(
                f"{email} was invited since this form was opened. If the link is lost, open the invitation in the list "
                "and make a new one."
            )
        return values


@admin.register(Invitation)
class InvitationAdmin(ListAdmin):
    form = InvitationForm
    change_form_template = "admin/orgs/invitation/change_form.html"
    list_display = ("email", "organization", "role", "invited_by", "created_at", "expires_at", "accepted_at")
    list_select_related = ("organization", "invited_by")
    list_filter = (OrganizationFilter,)
    ordering = ("-id",)
    search_fields = ("email",)
    search_help_text = "A part of the e-mail address."
    autocomplete_fields = ("organization",)
    new = ("organization", "email", "role", "newest")
    record = ("organization", "email", "role", "invited_by", "created_at", "expires_at", "accepted_at")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.new_link)
        return [path("<int:pk>/link/", view, name="orgs_invitation_link"), *super().get_urls()]

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return self.record if obj else self.new

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        newest = Invitation.objects.order_by("-pk").values_list("pk", flat=True).first()
        return super().get_changeform_initial_data(request) | {"newest": newest or 0}

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # a mistyped one is deleted, which stops its link, and made anew

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        obj.invited_by = cast("User", request.user)
        request.made = obj, renew(obj)  # type: ignore[attr-defined]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> Any:
        one_button = {"show_save_and_add_another": False, "show_save_and_continue": False}
        response = super().add_view(request, form_url, one_button | (extra_context or {}))
        # Only now, because it is committed: a mail that takes long keeps no transaction open.
        made = getattr(request, "made", None)
        return self._shown(request, *made) if made else response

    def response_add(self, request: HttpRequest, obj: Invitation, post_url_continue: str | None = None) -> HttpResponse:
        return HttpResponse()  # `add_view` answers

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {"may_invite": self.has_add_permission(request)}
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    @method_decorator(require_POST)
    def new_link(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Replaces an invitation that nobody has accepted; its old link dies."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        with transaction.atomic():
            old = Invitation.objects.select_for_update(of=("self",)).filter(pk=pk, accepted_at=None).first()
            if old is not None:
                user = cast("User", request.user)
                new = Invitation(organization=old.organization, email=old.email, role=old.role, invited_by=user)
                link = renew(new)
                self.log_addition(request, new, "Made a new link.")
        if old is not None:
            return self._shown(request, new, link)
        self.message_user(request, TOO_LATE, messages.WARNING)
        return HttpResponseRedirect(reverse("admin:orgs_invitation_changelist"))

    def _shown(self, request: HttpRequest, invitation: Invitation, link: str) -> HttpResponse:
        """The page with the link: the only answer that has it. Nothing is stored from which another could show it."""
        problem = send_link(invitation, link)
        context = self.admin_site.each_context(request) | {
            "opts": self.opts,
            "title": f"{invitation.email} is invited",
            "invitation": invitation,
            "link": link if may_see_link(cast("User", request.user), invitation) else None,
            "problem": problem,
            "is_printed": settings.IS_LOCAL and settings.MAIL_IS_PRINTED,
        }
        return TemplateResponse(request, "admin/orgs/invitation/link.html", context)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = fold_email(search_term)
        found = queryset.filter(email__contains=term)
        return exactly(request, queryset, first_keys(found, self.ordering)) if term else queryset, False
