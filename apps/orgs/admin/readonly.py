"""What every list and every row of an organization has in common in the admin.

A synced row is read-only. One without a platform was entered manually: it may be edited or deleted.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.admin.views.main import ALL_VAR, ERROR_FLAG, PAGE_VAR, ChangeList
from django.core.exceptions import FieldDoesNotExist
from django.db.models import JSONField, Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from apps.orgs.admin.finding import (
    OrganizationFilter,
    by_id,
    has_column,
    known_as,
    organization_named,
    organization_picker,
)
from apps.orgs.admin.labels import HELP_TEXTS, LABELS
from apps.orgs.admin.paging import BoundedChangeList, CappedPaginator
from apps.orgs.admin.parts import contains, exactly, first_keys, keys_by_part, only, walked
from apps.orgs.text import fold

OF_SEARCHES = {"q", "organization", PAGE_VAR, ALL_VAR, ERROR_FLAG}  # what narrows no further


class ListAdmin(admin.ModelAdmin):
    """A list that stays fast at 1,000,000 rows: nothing is counted to the end, sorted at will or changed in bulk."""

    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()
    list_per_page = 50
    actions = None
    view_on_site = False  # none of these rows has a page of its own outside the admin

    @property
    def media(self) -> Any:
        return super().media + organization_picker().media

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return BoundedChangeList

    def get_form(self, request: HttpRequest, obj: Model | None = None, change: bool = False, **kwargs: Any) -> Any:
        words = {"labels": LABELS, "help_texts": HELP_TEXTS}
        return super().get_form(request, obj, change=change, **words | kwargs)


class ReadOnlyAdminMixin:
    """Mixed into an admin or an inline: nothing can be added, changed or deleted."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class OwnedAdmin(ListAdmin):
    """Rows of organizations.

    `ids` names the column for each prefix of an id that the search understands, `parts` the columns in which it looks
    for a part of a name. `order_within` is the order of a list narrowed to one organization or to what such an id
    names; in other lists, `order`, one organization's rows follow another's: that is how the indexes have them.
    """

    ids: Mapping[str, str] = {}
    parts: tuple[str, ...] = ("sort_key",)
    order_within: tuple[str, ...] = ("sort_key", "id")
    order: tuple[str, ...] = ()
    list_filter: ClassVar[Any] = (OrganizationFilter,)
    search_fields = ("id",)  # shows the search box; get_search_results says what it does
    search_help_text = "A part of a name (case-insensitive), an id, or an external id."

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        is_narrow = request.GET.get("organization") or request.GET.get("q", "").strip()[:3] in self.ids
        return self.order_within if is_narrow else self.order or ("organization_id", *self.order_within)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        found = by_id(queryset, {"org": "organization_id"} | dict(self.ids), term)
        return (self._by_words(request, queryset, term) if found is None else found), False

    def _by_words(self, request: HttpRequest, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        """The rows whose platform calls them exactly this, and those with this in a name."""
        everywhere, named = self.model._default_manager.all(), request.GET.get("organization", "")
        organization = organization_named(named) if named.strip() else None
        known = known_as(everywhere, term, organization) if has_column(self.model, "external_id") else []
        condition, order = contains(self.parts, fold(term)), self.get_ordering(request)
        if organization:
            everywhere, condition = everywhere.filter(organization_id=organization.pk), walked(condition)
        if set(request.GET) <= OF_SEARCHES:  # no other filter leaves anything out
            return exactly(request, queryset, known + first_keys(everywhere.filter(condition), order))
        return only(request, queryset, known + keys_by_part(queryset, condition, everywhere=everywhere, order=order))

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        names = flatten_fieldsets(self.get_fieldsets(request, obj))
        return [name for name in names if not _is_plain(self.model, str(name))]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_by_hand(obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_by_hand(obj) and super().has_delete_permission(request, obj)


def is_by_hand(row: Any) -> bool:
    # A template of the catalogue has no platform, but an id that its file gives it.
    return row is not None and row.platform_id is None and getattr(row, "external_id", None) is None


def _is_plain(model: type[Model], name: str) -> bool:
    """Whether a column can be typed in: what ties a row to others stays, so that none leaves its organization."""
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    return bool(field.editable) and not field.is_relation and not isinstance(field, JSONField)


def links(targets: Iterable[tuple[str, str, Mapping[str, str]]]) -> SafeString:
    """Links to lists: (words, model's name, what the list is narrowed by)."""
    addresses = (
        (f"{reverse(f'admin:orgs_{model}_changelist')}?{urlencode(narrowed)}", words)
        for words, model, narrowed in targets
    )
    return format_html_join(" · ", '<a href="{}">{}</a>', addresses)
