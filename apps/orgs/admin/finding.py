"""How operators find rows: by an organization's slug, an id, the platform's id, or the beginning of a name.

All of these can use an index; "contains" could not.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from apps.orgs import ids
from apps.orgs.models import Organization, Platform
from apps.orgs.models.organizations import SLUG
from apps.orgs.text import fold

AN_ID = re.compile(rf"[a-z]{{3}}_{ids.PATTERN}\Z")
LAST_CHARACTER = "\U0010ffff"


class OrganizationFilter(admin.SimpleListFilter):
    """A box for the slug instead of a list of every organization there is."""

    title = "organization"
    parameter_name = "organization"
    template = "admin/organization_filter.html"
    column = "organization_id"

    def lookups(self, request: HttpRequest, model_admin: Any) -> tuple[()]:
        return ()

    def has_output(self) -> bool:
        return True

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """One choice: what the box holds, and what else the address says."""
        others = {name: value for name, value in changelist.params.items() if name != PAGE_VAR}
        yield {
            "slug": self.value() or "",
            "others": others | ({"q": changelist.query} if changelist.query else {}),
            "without": changelist.get_query_string(remove=[self.parameter_name]),
        }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        slug = (self.value() or "").strip().lower()
        if not slug:
            return queryset
        if not SLUG.regex.match(slug):  # type: ignore[union-attr]
            return queryset.none()
        # The id itself rather than a join: it lets both databases walk the organization's own index.
        id = Organization.objects.filter(slug=slug).values_list("id", flat=True).first()
        return queryset.filter(**{self.column: id}) if id else queryset.none()


def by_id(rows: QuerySet[Any], columns: Mapping[str, str], term: str) -> QuerySet[Any] | None:
    """The rows that an id names, by the column for its prefix; None where `term` is no id of these kinds."""
    column = columns.get(term[:3])
    return rows.filter(**{column: term}) if column and AN_ID.match(term) else None


def by_words(rows: QuerySet[Any], term: str) -> QuerySet[Any]:
    """The rows whose platform calls them exactly this, or whose name begins like this."""
    return rows.filter(_external_id(rows.model, term) | _name_prefix(rows.model, term))


def _external_id(model: type[Model], term: str) -> Q:
    if not _has(model, "external_id"):
        return Q(pk__in=())
    # Every platform's id, because the index begins with it.
    return Q(platform_id__in=Platform.objects.values("id"), external_id=term)


def _name_prefix(model: type[Model], term: str) -> Q:
    # A range, not LIKE: SQLite's LIKE ignores case and so cannot use the index.
    for column in ("sort_key", "host"):
        if _has(model, column):
            return Q(**{f"{column}__gte": fold(term), f"{column}__lt": fold(term) + LAST_CHARACTER})
    return Q(pk__in=())


def _has(model: type[Model], column: str) -> bool:
    return any(field.name == column for field in model._meta.concrete_fields)
