"""Source connections: the accounts at git hosts that applications are built from, and Porthole's own credentials."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.safestring import SafeString

from apps.orgs.admin.readonly import OwnedAdmin, links
from apps.orgs.models import SourceConnection

MAY_CONNECT, MAY_DISCONNECT = "sources.add_sourcecredentials", "sources.delete_sourcecredentials"


@admin.register(SourceConnection)
class SourceConnectionAdmin(OwnedAdmin):
    ids = {"con": "id"}
    list_display = ("name", "type", "account_login", "organization", "credentials", "own_credentials")
    list_select_related = ("organization",)
    fields = (
        "name", "type", "account_login", "base_url", "credentials", "own", "organization", "related",
        "platform", "external_id", "id",
    )  # fmt: skip
    change_form_template = "admin/orgs/sourceconnection/change_form.html"
    change_list_template = "admin/orgs/sourceconnection/change_list.html"

    @admin.display(description="Related")
    def related(self, connection: SourceConnection) -> SafeString:
        return links([("Applications", "app", {"q": connection.id})])

    @admin.display(description="Porthole's credentials")
    def own(self, connection: SourceConnection) -> str:
        stored = getattr(connection, "stored_credentials", None)
        if stored is None:
            return "None: only public repositories can be read."
        if connection.own_credentials == SourceConnection.OwnCredentials.REFUSED:
            return f"{stored}. The host refuses them."
        login = f", user name {stored.username}" if stored.username else ""
        ends = f", until {stored.expires_at:%Y-%m-%d}" if stored.expires_at else ""
        writes = ". They could also change things there" if stored.can_write else ""
        return f"{stored}{login}{ends}, given on {stored.checked_at:%Y-%m-%d}{writes}."

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        own = [
            path("connect/", view(self.connect), name="orgs_sourceconnection_connect"),
            path("<str:pk>/credentials/", view(self.connect), name="orgs_sourceconnection_credentials"),
            path("<str:pk>/disconnect/", view(self.disconnect), name="orgs_sourceconnection_disconnect"),
        ]
        return [*own, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        context = {"may_connect": request.user.has_perm(MAY_CONNECT)}
        return super().changelist_view(request, context | (extra_context or {}))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {
            "may_connect": request.user.has_perm(MAY_CONNECT),
            "may_disconnect": request.user.has_perm(MAY_DISCONNECT),
        }
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """One with credentials is disconnected instead: what was fetched with them goes too."""
        return super().has_delete_permission(request, obj) and not hasattr(obj, "stored_credentials")

    def connect(self, request: HttpRequest, pk: str | None = None) -> HttpResponse:
        if not request.user.has_perm(MAY_CONNECT):
            raise PermissionDenied
        from apps.sources.admin.connecting import connect_view  # serving processes seldom talk to git hosts

        connection = get_object_or_404(SourceConnection, pk=pk) if pk else None
        return connect_view(self, request, connection)

    def disconnect(self, request: HttpRequest, pk: str) -> HttpResponse:
        if not request.user.has_perm(MAY_DISCONNECT):
            raise PermissionDenied
        from apps.sources.admin.connecting import disconnect_view

        with_credentials = SourceConnection.objects.filter(stored_credentials__isnull=False)
        return disconnect_view(self, request, get_object_or_404(with_credentials, pk=pk))
