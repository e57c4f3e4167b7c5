"""Authorizations: every token belongs to one, so this is what is revoked."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from apps.oauthmcp.admin.access import AccessAdmin, RevokeActionMixin, log_revoked
from apps.oauthmcp.admin.revoking import page, scopes_of
from apps.oauthmcp.models import Authorization, AuthorizationQuerySet
from apps.orgs.admin.finding import DistantOrganizationFilter

AUTHORIZATION_PAGE = "admin:oauthmcp_authorization_change"


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [("active", "Active"), ("revoked", "Revoked"), ("expired", "Expired or locked")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "active":
                return queryset.active()  # type: ignore[attr-defined]  # an AuthorizationQuerySet
            case "revoked":
                return queryset.filter(revoked_at__isnull=False)
            case "expired":
                return queryset.filter(
                    Q(expires_at__lte=timezone.now())
                    | Q(membership__user__is_active=False)
                    | Q(membership__user__password_changed_at__gt=F("created")),
                    revoked_at=None,
                )
        return queryset


@admin.register(Authorization)
class AuthorizationAdmin(RevokeActionMixin, AccessAdmin):
    user_column = "membership__user"
    list_display = ("user", "organization", "client", "scopes", "authorized", "last_used", "state")
    list_display_links = ("user", "client")
    list_select_related = ("application", "membership__user", "membership__organization")
    list_filter = (StateFilter, DistantOrganizationFilter)
    ordering = ("-expires_at",)  # refreshed last, shown first
    fields = (
        "user", "organization", "application", "scope", "state", "created", "last_used_at", "expires_at", "revoked_at",
        "id",
    )  # fmt: skip
    actions = ["revoke_access"]  # type: ignore[assignment]  # other lists have none

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.revoke)
        return [path("<uuid:pk>/revoke/", view, name="oauthmcp_authorization_revoke"), *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {"may_revoke": self.has_revoke_permission(request)}
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    def revoke(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Of one, from its own page or from its user's."""
        if not self.has_revoke_permission(request):
            raise PermissionDenied
        row = get_object_or_404(Authorization.objects.select_related("membership"), pk=pk)
        is_users = request.GET.get("from") == "user"
        back = ("admin:orgs_user_change", row.membership.user_id) if is_users else (AUTHORIZATION_PAGE, row.pk)
        address, chosen = reverse(back[0], args=[back[1]]), Authorization.objects.filter(pk=pk)
        if request.method != "POST":
            return page(self, request, chosen, back=address)
        self.revoke_access(request, chosen)
        return HttpResponseRedirect(address)

    @admin.display(description="User")
    def user(self, authorization: Authorization) -> str:
        return authorization.membership.user.email

    @admin.display(description="Organization")
    def organization(self, authorization: Authorization) -> str:
        return authorization.membership.organization.name

    @admin.display(description="Scopes")
    def scopes(self, authorization: Authorization) -> str:
        return scopes_of(authorization)

    @admin.display(description="Authorized")
    def authorized(self, authorization: Authorization) -> Any:
        return authorization.created

    @admin.display(description="Last used", empty_value="Never")
    def last_used(self, authorization: Authorization) -> Any:
        return authorization.last_used_at

    @admin.display(description="State")
    def state(self, authorization: Authorization) -> str:
        return state_of(authorization)

    @admin.action(description="Revoke access", permissions=["revoke"])
    def revoke_access(self, request: HttpRequest, chosen: AuthorizationQuerySet) -> None:
        """Revokes the chosen ones with all their tokens."""
        rows = list(chosen.filter(revoked_at=None))
        number = Authorization.objects.filter(pk__in=[row.pk for row in rows]).revoke()
        log_revoked(request, rows, "Revoked access.")
        many = "authorization" if number == 1 else "authorizations"
        self.message_user(request, f"Revoked {number} {many}.", messages.SUCCESS if number else messages.WARNING)


def state_of(authorization: Authorization) -> str:
    user = authorization.membership.user
    if authorization.revoked_at:
        return "Revoked"
    if authorization.expires_at <= timezone.now():
        return "Expired"
    if not user.is_active:
        return "Locked: the user is inactive"
    if user.password_changed_at and user.password_changed_at > authorization.created:
        return "Expired: the password was changed"
    return "Active"
