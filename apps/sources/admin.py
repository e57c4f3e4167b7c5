"""Source connections: the accounts at git hosts that applications are built from."""

from django.contrib import admin
from django.utils.safestring import SafeString

from apps.orgs.admin.readonly import OwnedAdmin, links
from apps.orgs.models import SourceConnection


@admin.register(SourceConnection)
class SourceConnectionAdmin(OwnedAdmin):
    ids = {"con": "id"}
    list_display = ("name", "type", "account_login", "organization", "credentials")
    list_select_related = ("organization",)
    fields = (
        "name", "type", "account_login", "base_url", "credentials", "organization", "related", "platform",
        "external_id", "id",
    )  # fmt: skip

    @admin.display(description="Related")
    def related(self, connection: SourceConnection) -> SafeString:
        return links([("Applications", "app", {"q": connection.id})])
