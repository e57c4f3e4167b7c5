"""How operators find rows: by an organization, an id, the platform's id, or a part of a name."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest

from apps.orgs import ids
from apps.orgs.admin.parts import MAX_FOUND, first_keys
from apps.orgs.models import Membership, Organization, Platform, User
from apps.orgs.models.organizations import SLUG
from apps.orgs.models.people import fold_email

MANY = 20_000
AN_ID = re.compile(rf"[a-z]{{3}}_{ids.PATTERN}\Z")


def organization_picker() -> AutocompleteSelect:
    """A box that looks organizations up by a part of their name, as the admin's forms do."""
    return AutocompleteSelect(Membership._meta.get_field("organization"), admin.site)


def organization_named(text: str) -> Organization | None:
    """By its slug or its id."""
    term = text.strip().lower()
    if AN_ID.match(term):
        return Organization.objects.filter(pk=term).first()
    return Organization.objects.filter(slug=term).first() if SLUG.regex.match(term) else None  # type: ignore[union-attr]


class OrganizationFilter(admin.SimpleListFilter):
    """A box that finds an organization by its name, instead of a list of every organization there is."""

    title = "organization"
    parameter_name = "organization"
    template = "admin/organization_filter.html"
    column = "organization_id"

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        super().__init__(request, *args)
        self.can_look_up = request.user.has_perm("orgs.view_organization")
        self.organization = organization_named(self.value() or "") if self.value() else None

    def lookups(self, request: HttpRequest, model_admin: Any) -> tuple[()]:
        return ()

    def has_output(self) -> bool:
        return True

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """One choice: what the box holds, and what else the address says."""
        others = {name: value for name, value in changelist.params.items() if name != PAGE_VAR}
        yield {
            "value": self.value() or "",
            "organization": self.organization,
            "attributes": organization_picker().build_attrs({}) if self.can_look_up else None,
            "others": others | ({"q": changelist.query} if changelist.query else {}),
            "without": changelist.get_query_string(remove=[self.parameter_name]),
        }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not (self.value() or "").strip():
            return queryset
        # The id itself rather than a join: it lets both databases walk the organization's own index.
        return self.narrow(queryset, self.organization.pk) if self.organization else queryset.none()

    def narrow(self, queryset: QuerySet[Any], organization_id: str) -> QuerySet[Any]:
        return queryset.filter(**{self.column: organization_id})


class DistantOrganizationFilter(OrganizationFilter):
    """Of rows that are an organization's by way of a membership, `membership`.

    Where it has few of them, a walk in the order of the list would not meet these; where it has many, sorting them
    takes longer than the walk, and SQLite would sort.
    """

    membership = "membership"

    def narrow(self, queryset: QuerySet[Any], organization_id: str) -> QuerySet[Any]:
        rows = queryset.filter(**{f"{self.membership}__organization_id": organization_id})
        keys = first_keys(rows)
        if len(keys) <= MAX_FOUND:
            return queryset.filter(pk__in=keys)
        if rows.order_by()[: MANY + 1].count() <= MANY:
            return rows
        members = Membership.objects.filter(pk=OuterRef(f"{self.membership}_id"), organization_id=organization_id)
        return queryset.filter(Exists(members))


def by_id(rows: QuerySet[Any], columns: Mapping[str, str], term: str) -> QuerySet[Any] | None:
    """The rows that an id names, by the column for its prefix; None where `term` is no id of these kinds."""
    column = columns.get(term[:3])
    return rows.filter(**{column: term}) if column and AN_ID.match(term) else None


def known_as(rows: QuerySet[Any], external_id: str, organization: Organization | None) -> list[Any]:
    """The keys of rows that their platform calls exactly this, in the organization if there is one.

    That is seen afterwards: told of it, SQLite would walk all rows of the organization.
    """
    # Every platform's id, because the index begins with it.
    found = rows.filter(platform_id__in=Platform.objects.values("id"), external_id=external_id).order_by()
    keys = found.values_list("pk", "organization_id")[: MAX_FOUND + 1]
    return [key for key, owner in keys if organization is None or owner == organization.pk]


def people_like(request: HttpRequest, term: str) -> list[Any]:
    """The keys of those whose e-mail address has this in it; of many, of those in the organization that is chosen."""
    people = User.objects.filter(email__contains=fold_email(term))
    keys = first_keys(people, ("pk",))
    if len(keys) > MAX_FOUND and (organization := organization_named(request.GET.get("organization", ""))):
        return first_keys(people.filter(memberships__organization=organization), ("pk",))
    return keys


def has_column(model: Any, column: str) -> bool:
    return any(field.name == column for field in model._meta.concrete_fields)
