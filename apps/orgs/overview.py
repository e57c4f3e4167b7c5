"""An organization's overview: its plan and limits, what it has, and when its platform was last read."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, IntegerField, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    Organization,
    OrganizationCounts,
    Platform,
    Preview,
    Project,
    Status,
)
from apps.orgs.prepared import prepared
from apps.orgs.rows import Rows

MANY = 1000  # applications: so many are looked through in a millisecond or two
STALE_PERIODS = 3
MANIFEST_LASTS = 24 * 3600  # seconds after its asOf, where it says no staleAfter
NEVER = datetime.min.replace(tzinfo=UTC)
FOREVER = datetime(9999, 12, 31, tzinfo=UTC)
TICK = timedelta(microseconds=1)  # what a database keeps: the first moment after one
ORGANIZATION_COLUMNS = (
    "id", "name", "slug", "plan", "created_at", "project_limit", "app_limit", "domain_limit", "preview_limit",
    "default_connection_id",
)  # fmt: skip
COUNTED = ("projects", "domains", "previews")
KEPT = (
    "version__data_version",
    *(f"counts__{name}" for name in (*COUNTED, "data_version", "apps", "deployments", "counted_since")),
)


@dataclass(frozen=True, slots=True)
class Overview:
    """`organization` is its row with `projects`, `domains`, `previews` and `deployments_last_30_days` counted in."""

    organization: dict[str, Any]
    apps_by_status: dict[str, int]
    platform: dict[str, Any]


def visible_apps(organization_id: str) -> QuerySet[App]:
    """Applications but for the hidden ones, which are no longer there for anybody but operators."""
    return App.objects.filter(organization_id=organization_id, hidden_at__isnull=True)


def of_visible_apps(model: type[Deployment | Domain | Preview], organization_id: str) -> QuerySet[Any]:
    """The organization's rows that belong to applications which are there."""
    return without_hidden(model._default_manager.filter(organization_id=organization_id), organization_id)


def without_hidden(rows: QuerySet[Any], organization_id: str) -> QuerySet[Any]:
    """Those of `rows` whose application is there. Few are hidden, so both databases look for these first."""
    hidden = App.objects.filter(organization_id=organization_id, hidden_at__isnull=False)
    return rows.exclude(app_id__in=hidden.values("id"))


def overview_of(organization_id: str) -> Overview:
    """Three queries, however many rows there are; where counts are kept, however many rows are counted."""
    now = timezone.now()
    row = dict(Organization.objects.values(*ORGANIZATION_COLUMNS, *KEPT).get(id=organization_id))
    kept = {name.removeprefix("counts__"): row.pop(name) for name in KEPT}
    month_ago = now - timedelta(days=30)
    if _are_current(kept) and kept["counted_since"] <= month_ago.replace(minute=0, second=0, microsecond=0):
        row |= {name: kept[name] for name in COUNTED}
        row["deployments_last_30_days"] = _since(organization_id, month_ago, kept["deployments"])
        by_status = dict.fromkeys(Status.values, 0) | kept["apps"]
    else:
        row |= counted(organization_id, deployments_last_30_days=deployments_since(organization_id, month_ago))
        by_status = apps_by_status(organization_id)
    return Overview(row, by_status, _platform(organization_id))


def has_many_apps(organization_id: str) -> bool:
    """Whether it had many when that was counted last. Where nothing was counted, it has not."""
    return any(sum(kept["apps"].values()) > MANY for kept in _counts(organization_id).read())


@prepared
def _counts(organization_id: str) -> Rows:
    counts: QuerySet[Any] = OrganizationCounts.objects.filter(pk=organization_id)
    return Rows(counts.values("apps"), order=())


def _are_current(kept: dict[str, Any]) -> bool:
    return kept["data_version"] is not None and kept["data_version"] == kept["version__data_version"]


def _since(organization_id: str, moment: datetime, by_hour: dict[str, int]) -> int:
    """Whole hours as they were counted; of the hour in which it begins, the rest."""
    hour = hour_of(moment)
    number = sum(count for key, count in by_hour.items() if int(key) > hour)
    if str(hour) not in by_hour:
        return number
    return number + sum(row["number"] for row in _number_between(organization_id, moment, moment_of(hour + 1)).read())


