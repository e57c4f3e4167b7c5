"""Health as it is at a moment, from the timetables of applications, in SQL."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from math import ceil
from typing import Any

from django.db import connection
from django.db.models import Case, CharField, Count, DateTimeField, F, FilteredRelation, Func, Min, Q, QuerySet, When

from apps.orgs.conditions import FEW, Condition
from apps.orgs.models import App, HealthTimetable, Platform
from apps.orgs.overview import FOREVER, MANY, NEVER, STALE_PERIODS, TICK, has_many_apps, synced_until
from apps.orgs.platform_times import PlatformTimes, SeenPlatforms, times_of, utc_from
from apps.orgs.prepared import prepared
from apps.orgs.rows import MicrosecondText, Row, Rows, columns_of
from apps.orgs.timetables import STEPS

HEALTH_ENDS = ("health_until", "health_recent")  # until when health is what it is: see Clock.changes_at
Holds = HealthTimetable.Holds


class Recent(Func):
    """Of a timetable's `holds`, `platform_id` and `period`: the last two where it holds while a sync is recent."""

    output_field = CharField(null=True)

    def as_sql(self, compiler: Any, connection: Any, **context: Any) -> Any:  # type: ignore[override]
        compiled = map(compiler.compile, self.get_source_expressions())
        (holds, platform, period), parameters = zip(*compiled, strict=True)
        told = f"{platform} || ' ' || coalesce({period} || '', '')"
        return f"CASE WHEN {holds} = '{Holds.SYNCED}' THEN {told} END", tuple(chain(*parameters))


@dataclass(frozen=True, slots=True)
class PlatformThen:
    """Which timetables hold of those that are as old as this platform's last good sync.

    Those for a recent sync, or those for one that is not. With None, where `is_recent` is of each timetable: the former
    where its own period is at least `period`. Those for a recent one hold until `until`, or for periods after `synced`.
    """

    id: int
    is_recent: bool | None
    period: int | None = None
    synced: datetime | None = None
    until: datetime | None = None

    def recent_until(self, period: int | None) -> datetime:
        """The last moment at which its sync is recent for a timetable of this period (`overview.synced_until`)."""
        if self.until is not None or period is None:
            return self.until or FOREVER
        return NEVER if self.synced is None else self.synced + timedelta(seconds=STALE_PERIODS * period)


@dataclass(frozen=True, slots=True)
class Clock:
    """A moment in an organization: which timetables hold then, by its platforms as they were seen."""

    organization_id: str
    now: datetime
    platforms: tuple[PlatformThen, ...]

    @classmethod
    def of(cls, organization_id: str, platforms: str, now: datetime) -> "Clock":
        """`platforms` as a column SeenPlatforms tells them."""
        return cls(organization_id, now, tuple([_then(platform, now) for platform in times_of(platforms)]))

    @property
    def holding(self) -> Q:
        return _holding(self.platforms)

    @property
    def kinds(self) -> tuple[str, ...]:
        kinds = {Holds.ALWAYS.value}
        for platform in self.platforms:
            kinds |= {Holds.SYNCED.value} if platform.is_recent is not False else set()
            kinds |= {Holds.UNSYNCED.value} if platform.is_recent is not True else set()
        return tuple(sorted(kinds))

    def changes_at(self, apps: Sequence[Row]) -> datetime:
        """The first moment at which time alone may give one of these another health: rows with HEALTH_ENDS."""
        if not apps:
            return FOREVER
        platforms = {platform.id: platform for platform in self.platforms}
        ends, syncs = zip(*columns_of(apps, HEALTH_ENDS), strict=True)
        moments = [utc_from(min(filter(None, ends), default="")) or FOREVER]
        for platform, _, period in (sync.partition(" ") for sync in set(syncs) if sync):
            until = platforms[int(platform)].recent_until(int(period) if period else None)
            moments += [until + TICK] if until < FOREVER else []
        return min(moments)

    def anything_changes_at(self) -> datetime:
        """The same of all the organization's applications. `now` where there are too many to be looked through.

        Where some count says so already nothing is looked at: it may be an old one, as `now` is never too late.
        """
        if has_many_apps(self.organization_id):
            return self.now
        of_each_platform = _ends(self).read()
        is_all = sum(row["number"] for row in of_each_platform) <= MANY
        return self.changes_at(of_each_platform) if is_all else self.now


@prepared
def _ends(clock: Clock) -> Rows:
    holding = HealthTimetable.objects.filter(clock.holding, organization_id=clock.organization_id)
    # In the order of an index, so that PostgreSQL does not read the table to find so few.
    first = holding.order_by("holds", "level_1", "until_1").values("pk")[: MANY + 1]
    some = HealthTimetable.objects.filter(pk__in=first)
    by_platform: QuerySet[Any, Any] = some.values("platform_id", "holds").order_by()
    recent = Recent(F("holds"), F("platform_id"), Min("period"))
    ends = {"health_until": MicrosecondText(Min(_now(clock.now, "until", ""))), "health_recent": recent}
    return Rows(by_platform.annotate(**ends, number=Count("pk")), order=())


