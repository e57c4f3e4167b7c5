"""The timetable of each application's health: what follows if nothing else is learnt, kept up to date and read in SQL.

It is a function of the stored facts alone, never of when it was worked out: writing the same facts writes nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from django.apps import apps
from django.db import connection, transaction
from django.db.models import (
    Case,
    CharField,
    Count,
    DateTimeField,
    F,
    FilteredRelation,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    When,
)
from django.utils import timezone

from apps.orgs.health import TICK, Facts, facts_of, judge
from apps.orgs.models import App, HealthTimetable, Platform
from apps.orgs.models.versioned import raise_for_health
from apps.orgs.narrowing import Condition
from apps.orgs.overview import FOREVER, NEVER, STALE_PERIODS, synced_until
from apps.orgs.prepared import prepared
from apps.orgs.rows import Row, Rows, columns_of

STEPS = (1, 2, 3, 4)
BATCH = 500
MANY = 1000  # timetables: so many are looked through in less than a millisecond
MAX_DOMAINS_JUDGED = 1000  # of an application's domains
Holds = HealthTimetable.Holds
OF_PLATFORM = ("platform_id", *(f"platform__{name}" for name in ("kind", "last_sync_at", "as_of", "stale_after")))
RUNTIME_COLUMNS = (
    "runtime__app_id",
    *(f"runtime__{n}" for n in ("desired_replicas", "running_replicas", "checked_at", "period", *OF_PLATFORM)),
)
EDGE_COLUMNS = tuple(
    f"edge__{name}"
    for name in (
        "reachable", "http_status", "dns_status", "tls_not_after", "tls_is_valid", "checked_at", "period", *OF_PLATFORM,
    )
)  # fmt: skip
STEP_COLUMNS = tuple(f"{name}_{step}" for step in STEPS for name in ("level", "reason", "until"))
HEALTH_ENDS = ("health_until", "health_holds", "health_period", "health_platform")  # until when health is what it is
BY_APP = ("app_id", "host", "path", "id")
COLUMNS = ("organization_id", "platform_id", "period", *STEP_COLUMNS)
TOLD_COLUMNS = tuple(name for name in COLUMNS if not name.startswith("until_"))
PLATFORM_COLUMNS = ("id", "kind", "last_sync_at", "as_of", "stale_after")


# Facts as they are stored


def stored_facts(app_ids: Collection[str], registry: Any = apps) -> Iterator[tuple[Row, list[Row], Facts]]:
    """Of each application that is there its row, its domains' rows and its facts, in two queries.

    Domains of previews and disabled ones tell nothing of it. `registry` has the models as a migration knows them.
    """
    yield from facts_from(app_rows(app_ids, registry), domain_rows(app_ids, registry).order_by(*BY_APP))


def app_rows(app_ids: Collection[str], registry: Any = apps, more: Sequence[str] = ()) -> QuerySet[Any, Row]:
    """Applications with what is judged of them, and the status of their last deployment."""
    deployments = registry.get_model("orgs.Deployment")._default_manager.filter(app_id=OuterRef("pk"), is_preview=False)
    last = deployments.order_by("-created_at", "-id").values("status")[:1]
    rows = registry.get_model("orgs.App")._default_manager.filter(pk__in=app_ids)
    return rows.values("id", "organization_id", "status", *RUNTIME_COLUMNS, *more, last_status=Subquery(last))


def domain_rows(app_ids: Collection[str], registry: Any = apps, more: Sequence[str] = ()) -> QuerySet[Any, Row]:
    """Domains of these applications with what was seen of them."""
    domains = registry.get_model("orgs.Domain")._default_manager.filter(
        app_id__in=app_ids, preview_id__isnull=True, is_enabled=True
    )
    return domains.values("app_id", "host", "path", *EDGE_COLUMNS, *more)


def facts_from(apps: Iterable[Row], domains: Iterable[Row]) -> Iterator[tuple[Row, list[Row], Facts]]:
    by_app: dict[str, list[Row]] = defaultdict(list)
    for domain in domains:
        if len(its := by_app[domain["app_id"]]) < MAX_DOMAINS_JUDGED:
            its.append(domain)
    for app in apps:
        its = by_app[app["id"]]
        yield app, its, facts_of(app, its)


# Facts → timetables


@dataclass(frozen=True, slots=True)
class Step:
    """From the end of the step before, up to `until`: then the next one holds."""

    level: str
    reason: str | None
    until: datetime


def steps_of(facts: Facts) -> list[Step]:
    """At most four steps, the last without an end."""
    moments = facts.changes_at()
    begins = [moments[0] - TICK if moments else NEVER + TICK, *moments]
    steps: list[Step] = []
    for begin, until in zip(begins, [*moments, FOREVER], strict=True):
        verdict = judge(facts, begin)
        step = Step(verdict.level, verdict.reasons[0] if verdict.reasons else None, until)
        if steps and (steps[-1].level, steps[-1].reason) == (step.level, step.reason):
            steps.pop()
        steps.append(step)
    return steps


def timetables_of(facts: Facts) -> dict[str, list[Step]]:
    """By what they hold for: always, or while the platform's last good sync is recent, and while it is not."""
    if facts.platform_id is None:
        return {Holds.ALWAYS: steps_of(facts)}
    synced, unsynced = (steps_of(replace(facts, until=until)) for until in (FOREVER, NEVER))
    return {Holds.ALWAYS: synced} if synced == unsynced else {Holds.SYNCED: synced, Holds.UNSYNCED: unsynced}


