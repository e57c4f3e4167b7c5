"""An organization's overview: its plan and limits, what it has, and when its platform was last read."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, IntegerField, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.orgs.models import App, Deployment, Domain, Organization, Platform, Preview, Project, Status

STALE_PERIODS = 3
NEVER = datetime.min.replace(tzinfo=UTC)


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
    """Rows that belong to applications. Few of these are hidden, so both databases look for them first."""
    hidden = App.objects.filter(organization_id=organization_id, hidden_at__isnull=False)
    rows: QuerySet[Any] = model._default_manager.filter(organization_id=organization_id)
    return rows.exclude(app_id__in=hidden.values("id"))


def overview_of(organization_id: str) -> Overview:
    """Three queries, however many rows there are."""
    return Overview(_organization(organization_id), _apps_by_status(organization_id), _platform(organization_id))


def _organization(organization_id: str) -> dict[str, Any]:
    month_ago = timezone.now() - timedelta(days=30)
    recent = of_visible_apps(Deployment, organization_id).filter(created_at__gte=month_ago)
    row = Organization.objects.values(
        "id", "name", "slug", "plan", "created_at", "project_limit", "app_limit", "domain_limit", "preview_limit",
        "default_connection_id",
        projects=_count(Project.objects.filter(organization_id=organization_id)),
        domains=_count(of_visible_apps(Domain, organization_id)),
        previews=_count(of_visible_apps(Preview, organization_id)),
        deployments_last_30_days=_count(recent),
    ).get(id=organization_id)  # fmt: skip
    return dict(row)


def _count(rows: QuerySet[Any]) -> Coalesce:
    counted = rows.order_by().values(everything=Value(1)).annotate(number=Count("*")).values("number")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _apps_by_status(organization_id: str) -> dict[str, int]:
    counted = visible_apps(organization_id).values_list("status").annotate(Count("id"))
    return dict.fromkeys(Status.values, 0) | dict(counted.order_by())


def _platform(organization_id: str) -> dict[str, Any]:
    """The platform that is read most often: a deployment system before a manifest, the latest sync first."""
    disconnected = ~Q(kind=Platform.Kind.MANIFEST) & Q(sync_period__isnull=True, last_sync_at__isnull=True)
    platforms = sorted(
        Platform.objects.filter(organization_id=organization_id)
        .exclude(disconnected)
        .order_by("id")
        .values("kind", "version", "last_sync_at", "last_sync_status", "sync_period"),
        key=lambda platform: (platform["kind"] != Platform.Kind.MANIFEST, platform["last_sync_at"] or NEVER),
    )
    if not platforms:
        return {
            "kind": Platform.Kind.MANIFEST.value, "version": None, "last_sync_at": None,
            "last_sync_status": Platform.SyncStatus.NEVER.value, "is_stale": False,
        }  # fmt: skip
    chosen = platforms[-1]
    return chosen | {"is_stale": is_sync_stale(chosen["kind"], chosen["last_sync_at"], chosen["sync_period"])}


def is_sync_stale(kind: str | None, last_sync_at: datetime | None, period: int | None) -> bool:
    """Whether the last sync is too old to rely on. A manifest is synced when somebody does, so never."""
    return kind != Platform.Kind.MANIFEST and is_stale(last_sync_at, period)


def is_stale(at: datetime | None, period: int | None) -> bool:
    """Whether a fact is older than three periods (seconds). Without a period nothing is expected, so never."""
    if period is None:
        return False
    return at is None or timezone.now() - at > timedelta(seconds=STALE_PERIODS * period)
