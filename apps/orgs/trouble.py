"""What operators should look at, in every organization: rows in trouble, found by an index that begins with it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import (
    BooleanField,
    Case,
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    Func,
    Q,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThanOrEqual
from django.db.models.query import QuerySet

from apps.orgs.certificates import EXPIRING
from apps.orgs.models import Deployment, EdgeFact, HealthTimetable, Platform
from apps.orgs.overview import MANIFEST_LASTS, STALE_PERIODS
from apps.orgs.timetables import STEPS

Holds, Level = HealthTimetable.Holds, HealthTimetable.Level
UNHEALTHY = (Level.DOWN.value, Level.DEGRADED.value)
RECENTLY = timedelta(days=1)


def apps_with(levels: Sequence[str], now: datetime, organization_id: str | None = None) -> QuerySet[Any]:
    """The ids of applications, but for hidden ones, whose health is one of these levels."""
    timetables = HealthTimetable.objects.alias(is_synced=_is_synced(now, "platform__", "period"))
    timetables = timetables.filter(
        Q(holds=Holds.ALWAYS) | Q(holds=Holds.SYNCED, is_synced=True) | Q(holds=Holds.UNSYNCED, is_synced=False),
        app__hidden_at__isnull=True,
    ).order_by()
    if organization_id is not None:
        timetables = timetables.filter(organization_id=organization_id)
    arms = []
    for step in STEPS:
        began = {f"until_{step - 1}__lte": now} if step > 1 else {}
        arm = timetables.filter(**{f"level_{step}__in": levels, f"until_{step}__gt": now}, **began)
        arms.append(arm.values_list("app_id", flat=True))
    return arms[0].union(*arms[1:], all=True)


def domains_with_ending_certificates(now: datetime) -> QuerySet[Any]:
    """The ids of enabled domains whose certificate ends within 21 days or has ended, the first to end first."""
    ending = EdgeFact.objects.filter(
        tls_not_after__lt=now + EXPIRING, domain__is_enabled=True, domain__app__hidden_at__isnull=True
    )
    return ending.order_by("tls_not_after", "pk").values_list("pk", flat=True)


def recent(now: datetime) -> Q:
    """Of deployments: created in the last 24 hours."""
    return Q(created_at__gte=now - RECENTLY)


def failed_deployments(now: datetime) -> QuerySet[Deployment]:
    return Deployment.objects.filter(recent(now), status=Deployment.Status.FAILED)


def unsynced_platforms(now: datetime) -> QuerySet[Platform]:
    """Whose last sync failed, or whose last good one is too long ago (three periods; as a manifest says itself)."""
    rows = Platform.objects.alias(is_synced=_is_synced(now, "", "sync_period"))
    lags = (Q(kind=Platform.Kind.MANIFEST) | Q(sync_period__isnull=False)) & Q(is_synced=False)
    return rows.filter(lags | Q(last_sync_status=Platform.SyncStatus.ERROR))


def _is_synced(now: datetime, platform: str, period: str) -> Case:
    """Whether what a platform told is recent: `synced_until` of `apps.orgs.overview` in SQL; `platform` is its path."""
    is_manifest = Q(**{f"{platform}kind": Platform.Kind.MANIFEST})
    told = _not_over(f"{platform}as_of", Coalesce(F(f"{platform}stale_after"), MANIFEST_LASTS), 1, now)
    synced = _not_over(f"{platform}last_sync_at", F(period), STALE_PERIODS, now)
    return Case(
        When(is_manifest & Q(**{f"{platform}as_of__isnull": True}), then=True),
        When(is_manifest & Q(told), then=True),
        When(~is_manifest & Q(synced), then=True),
        default=False,
        output_field=BooleanField(),
    )


class Seconds(Func):
    """A number of seconds as a duration, which the databases have in forms of their own."""

    template = "MAKE_INTERVAL(secs => %(expressions)s)"
    output_field = DurationField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="((%(expressions)s) * 1000000)", **context)


def _not_over(moment: str, seconds: Combinable, times: int, now: datetime) -> GreaterThanOrEqual:
    until = ExpressionWrapper(F(moment) + Seconds(seconds * Value(times)), output_field=DateTimeField())
    return GreaterThanOrEqual(until, Value(now, output_field=DateTimeField()))
