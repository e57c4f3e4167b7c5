"""Clients, and revoking all authorizations of one."""

import json
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from apps.oauthmcp.admin.access import AccessAdmin, RevokeActionMixin, log_revoked
from apps.oauthmcp.models import BUILT_IN, SCRIPT_CLIENT, Application, Authorization, AuthorizationQuerySet
from apps.orgs.admin.deletion import summary_of
from apps.orgs.admin.parts import first_keys, only
from apps.orgs.text import fold

SOURCES = {"manual": "Built in", "dcr": "Dynamic (RFC 7591)", "cimd": "Client ID metadata document"}
MAX_COUNTED = 1000


class ApplicationAdmin(RevokeActionMixin, AccessAdmin):
    list_display = ("title", "client_id", "registered", "authentication", "created", "first_authorized")
    ordering = ("-id",)
    search_help_text = "A client id, or a part of the name."
    fields = (
        "title", "client_id", "registered", "authentication", "allowed_redirect_uris", "client_metadata", "created",
        "first_authorized", "active_authorizations",
    )  # fmt: skip
    actions = ["revoke_access"]  # type: ignore[assignment]  # other lists have none

    @admin.display(description="Name")
    def title(self, client: Application) -> str:
        return client.display_name

    @admin.display(description="Registration")
    def registered(self, client: Application) -> str:
        return SOURCES[client.registration_source]

    @admin.display(description="Client authentication")
    def authentication(self, client: Application) -> str:
        return client.token_endpoint_auth_method

    @admin.display(description="First authorized", empty_value="Never")
    def first_authorized(self, client: Application) -> Any:
        return client.authorized_at

    @admin.display(description="Redirect URIs")
    def allowed_redirect_uris(self, client: Application) -> SafeString:
        return format_html_join("", "{}<br>", ((uri,) for uri in client.allowed_redirect_uris))

    @admin.display(description="Client metadata")
    def client_metadata(self, client: Application) -> SafeString:
        # ASCII, so that nothing in it can hide or turn around what stands beside it.
        return format_html("<pre>{}</pre>", json.dumps(client.metadata, indent=2))

    @admin.display(description="Active authorizations")
    def active_authorizations(self, client: Application) -> SafeString:
        found = Authorization.objects.filter(application=client).active()[: MAX_COUNTED + 1].count()
        number = f"more than {MAX_COUNTED}" if found > MAX_COUNTED else str(found)
        query = urlencode({"q": client.client_id, "state": "active"})
        address = f"{reverse('admin:oauthmcp_authorization_changelist')}?{query}"
        return format_html('<a href="{}">{}</a>', address, number)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        known = first_keys(queryset.filter(client_id=term))
        named = first_keys(queryset.filter(search_key__contains=fold(term)), self.ordering)
        return only(request, queryset, known + named), False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        if obj is not None and obj.client_id in BUILT_IN:
            return False
        return ModelAdmin.has_delete_permission(self, request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        return summary_of(objs)

    def authorizations_of(self, chosen: QuerySet[Application]) -> AuthorizationQuerySet:
        return Authorization.objects.filter(application__in=list(chosen)).of_programs()

    @admin.action(description="Revoke access", permissions=["revoke"])
    def revoke_access(self, request: HttpRequest, chosen: QuerySet[Application]) -> None:
        """Revokes all authorizations of the chosen clients. They stay registered, and may be authorized again."""
        clients = list(chosen.exclude(client_id=SCRIPT_CLIENT))
        if chosen.filter(client_id=SCRIPT_CLIENT).exists():
            words = "Tokens for scripts are not revoked all at once: choose some of them in their own list."
            self.message_user(request, words, messages.WARNING)
        number = Authorization.objects.filter(application__in=clients).revoke()
        log_revoked(request, clients, "Revoked all authorizations.")
        many = "authorization" if number == 1 else "authorizations"
        of = "1 client" if len(clients) == 1 else f"{len(clients)} clients"
        level = messages.SUCCESS if number else messages.WARNING
        self.message_user(request, f"Revoked {number} {many} of {of}.", level)