def _holding(platforms: Iterable[PlatformThen]) -> Q:
    holding = Q(holds=Holds.ALWAYS)
    for platform in platforms:
        of_it = Q(platform_id=platform.id)
        period = platform.period
        if platform.is_recent is not False:
            holding |= of_it & Q(holds=Holds.SYNCED) & (Q() if period is None else Q(period__gte=period))
        if platform.is_recent is not True:
            holding |= of_it & Q(holds=Holds.UNSYNCED) & (Q() if period is None else Q(period__lt=period))
    return holding


def _then(platform: PlatformTimes, now: datetime) -> PlatformThen:
    if platform.kind == Platform.Kind.MANIFEST:
        until = synced_until(platform._asdict(), None)
        return PlatformThen(platform.id, now <= until, until=until)
    if platform.last_sync_at is None:
        return PlatformThen(platform.id, False)
    microseconds = (now - platform.last_sync_at) // TICK
    period = max(0, ceil(microseconds / (STALE_PERIODS * 1_000_000)))  # the least that is recent still
    return PlatformThen(platform.id, None, period, synced=platform.last_sync_at)


def count_by_health(organization_ids: Collection[str], now: datetime) -> dict[str, dict[str, int]]:
    """Of each of these organizations how many applications have which health. Three queries, however many there are.

    Hidden applications do not count; of those that have no timetable yet nothing is known.
    """
    apps_there = App.objects.filter(organization_id__in=organization_ids, hidden_at__isnull=True).order_by()
    numbers = apps_there.values_list("organization_id").annotate(Count("id"))
    platforms = Platform.objects.filter(organization_id__in=organization_ids).order_by("pk")
    times = map(PlatformTimes._make, platforms.values_list(*PlatformTimes._fields))
    holding = _holding(_then(platform, now) for platform in times)
    timetables = HealthTimetable.objects.filter(holding, organization_id__in=organization_ids, app__hidden_at=None)
    counted = timetables.values("organization_id", health=_now(now, "level", "")).annotate(number=Count("app_id"))
    counts: dict[str, dict[str, int]] = {id: dict.fromkeys(HealthTimetable.Level.values, 0) for id in organization_ids}
    for row in counted.order_by():
        counts[row["organization_id"]][row["health"]] = row["number"]
    for id, number in numbers:
        counts[id][HealthTimetable.Level.UNKNOWN] += max(0, number - sum(counts[id].values()))
    return counts


def with_health(rows: QuerySet[Any], clock: Clock) -> QuerySet[Any]:
    """Applications with `health` and `health_reason` as they are at that moment, and HEALTH_ENDS.

    `platforms_seen` are those that are there: where the clock is not of these, it has to be read anew.
    """
    timetable = FilteredRelation("timetables", condition=_within(clock.holding, "timetables__"))
    return rows.annotate(
        timetable=timetable, health=_now(clock.now, "level"), health_reason=_now(clock.now, "reason"),
        health_until=MicrosecondText(_now(clock.now, "until")),
        health_recent=Recent(F("timetable__holds"), F("timetable__platform_id"), F("timetable__period")),
        platforms_seen=SeenPlatforms(clock.organization_id),
    )  # fmt: skip


def _within(condition: Q, path: str) -> Q:
    """The same condition on a relation."""
    children: list[Any] = list(condition.children)  # conditions, and pairs of a column and its value
    children = [_within(it, path) if isinstance(it, Q) else (f"{path}{it[0]}", it[1]) for it in children]
    return Q(*children, _connector=condition.connector, _negated=condition.negated)


def _now(now: datetime, name: str, path: str = "timetable__") -> Case:
    begun = [When(**{f"{path}until_{step}__gt": now}, then=F(f"{path}{name}_{step}")) for step in STEPS[:-1]]
    last: Any = F(f"{path}{name}_{STEPS[-1]}")
    kind = DateTimeField if name == "until" else CharField
    return Case(*begun, default=last, output_field=kind(null=True))


def has_health(clock: Clock, levels: Sequence[str], others: Sequence[str]) -> Condition:
    """That an application (of `with_health`) has one of these levels at that moment. `others`: all but these."""
    # Said by the others: PostgreSQL takes that one expression has a value for rare, and would sort all applications.
    found = Rows(_candidates(clock, levels), order=(), names={"app_id": "id"})
    return Condition(Q(health__isnull=False) & ~Q(health__in=others), found)


def _candidates(clock: Clock, levels: Sequence[str]) -> QuerySet[Any]:
    """The ids of applications that may have one of these levels: each step of timetables by an index of its own.

    Where there are more than FEW it is not all of them.
    """
    of_organization = HealthTimetable.objects.filter(organization_id=clock.organization_id, holds__in=clock.kinds)
    of_organization = of_organization.filter(clock.holding).order_by()
    arms = []
    for step in STEPS:
        began = {f"until_{step - 1}__lte": clock.now} if step > 1 else {}
        arm = of_organization.filter(**{f"level_{step}__in": levels, f"until_{step}__gt": clock.now}, **began)
        arms.append(arm.values("app_id"))
    if connection.features.supports_slicing_ordering_in_compound:
        # PostgreSQL would look up all of a level before it tells the first. SQLite never does, and takes no such limit.
        arms = [arm[: FEW + 1] for arm in arms]
    return arms[0].union(*arms[1:], all=True)