@prepared
def _number_between(organization_id: str, since: datetime, until: datetime) -> Rows:
    """One row, or none, of deployments from `since` (inclusive) until `until` (exclusive)."""
    return Rows(_number(deployments_since(organization_id, since).filter(created_at__lt=until)), order=())


def hour_of(moment: datetime) -> int:
    """Hours since 1970, UTC."""
    return int(moment.timestamp() // 3600)


def moment_of(hour: int) -> datetime:
    return datetime.fromtimestamp(hour * 3600, UTC)


def deployments_since(organization_id: str, moment: datetime) -> QuerySet[Deployment]:
    return of_visible_apps(Deployment, organization_id).filter(created_at__gte=moment)


def counted(organization_id: str, **others: QuerySet[Any]) -> dict[str, int]:
    """How many projects, domains and previews there are, and how many of `others`. One query."""
    rows: dict[str, QuerySet[Any]] = {
        "projects": Project.objects.filter(organization_id=organization_id),
        "domains": of_visible_apps(Domain, organization_id),
        "previews": of_visible_apps(Preview, organization_id),
    } | others
    counts = {name: _count(some) for name, some in rows.items()}
    return dict(Organization.objects.values(**counts).get(id=organization_id))  # type: ignore[arg-type]


def _count(rows: QuerySet[Any]) -> Coalesce:
    return Coalesce(Subquery(_number(rows), output_field=IntegerField()), 0)


def _number(rows: QuerySet[Any]) -> QuerySet[Any, dict[str, Any]]:
    return rows.order_by().values(everything=Value(1)).annotate(number=Count("*")).values("number")


def apps_by_status(organization_id: str) -> dict[str, int]:
    numbers = visible_apps(organization_id).values_list("status").annotate(number=Count("*"))
    return dict.fromkeys(Status.values, 0) | dict(numbers.order_by())


def _platform(organization_id: str) -> dict[str, Any]:
    return platforms_of([organization_id])[organization_id]


def platforms_of(organization_ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Of each organization the platform that is read most often. One query.

    A deployment system before a manifest, the latest sync first; without any, what a manifest that never came tells.
    """
    disconnected = ~Q(kind=Platform.Kind.MANIFEST) & Q(sync_period__isnull=True, last_sync_at__isnull=True)
    platforms = sorted(
        Platform.objects.filter(organization_id__in=organization_ids)
        .exclude(disconnected)
        .order_by("id")
        .values(
            "organization_id", "kind", "version", "last_sync_at", "last_sync_status", "sync_period", "as_of",
            "stale_after",
        ),
        key=lambda platform: (platform["kind"] != Platform.Kind.MANIFEST, platform["last_sync_at"] or NEVER),
    )  # fmt: skip
    none = {
        "kind": Platform.Kind.MANIFEST.value, "version": None, "last_sync_at": None,
        "last_sync_status": Platform.SyncStatus.NEVER.value, "is_stale": False,
    }  # fmt: skip
    now = timezone.now()
    chosen = {
        platform["organization_id"]: platform | {"is_stale": now > synced_until(platform, platform["sync_period"])}
        for platform in platforms
    }
    return {id: chosen.get(id, none) for id in organization_ids}


def synced_until(platform: Mapping[str, Any], period: int | None) -> datetime:
    """The last moment at which what a platform tells without a time of its own is recent; `period` in seconds.

    A manifest is synced when somebody does: it is as old as it says itself, or does not age. Without a period nothing
    is expected, so that never ages either.
    """
    if platform["kind"] == Platform.Kind.MANIFEST:
        as_of, seconds = platform["as_of"], platform["stale_after"]
        return FOREVER if as_of is None else as_of + timedelta(seconds=MANIFEST_LASTS if seconds is None else seconds)
    if period is None:
        return FOREVER
    at = platform["last_sync_at"]
    return NEVER if at is None else at + timedelta(seconds=STALE_PERIODS * period)
