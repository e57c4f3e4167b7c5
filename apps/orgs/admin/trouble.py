"""The overview on the operators' first page, and the filters that show the rows which it counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from apps.orgs import trouble
from apps.orgs.admin.finding import organization_named
from apps.orgs.admin.paging import MoreThan
from apps.orgs.admin.parts import MAX_FOUND, first_keys, only
from apps.orgs.models import App, Deployment, Domain, Platform


class HealthFilter(admin.SimpleListFilter):
    title = "health"
    parameter_name = "health"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [("unhealthy", "Down or degraded"), ("down", "Down"), ("degraded", "Degraded")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in ("unhealthy", *trouble.UNHEALTHY):
            return queryset
        levels = trouble.UNHEALTHY if self.value() == "unhealthy" else (str(self.value()),)
        named = organization_named(request.GET.get("organization", ""))
        found = trouble.apps_with(levels, timezone.now(), named.pk if named else None)
        return only(request, queryset, list(found[: MAX_FOUND + 1]))


class CertificateFilter(admin.SimpleListFilter):
    title = "certificate"
    parameter_name = "certificate"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [("ending", "Ends within 21 days, or has ended")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() != "ending":
            return queryset
        found = trouble.domains_with_ending_certificates(timezone.now())
        if named := organization_named(request.GET.get("organization", "")):
            found = found.filter(organization=named)
        return only(request, queryset, list(found[: MAX_FOUND + 1]))


class RecentFilter(admin.SimpleListFilter):
    title = "time"
    parameter_name = "since"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [("24h", "The last 24 hours")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(trouble.recent(timezone.now())) if self.value() == "24h" else queryset


class SyncFilter(admin.SimpleListFilter):
    title = "sync"
    parameter_name = "sync"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [("unsynced", "Fails or lags")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() != "unsynced":
            return queryset
        return queryset.filter(pk__in=trouble.unsynced_platforms(timezone.now()).values("pk"))


@dataclass(frozen=True, slots=True)
class Concern:
    """One line of the overview: how many rows, and the list that shows these."""

    words: str
    number: int
    address: str


def _unhealthy() -> Any:
    return trouble.apps_with(trouble.UNHEALTHY, timezone.now())


def _count(rows: Any) -> int:
    number = len(list(rows[: MAX_FOUND + 1]))
    return MoreThan(MAX_FOUND) if number > MAX_FOUND else number


CONCERNS: list[tuple[str, Any, dict[str, str], Callable[[], Any]]] = [
    ("Applications down or degraded", App, {"health": "unhealthy"}, _unhealthy),
    (
        "Certificates that end within 21 days, or have ended",
        Domain,
        {"certificate": "ending"},
        lambda: trouble.domains_with_ending_certificates(timezone.now()),
    ),
    (
        "Deployments that failed in the last 24 hours",
        Deployment,
        {"since": "24h", "status__exact": "failed"},
        lambda: first_keys(trouble.failed_deployments(timezone.now()), ("-created_at", "-id")),
    ),
    (
        "Syncs that fail or lag",
        Platform,
        {"sync": "unsynced"},
        lambda: first_keys(trouble.unsynced_platforms(timezone.now())),
    ),
]


def concerns_of(site: admin.AdminSite, request: HttpRequest) -> list[Concern]:
    """What this operator may see of them."""
    return [
        Concern(words, _count(rows()), _list_of(model, narrowed))
        for words, model, narrowed, rows in CONCERNS
        if site.get_model_admin(model).has_view_permission(request)
    ]


def _list_of(model: Any, narrowed: dict[str, str]) -> str:
    return f"{reverse(f'admin:orgs_{model._meta.model_name}_changelist')}?{urlencode(narrowed)}"
