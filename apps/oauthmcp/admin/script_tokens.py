"""Tokens for scripts, by name: the authorizations of the built-in client, and ending them."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.utils import display_for_value
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.text import Truncator

from apps.oauthmcp.admin.access import AccessAdmin, RevokeActionMixin, TokenOrganizationFilter, log_revoked
from apps.oauthmcp.admin.authorizations import StateFilter, state_of
from apps.oauthmcp.models import Authorization, ScriptToken
from apps.oauthmcp.script_tokens import ending
from apps.orgs.admin.finding import people_like
from apps.orgs.admin.parts import first_keys, only


class ScriptTokenStateFilter(StateFilter):
    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return queryset
        return queryset.filter(authorization__in=super().queryset(request, Authorization.objects.all()))


@admin.register(ScriptToken)
class ScriptTokenAdmin(RevokeActionMixin, AccessAdmin):
    list_display = ("short_name", "user", "organization", "state_or_reason", "last_used", "expires", "scopes")
    list_select_related = ("authorization__membership__user", "authorization__membership__organization")
    list_filter = (ScriptTokenStateFilter, TokenOrganizationFilter)
    ordering = ("-authorization__expires_at",)
    search_help_text = "The authorization's id, or a part of the user's e-mail address."
    fields = (
        "name", "user", "organization", "scopes", "state_or_reason", "created", "last_used", "expires", "reminded_at",
        "authorization",
    )  # fmt: skip
    actions = ["revoke_access"]  # type: ignore[assignment]  # other lists have none

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        with suppress(ValueError):
            return queryset.filter(pk=UUID(term)), False
        found = queryset.filter(authorization__membership__user__in=people_like(request, term))
        return only(request, queryset, first_keys(found)), False

    @admin.display(description="Name")
    def short_name(self, token: ScriptToken) -> str:
        return Truncator(token.name).chars(40)

    @admin.display(description="User")
    def user(self, token: ScriptToken) -> str:
        return token.authorization.membership.user.email

    @admin.display(description="Organization")
    def organization(self, token: ScriptToken) -> str:
        return token.authorization.membership.organization.name

    @admin.display(description="Scopes")
    def scopes(self, token: ScriptToken) -> str:
        return token.authorization.scope.replace(":read", "").replace(" ", ", ")

    @admin.display(description="Created")
    def created(self, token: ScriptToken) -> str:
        return display_for_value(token.authorization.created, "")

    @admin.display(description="Expires")
    def expires(self, token: ScriptToken) -> str:
        return display_for_value(token.authorization.expires_at, "")

    @admin.display(description="Last used")
    def last_used(self, token: ScriptToken) -> str:
        return display_for_value(token.authorization.last_used_at, "Never")

    @admin.display(description="State")
    def state_or_reason(self, token: ScriptToken) -> str:
        state = state_of(token.authorization)
        return token.get_ended_by_display() if state == "Revoked" else state

    @admin.action(description="Revoke access", permissions=["revoke"])
    def revoke_access(self, request: HttpRequest, chosen: QuerySet[ScriptToken]) -> None:
        rows = list(chosen.filter(authorization__revoked_at=None))
        tokens = Authorization.objects.filter(pk__in=[row.pk for row in rows])
        number = ending.end(tokens, ScriptToken.EndedBy.OPERATOR)
        log_revoked(request, rows, "Revoked access.")
        many = "token" if number == 1 else "tokens"
        self.message_user(request, f"Revoked {number} {many}.", messages.SUCCESS if number else messages.WARNING)
