"""The timetable of each application's health: what follows if nothing else is learnt. Read in SQL by `clock`.

It is a function of the stored facts alone, never of when it was worked out: writing the same facts writes nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db import connection, transaction
from django.db.models import (
    OuterRef,
    QuerySet,
    Subquery,
)
from django.utils import timezone

from apps.orgs.health import Facts, facts_of, judge
from apps.orgs.models import HealthTimetable
from apps.orgs.models.versioned import raise_for_health
from apps.orgs.overview import FOREVER, NEVER, TICK
from apps.orgs.rows import Row

STEPS = (1, 2, 3, 4)
BATCH = 500
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
BY_APP = ("app_id", "host", "path", "id")
COLUMNS = ("organization_id", "platform_id", "period", *STEP_COLUMNS)
TOLD_COLUMNS = tuple(name for name in COLUMNS if not name.startswith("until_"))


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