def refresh(app_ids: Collection[str], registry: Any = apps) -> None:
    """Works out the timetables of these applications anew, and writes those that differ.

    Called after facts were written, in the same transaction. Two who write facts of one application take turns here,
    so that the second sees what the first wrote.
    """
    ordered = sorted(app_ids)
    with transaction.atomic(savepoint=False):
        for start in range(0, len(ordered), BATCH):
            _refresh_some(ordered[start : start + BATCH], registry)


def _refresh_some(app_ids: list[str], registry: Any) -> None:
    model = registry.get_model("orgs.HealthTimetable")
    timetables = model._default_manager.filter(app_id__in=app_ids)
    if connection.features.has_select_for_update:
        list(timetables.select_for_update().order_by("app_id", "holds").values_list("pk"))
    facts = list(stored_facts(app_ids, registry))  # a statement of its own: it sees what we waited for
    stored = {(row["app_id"], row["holds"]): row for row in timetables.values("id", "app_id", "holds", *COLUMNS)}
    wanted = {(app["id"], str(holds)): _columns(app, of, steps) for app, _, of in facts
              for holds, steps in timetables_of(of).items()}  # fmt: skip
    gone = [row["id"] for key, row in stored.items() if key not in wanted]
    changed = [
        model(app_id=app_id, holds=holds, **columns)
        for (app_id, holds), columns in wanted.items()
        if (row := stored.get((app_id, holds))) is None or any(row[name] != columns[name] for name in COLUMNS)
    ]
    if gone:
        timetables.filter(pk__in=gone).delete()
    if changed:
        model._default_manager.bulk_create(
            changed, batch_size=BATCH, update_conflicts=True, unique_fields=["app", "holds"],
            update_fields=[name.removesuffix("_id") for name in COLUMNS],
        )  # fmt: skip
    if registry is apps:  # before its last migration a database answers nobody
        _raise_versions(stored, wanted)


def _raise_versions(stored: Mapping[Any, Row], wanted: Mapping[Any, Row]) -> None:
    now = timezone.now()
    pairs = ((stored.get(key), wanted.get(key)) for key in stored.keys() | wanted.keys())
    raise_for_health({(old or new or {})["organization_id"] for old, new in pairs if not _goes_on(old, new, now)})


def _goes_on(old: Row | None, new: Row | None, now: datetime) -> bool:
    """Whether what lists told of a timetable is right for as long as it then said: its steps may only last longer.

    One that had ended already and comes again is something new.
    """
    if old is None or new is None or any(old[name] != new[name] for name in TOLD_COLUMNS):
        return False
    ends = [(old[f"until_{step}"], new[f"until_{step}"]) for step in STEPS if old[f"until_{step}"] is not None]
    return all(before <= after and not before <= now < after for before, after in ends)


def _columns(app: Row, facts: Facts, steps: list[Step]) -> Row:
    columns: Row = dict.fromkeys(COLUMNS)
    columns["organization_id"] = app["organization_id"]
    columns["platform_id"], columns["period"] = facts.platform_id, facts.period
    for number, step in zip(STEPS, steps, strict=False):
        columns[f"level_{number}"], columns[f"reason_{number}"] = step.level, step.reason
        columns[f"until_{number}"] = step.until
    return columns


def on_facts_changed(sender: object, *, app_ids: set[str], **_: Any) -> None:
    refresh(app_ids)


