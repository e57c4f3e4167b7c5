"""Invitations: an operator writes an address, and a mail with a link goes out."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from apps.accounts.invitations import invite
from apps.accounts.mail import NotSent
from apps.orgs.admin.finding import OrganizationFilter
from apps.orgs.admin.parts import exactly, first_keys
from apps.orgs.admin.readonly import ListAdmin
from apps.orgs.models import Invitation
from apps.orgs.models.people import fold_email


@admin.register(Invitation)
class InvitationAdmin(ListAdmin):
    list_display = ("email", "organization", "role", "invited_by", "created_at", "expires_at", "accepted_at")
    list_select_related = ("organization", "invited_by")
    list_filter = (OrganizationFilter,)
    ordering = ("-id",)
    search_fields = ("email",)
    search_help_text = "A part of the e-mail address."
    autocomplete_fields = ("organization",)
    new = ("organization", "email", "role")
    record = (*new, "invited_by", "created_at", "expires_at", "accepted_at")

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return self.record if obj else self.new

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # a mistyped one is deleted, which stops its link, and sent anew

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> Any:
        try:
            return super().add_view(request, form_url, extra_context)
        except NotSent as error:
            self.message_user(request, f"Nobody was invited. {error}", messages.ERROR)
            return HttpResponseRedirect(request.path)

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        obj.invited_by = request.user  # type: ignore[assignment]
        invite(obj)

    def response_add(self, request: HttpRequest, obj: Invitation, post_url_continue: str | None = None) -> HttpResponse:
        where = " It is printed where the server runs." if settings.IS_LOCAL and settings.MAIL_IS_PRINTED else ""
        self.message_user(request, f"The invitation was sent to {obj.email}.{where}", messages.SUCCESS)
        return HttpResponseRedirect("../")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = fold_email(search_term)
        found = queryset.filter(email__contains=term)
        return exactly(request, queryset, first_keys(found, self.ordering)) if term else queryset, False
