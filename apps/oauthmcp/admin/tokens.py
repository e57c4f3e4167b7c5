"""Codes and tokens: their users, scopes and lifetimes. Never their values, not even as a hash."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from apps.oauthmcp.admin.access import AccessAdmin, TokenOrganizationFilter
from apps.orgs.admin.finding import DistantOrganizationFilter
from apps.orgs.admin.readonly import ListAdmin, ReadOnlyAdminMixin


class GrantAdmin(AccessAdmin):
    list_display = ("number", "user", "organization", "client", "created", "expires", "redeemed")
    list_select_related = ("application", "user", "membership__organization")
    list_filter = (DistantOrganizationFilter,)
    ordering = ("-id",)
    fields = ("membership", "application", "scope", "redirect_uri", "created", "expires", "redeemed", "authorization")

    @admin.display(description="Number")
    def number(self, code: Any) -> int:
        return int(code.pk)

    @admin.display(description="Organization")
    def organization(self, code: Any) -> str:
        return str(code.membership.organization.name)

    @admin.display(description="Redeemed", empty_value="No")
    def redeemed(self, code: Any) -> Any:
        return code.redeemed_at


class TokenAdmin(AccessAdmin):
    list_select_related = ("application", "user", "authorization__membership__organization")
    list_filter = (TokenOrganizationFilter,)
    ordering = ("-id",)

    @admin.display(description="Number")
    def number(self, token: Any) -> int:
        return int(token.pk)

    @admin.display(description="Organization")
    def organization(self, token: Any) -> str:
        return str(token.authorization.membership.organization.name)


class AccessTokenAdmin(TokenAdmin):
    list_display = ("number", "user", "organization", "client", "scope", "created", "expires")
    fields = ("user", "organization", "application", "scope", "resource", "created", "expires", "authorization")


class RefreshTokenAdmin(TokenAdmin):
    list_display = ("number", "user", "organization", "client", "created", "rotated")
    fields = ("user", "organization", "application", "resource", "created", "rotated", "authorization")

    @admin.display(description="Rotated", empty_value="No")
    def rotated(self, token: Any) -> Any:
        return token.revoked


class IDTokenAdmin(ReadOnlyAdminMixin, ListAdmin):
    """Never issued, so never shown."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
