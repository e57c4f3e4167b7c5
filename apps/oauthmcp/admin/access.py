"""What every list of access has in common: it is only looked at, and what it holds can be revoked, not edited."""

from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from apps.oauthmcp.models import Application
from apps.orgs.admin.finding import OrganizationFilter
from apps.orgs.admin.readonly import ListAdmin, ReadOnlyAdminMixin
from apps.orgs.models import User
from apps.orgs.models.people import fold_email

HELP_TEXTS = {
    "about": "Nobody checked it.",
    "addresses": "After a user agreed, the browser goes to one of these, with a code.",
    "alive": "Revoke access, in the list of clients, ends all of them at once.",
    "application": "The program that was let in.",
    "authentication": "When it fetches a token.",
    "authorization": "What the user allowed, which this belongs to. Revoke that, and all its tokens end together.",
    "expires": "It opens nothing after that.",
    "expires_at": "Each new token moves it on. A client that is not used loses its access then.",
    "first_authorized": "Never: it may be forgotten after a while, and registers again when it needs to.",
    "membership": "For whom it looks, and at which organization.",
    "scope": "The kinds of questions it may ask.",
    "state": "Only what is alive opens anything. What is revoked never comes back; the user can allow it anew.",
    "redeemed": "A code is good for one token, within a minute.",
    "registered": "Most programs register themselves, and nobody checks the name that they give.",
    "replaced": "Each use of a refresh token gives the client the next one, and this one ends half a minute later.",
    "resource": "The installation that it was made for. At another address it opens nothing.",
}
LABELS = {
    "application": "Client",
    "client_id": "Client id",
    "created": "Created",
    "expires": "Expires",
    "expires_at": "Ends if unused",
    "last_used_at": "Last used",
    "membership": "Member",
    "resource": "For",
    "revoked_at": "Revoked",
    "scope": "May see",
}


class OfOrganization(OrganizationFilter):
    column = "membership__organization_id"


class OfTokensOrganization(OrganizationFilter):
    column = "authorization__membership__organization_id"


class AccessAdmin(ReadOnlyAdminMixin, ListAdmin):
    """Rows that a client and a user have. A search is a client id, or how the user's e-mail address begins."""

    user_column = "user"
    search_fields = ("id",)  # shows the search box; get_search_results says what it does
    search_help_text = "A client id, or how the user's e-mail address begins."

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
        users = User.objects.filter(email__startswith=fold_email(term))
        return queryset.filter(**{f"{self.user_column}__in": users.values("pk")}), False

    @admin.display(description="Client")
    def client(self, row: Any) -> str:
        return str(row.application)


class Revoking:
    """Mixed into an admin with an action that revokes: who may change authorizations may end them."""

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("oauthmcp.change_authorization")

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)  # type: ignore[misc]
        actions.pop("delete_selected", None)
        return actions


def log_revoked(request: HttpRequest, rows: list[Any], message: str) -> None:
    """Into the operators' history, one entry for each row."""
    LogEntry.objects.log_actions(cast("User", request.user).pk, rows, CHANGE, change_message=message)