# Timetables in SQL


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
    """A moment in an organization: which timetables hold then. One query makes it, however many applications."""

    organization_id: str
    now: datetime
    platforms: tuple[PlatformThen, ...]

    @classmethod
    def of(cls, organization_id: str, now: datetime) -> "Clock":
        rows = _platforms(organization_id).read()
        return cls(organization_id, now, tuple(_then(platform, now) for platform in rows))

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
        platforms = {platform.id: platform for platform in self.platforms}
        found = set(columns_of(apps, HEALTH_ENDS))
        ends = [until for until, *_ in found if until is not None]
        # Where it holds while a sync is recent: when that no longer is.
        recent = {
            platforms[platform].recent_until(period) for _, holds, period, platform in found if holds == Holds.SYNCED
        }
        return min([*ends, *(until + TICK for until in recent if until < FOREVER)], default=FOREVER)

    def anything_changes_at(self) -> datetime:
        """The same of all the organization's applications. `now` where there are too many to be looked through."""
        holding = HealthTimetable.objects.filter(self.holding, organization_id=self.organization_id)
        some = HealthTimetable.objects.filter(pk__in=holding.order_by().values("pk")[: MANY + 1])
        by_platform = some.values(health_platform=F("platform_id"), health_holds=F("holds")).order_by()
        ends = {"health_until": Min(_now(self.now, "until", "")), "health_period": Min("period")}
        of_each_platform: list[Row] = [dict(row) for row in by_platform.annotate(**ends, number=Count("pk"))]
        is_all = sum(row["number"] for row in of_each_platform) <= MANY
        return self.changes_at(of_each_platform) if is_all else self.now


@prepared
def _platforms(organization_id: str) -> Rows:
    platforms = Platform.objects.filter(organization_id=organization_id)
    return Rows(platforms.values(*PLATFORM_COLUMNS), order=("id",))


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


def _then(platform: Mapping[str, Any], now: datetime) -> PlatformThen:
    if platform["kind"] == Platform.Kind.MANIFEST:
        until = synced_until(platform, None)
        return PlatformThen(platform["id"], now <= until, until=until)
    if platform["last_sync_at"] is None:
        return PlatformThen(platform["id"], False)
    microseconds = (now - platform["last_sync_at"]) // TICK
    period = max(0, ceil(microseconds / (STALE_PERIODS * 1_000_000)))  # the least that is recent still
    return PlatformThen(platform["id"], None, period, synced=platform["last_sync_at"])


def count_by_health(organization_ids: Collection[str], now: datetime) -> dict[str, dict[str, int]]:
    """Of each of these organizations how many applications have which health. Three queries, however many there are.

    Hidden applications do not count; of those that have no timetable yet nothing is known.
    """
    apps_there = App.objects.filter(organization_id__in=organization_ids, hidden_at__isnull=True).order_by()
    numbers = apps_there.values_list("organization_id").annotate(Count("id"))
    platforms = Platform.objects.filter(organization_id__in=organization_ids).order_by("pk").values(*PLATFORM_COLUMNS)
    holding = _holding(_then(platform, now) for platform in platforms)
    timetables = HealthTimetable.objects.filter(holding, organization_id__in=organization_ids, app__hidden_at=None)
    counted = timetables.values("organization_id", health=_now(now, "level", "")).annotate(number=Count("app_id"))
    counts: dict[str, dict[str, int]] = {id: dict.fromkeys(HealthTimetable.Level.values, 0) for id in organization_ids}
    for row in counted.order_by():
        counts[row["organization_id"]][row["health"]] = row["number"]
    for id, number in numbers:
        counts[id][HealthTimetable.Level.UNKNOWN] += max(0, number - sum(counts[id].values()))
    return counts


def with_health(rows: QuerySet[Any], clock: Clock) -> QuerySet[Any]:
    """Applications with `health` and `health_reason` as they are at that moment, and HEALTH_ENDS."""
    timetable = FilteredRelation("timetables", condition=_within(clock.holding, "timetables__"))
    return rows.annotate(
        timetable=timetable, health=_now(clock.now, "level"), health_reason=_now(clock.now, "reason"),
        health_until=_now(clock.now, "until"), health_holds=F("timetable__holds"),
        health_period=F("timetable__period"), health_platform=F("timetable__platform_id"),
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


def has_health(clock: Clock, levels: Sequence[str]) -> Condition:
    """That an application (of `with_health`) has one of these levels at that moment."""
    # Said by the others: PostgreSQL takes that one expression has a value for rare, and would sort all applications.
    others = [level for level in HealthTimetable.Level.values if level not in levels]
    return Condition(Q(health__isnull=False) & ~Q(health__in=others), _candidates(clock, levels))


def _candidates(clock: Clock, levels: Sequence[str]) -> QuerySet[Any]:
    """The ids of applications that may have one of these levels: each step of timetables by an index of its own."""
    of_organization = HealthTimetable.objects.filter(organization_id=clock.organization_id, holds__in=clock.kinds)
    of_organization = of_organization.filter(clock.holding).order_by()
    arms = []
    for step in STEPS:
        began = {f"until_{step - 1}__lte": clock.now} if step > 1 else {}
        arm = of_organization.filter(**{f"level_{step}__in": levels, f"until_{step}__gt": clock.now}, **began)
        arms.append(arm.values_list("app_id", flat=True))
    return arms[0].union(*arms[1:], all=True)
