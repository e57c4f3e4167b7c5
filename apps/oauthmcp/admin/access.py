"""What all admins of OAuth rows share: they are read-only; rows can be revoked, not edited."""

from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from apps.oauthmcp.admin.revoking import asking
from apps.oauthmcp.models import Application, Authorization, AuthorizationQuerySet
from apps.orgs.admin.finding import DistantOrganizationFilter, people_like
from apps.orgs.admin.parts import exactly, first_keys
from apps.orgs.admin.readonly import ListAdmin, ReadOnlyAdminMixin
from apps.orgs.models import User

HELP_TEXTS = {
    "active_authorizations": "“Revoke access”, in the list of clients, revokes all of them at once.",
    "client_metadata": "As registered by the client itself (RFC 7591 §2); not verified.",
    "allowed_redirect_uris": "Authorization codes are only sent to one of these.",
    "application": "The client that was authorized.",
    "authentication": "At the token endpoint.",
    "authorization": "What this was issued for. Revoking it revokes all its tokens.",
    "expires": "Not valid after this.",
    "expires_at": "Each refresh extends it.",
    "first_authorized": "A client that was never authorized is deleted after 30 days.",
    "membership": "The user who authorized it, and the organization that it may read.",
    "state": "A revoked authorization stays revoked; the user can authorize the client again.",
    "redeemed": "A code is valid once, for 60 seconds.",
    "registered": "Most clients register dynamically; their names are not verified.",
    "reminded_at": "Its user gets one mail, a week before it expires.",
    "rotated": "Each use rotates a refresh token; the old one stays valid for 30 seconds.",
    "resource": "The resource indicator (RFC 8707): the token is not valid at another one.",
}
LABELS = {
    "application": "Client",
    "client_id": "Client id",
    "created": "Created",
    "expires": "Expires",
    "expires_at": "Expires",
    "last_used_at": "Last used",
    "membership": "Membership",
    "reminded_at": "Reminded",
    "resource": "Resource",
    "revoked_at": "Revoked",
    "scope": "Scopes",
}


class TokenOrganizationFilter(DistantOrganizationFilter):
    membership = "authorization__membership"


class AccessAdmin(ReadOnlyAdminMixin, ListAdmin):
    """Rows of a client and a user. A search is a client id, or a part of the user's e-mail address."""

    user_column = "user"
    search_fields = ("id",)  # shows the search box; get_search_results says what it does
    search_help_text = "A client id, or a part of the user's e-mail address."

    def get_form(self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any) -> Any:
        words = {"labels": LABELS, "help_texts": HELP_TEXTS}
        return super().get_form(request, obj, change=change, **words | kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fields or ()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        # One of the two, because either alone has an index to follow and both at once have none.
        client = Application.objects.filter(client_id=term).first()
        if client is not None:
            return queryset.filter(application=client), False
        found = queryset.filter(**{f"{self.user_column}__in": people_like(request, term)})
        return exactly(request, queryset, first_keys(found)), False

    @admin.display(description="Client")
    def client(self, row: Any) -> str:
        return str(row.application)


class RevokeActionMixin:
    """Mixed into an admin with an action that revokes: it asks first.

    It needs the permission to change authorizations. `authorizations_of` says which end with the chosen rows.
    """

    def authorizations_of(self, chosen: QuerySet[Any]) -> AuthorizationQuerySet:
        return Authorization.objects.filter(pk__in=list(chosen.values_list("pk", flat=True)))

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("oauthmcp.change_authorization")

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)  # type: ignore[misc]
        actions.pop("delete_selected", None)
        if "revoke_access" in actions:
            action, name, description = actions["revoke_access"]
            actions["revoke_access"] = (asking(action, self.authorizations_of), name, description)
        return actions


def log_revoked(request: HttpRequest, rows: list[Any], message: str) -> None:
    """Into the operators' history, one entry for each row."""
    LogEntry.objects.log_actions(cast("User", request.user).pk, rows, CHANGE, change_message=message)
