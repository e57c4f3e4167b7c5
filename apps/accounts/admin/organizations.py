"""Organizations with their quotas, default connection and members."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.apps import apps
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.accounts.admin.people import MembersInline, NewMemberInline
from apps.orgs.admin.deletion import summary_of
from apps.orgs.admin.finding import by_id
from apps.orgs.admin.parts import contains, exactly, first_keys
from apps.orgs.admin.readonly import ListAdmin, links
from apps.orgs.models import Organization, SourceConnection
from apps.orgs.text import fold

# More forms than this on one page would pass the number of fields that a request may have.
MEMBERS_ON_PAGE = 100
RELATED = (
    ("Projects", "project"),
    ("Environments", "environment"),
    ("Applications", "app"),
    ("Domains", "domain"),
    ("Previews", "preview"),
    ("Deployments", "deployment"),
    ("Variable names", "envvarname"),
    ("Secret names", "orgsecretname"),
    ("Connections", "sourceconnection"),
    ("Templates", "template"),
    ("Members", "membership"),
    ("Invitations", "invitation"),
    ("Platforms", "platform"),
)


class OrganizationForm(forms.ModelForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "slug" in self.fields:
            self.fields["slug"].help_text = "Lowercase letters, digits and hyphens. It cannot be changed later."
        if "default_connection" in self.fields:
            own = SourceConnection.objects.filter(organization=self.instance).order_by("sort_key", "id")
            self.fields["default_connection"].queryset = own  # type: ignore[attr-defined]
        if "allows_script_tokens" in self.fields:
            self.fields["allows_script_tokens"].help_text = _what_forbidding_ends(self.instance)


def _what_forbidding_ends(organization: Organization) -> SafeString:
    # By its name: accounts and oauthmcp know nothing of each other, but operators forbid tokens on this page.
    tokens = apps.get_model("oauthmcp.Authorization")._default_manager.not_ended()
    number = tokens.filter(membership__organization=organization.pk, script_token__isnull=False).count()
    address = f"{reverse('admin:oauthmcp_scripttoken_changelist')}?{urlencode({'organization': organization.slug})}"
    words = 'Whether members may make tokens for scripts. Without the tick, <a href="{}">{}</a> at once and for good.'
    return format_html(words, address, "1 token ends" if number == 1 else f"{number} tokens end")


@admin.register(Organization)
class OrganizationAdmin(ListAdmin):
    form = OrganizationForm
    list_display = ("name", "slug", "plan", "synced_at", "created_at")
    ordering = ("slug",)
    search_fields = ("slug",)
    search_help_text = "A part of the name or the slug, or an id."
    readonly_fields = ("related", "id", "created_at", "synced_at")
    new = ((None, {"fields": ("slug", "name")}),)
    fieldsets = (
        (None, {"fields": ("name", "slug", "plan", "default_connection", "allows_script_tokens", "related")}),
        ("Quotas", {"fields": ("project_limit", "app_limit", "domain_limit", "preview_limit")}),
        ("Record", {"fields": ("id", "created_at", "synced_at")}),
    )

    @admin.display(description="Related")
    def related(self, organization: Organization) -> SafeString:
        return links((words, model, {"organization": organization.slug}) for words, model in RELATED)

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fieldsets if obj else self.new

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return (*self.readonly_fields, "slug") if obj else ()

    def get_inlines(self, request: HttpRequest, obj: Any) -> list[Any]:
        if obj is None:
            return []
        is_short = obj.memberships.all()[: MEMBERS_ON_PAGE + 1].count() <= MEMBERS_ON_PAGE
        return [MembersInline, NewMemberInline] if is_short else [NewMemberInline]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        found = by_id(queryset, {"org": "id"}, term)
        if found is None:
            condition = contains(("slug", "search_key"), fold(term))
            found = exactly(request, queryset, first_keys(queryset.filter(condition), self.ordering))
        return found, False

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        return summary_of(objs, lambda row: f"{row.name} ({row.slug})")
