"""Makes an organization's rows match a snapshot: in one transaction, and touching only its own platform's rows."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, models, transaction
from django.db.models import Min, Q
from django.utils import timezone

from apps.orgs.counts import keep_counts
from apps.orgs.models import App, Organization, Platform, Project, SourceConnection
from apps.orgs.models.judged import judging_once
from apps.orgs.overview import synced_until
from apps.orgs.versions import raise_checks_version, raise_data_version, raising_oneself
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import Time
from apps.platforms.snapshot.check import check
from apps.platforms.snapshot.columns import APP_STATES, KINDS, Builder, Kind
from apps.platforms.snapshot.differences import BATCH, Changes, delete, differences, save
from apps.platforms.snapshot.hiding import (
    Leaving,
    TooManyDeletions,
    guard,
    hidden_ids,
    hide,
    leave_projects,
    leaving,
)
from apps.platforms.snapshot.stored import stored_rows
from apps.web.progress import tell

OF_AGE = ("kind", "last_sync_at", "as_of", "stale_after")
DETAIL_READ = timedelta(hours=1)  # no more exact than that: only people read it, and each time it is a write


def apply(
    platform: Platform,
    snapshot: base.Snapshot,
    *,
    is_checked: bool = False,
    allow_deletions: bool = False,
    read_at: datetime | None = None,
    age: tuple[datetime | None, int | None] = (None, None),
) -> Changes:
    """Applies the snapshot, and says how many rows it created, updated, deleted and hid.

    `is_checked` is for those who have called `check` themselves: of many records it takes seconds. `read_at`: since
    when its facts are known, where that is not just now. `age`: a manifest's `asOf` and `staleAfter` (seconds).

    Applying the same snapshot again writes no row; that it was read is noted each time, on the platform
    (`last_sync_at`) and on its organization (`synced_at`), and by the hour on applications that a deployment system
    told whole (`detail_read_at`). When anything fails no row changes, the platform's `last_sync_status` becomes
    "error" and the error is raised: SnapshotError, TooManyDeletions unless `allow_deletions`, or what the database
    said. The organization's data version is raised when any row changed, or its facts are recent again.
    """
    now = Time().clean(timezone.now())
    try:
        if not is_checked:
            check(snapshot, stored_rows(platform, snapshot))
        with transaction.atomic(), raising_oneself():
            before = _lock(platform)
            gone = leaving(platform, snapshot)
            if not allow_deletions and (refused := guard(before, gone, now)):
                raise refused
            changes = sum(_apply_rows(platform, snapshot, gone, now).values(), Changes())
            platform.as_of, platform.stale_after = age
            _note_success(platform, snapshot.version, now, read_at, confirms=allow_deletions and bool(gone.ids))
            raise_checks_version(platform.organization_id)  # facts may be as old as the platform's last sync
            if changes != Changes() or _told(before) != _told(platform) or not _stays_recent(before, platform, now):
                raise_data_version(platform.organization_id)
            keep_counts(platform.organization_id)
    except Exception:  # recorded, and raised again
        with suppress(DatabaseError):
            _note_failure(platform)
        raise
    return changes


@dataclass(frozen=True)
class Plan:
    """What applying would do, by collection; which applications it would hide, by name; and whether it would stop."""

    changes: Mapping[str, Changes]
    hidden: tuple[str, ...]
    refused: TooManyDeletions | None


def plan(platform: Platform, snapshot: base.Snapshot) -> Plan:
    """What applying a checked snapshot would do. Done and undone again: nothing is written."""
    now = Time().clean(timezone.now())
    with transaction.atomic(), raising_oneself():
        before = _lock(platform)
        gone = leaving(platform, snapshot)
        refused = guard(before, gone, now)
        changes = _apply_rows(platform, snapshot, gone, now)
        transaction.set_rollback(True)
    return Plan(changes, gone.names, refused)


def apply_catalogue(snapshot: base.Snapshot) -> Changes:
    """Makes the installation's own templates, which every organization sees, match those of the snapshot."""
    check(snapshot)
    kind = next(kind for kind in KINDS if kind.collection == "templates")
    with transaction.atomic(), raising_oneself():
        builder, templates = Builder(None, timezone.now()), snapshot.templates
        existing = {row.external_id: row for row in _catalogue(kind.model)}
        wanted = builder.rows(kind, templates, [builder.columns(kind, template) for template in templates], existing)
        changes = save(kind.model, differences(existing, wanted))
        changes += delete(kind.model, [row.pk for key, row in existing.items() if key not in wanted])
        if changes != Changes():
            raise_data_version(None)
        return changes


def _catalogue(model: type[models.Model]) -> models.QuerySet[Any]:
    return model._default_manager.filter(
        organization__isnull=True, platform__isnull=True, external_id__isnull=False
    ).order_by("id")


def _lock(platform: Platform) -> Platform:
    """The platform as it is in the database."""
    # Two syncs of one platform take turns. `no_key`: rows that name the platform may still be written meanwhile.
    return Platform.objects.select_for_update(no_key=True).get(pk=platform.pk)


@judging_once()
def _apply_rows(platform: Platform, snapshot: base.Snapshot, gone: Leaving, now: datetime) -> dict[str, Changes]:
    """By collection, what was written."""
    builder = Builder(platform, now)
    for collection, rows in stored_rows(platform, snapshot).items():
        builder.know(collection, rows)
    changes = {kind.collection: Changes() for kind in KINDS}
    changes["apps"] += Changes(hidden=hide(platform, gone, now))
    others: list[tuple[Kind, list[Any]]] = []
    written = _Written(snapshot)
    for kind in KINDS:
        builder.begin(kind, snapshot)
        identities: set[Any] = set()
        for part in (kind, APP_STATES) if kind.model is App else (kind,):
            changes[kind.collection] += _apply_kind(part, platform, snapshot, builder, identities, written)
        if not kind.is_kept:
            others.append((kind, _ids_of_others(kind, platform, builder, identities)))
    # Only now, and from the leaves up: what moved away from something that is gone has been saved elsewhere.
    for kind, ids in reversed(others):
        if kind.model is Project:
            leave_projects(platform, ids)
        changes[kind.collection] += delete(kind.model, ids)
    _note_details(platform, snapshot, builder, now)
    return changes


class _Written:
    """How many records of a snapshot have become rows so far, for whoever watches."""

    def __init__(self, snapshot: base.Snapshot) -> None:
        self.done, self.of = 0, sum(len(getattr(snapshot, kind.collection)) for kind in (*KINDS, APP_STATES))

    def add(self, count: int) -> None:
        self.done += count
        tell("Updating the database", self.done, self.of, "rows")


def _apply_kind(
    kind: Kind, platform: Platform, snapshot: base.Snapshot, builder: Builder, identities: set[Any], written: _Written
) -> Changes:
    changes = Changes()
    records = [record for record in getattr(snapshot, kind.collection) if getattr(record, "says_something", True)]
    for start in range(0, len(records), BATCH):
        some = records[start : start + BATCH]
        changes += _apply_some(kind, platform, some, builder, identities)
        written.add(len(some))
    return changes


def _apply_some(kind: Kind, platform: Platform, records: list[Any], builder: Builder, identities: set[Any]) -> Changes:
    """Writes the rows of a few records, so that there never are many in memory. Adds to `identities`."""
    columns = [builder.columns(kind, record) for record in records]
    of_these = [values[kind.identity] for values in columns]
    identities.update(of_these)
    existing = _existing(kind, platform, of_these)
    wanted = builder.rows(kind, records, columns, existing)
    foreign = {identity for identity, row in existing.items() if row.platform_id not in (platform.pk, None)}
    return save(kind.model, differences(existing, {i: row for i, row in wanted.items() if i not in foreign}))


def _existing(kind: Kind, platform: Platform, identities: list[Any]) -> dict[Any, Any]:
    """The platform's rows with these identities, and facts that another platform or the prober has of what is its own.

    The prober's become the platform's that tells them: from then on nobody else looks.
    """
    rows: models.QuerySet[Any] = kind.model._default_manager.filter(**{f"{kind.identity}__in": identities})
    if kind.identity == "external_id":
        rows = rows.filter(platform=platform)
    # Not asked of the database where the identity is the primary key: SQLite would read all rows of the platform.
    return {getattr(row, kind.identity): row for row in rows if kind.owner or row.platform_id == platform.pk}


def _ids_of_others(kind: Kind, platform: Platform, builder: Builder, identities: set[Any]) -> list[Any]:
    """The platform's own rows of a kind that are not among `identities`, and are known to be gone.

    Not what was not read, nor what belongs to a hidden application: it may come back. Nor applications themselves,
    which are hidden, never deleted; nor connections that an operator gave credentials for.
    """
    if kind.model is App or (kind.collection, None) in builder.unread:
        return []
    rows: models.QuerySet[Any] = kind.model._default_manager.filter(platform=platform)
    rows = rows.filter(**{f"{kind.owner}platform": platform})
    if kind.model is SourceConnection:
        rows = rows.filter(own_credentials=SourceConnection.OwnCredentials.NONE)
    if not kind.app:
        return [pk for identity, pk in rows.values_list(kind.identity, "pk").iterator() if identity not in identities]
    kept = _kept_apps(kind, platform, builder)
    told = rows.values_list(kind.identity, "pk", kind.app).iterator()
    return [pk for identity, pk, app in told if identity not in identities and app not in kept]


def _kept_apps(kind: Kind, platform: Platform, builder: Builder) -> set[str]:
    """The applications whose rows of a kind stay, whether or not they are told."""
    apps = builder.ids["apps"]
    unread = {apps[key] for collection, key in builder.unread if collection == kind.collection and key in apps}
    return hidden_ids(platform) | unread


def _note_details(platform: Platform, snapshot: base.Snapshot, builder: Builder, now: datetime) -> None:
    """When applications were last read whole. A manifest is always whole: there is nothing to note."""
    if platform.kind == Platform.Kind.MANIFEST:
        return
    ids = [builder.ids["apps"][app.key] for app in snapshot.apps]
    is_old = Q(detail_read_at__isnull=True) | Q(detail_read_at__lt=now - DETAIL_READ)
    for start in range(0, len(ids), BATCH):
        App.objects.filter(is_old, pk__in=ids[start : start + BATCH]).update(detail_read_at=now)


def _told(platform: Platform) -> tuple[Any, ...]:
    """What tools tell of a platform besides times."""
    return platform.version, platform.last_sync_status


def _stays_recent(before: Platform, after: Platform, now: datetime) -> bool:
    """Whether facts that are as old as the last good sync were recent up to now, and stay it for no less long."""
    until, longer = (
        synced_until({name: getattr(platform, name) for name in OF_AGE}, platform.check_period)
        for platform in (before, after)
    )
    return until == longer or now <= until < longer


def _note_success(
    platform: Platform, version: str | None, now: datetime, read_at: datetime | None, *, confirms: bool
) -> None:
    platform.version, platform.last_sync_status = version, Platform.SyncStatus.OK
    platform.last_sync_at = Time().clean(read_at or now)
    columns = ["version", "last_sync_at", "last_sync_status", "as_of", "stale_after"]
    if confirms:
        platform.deletions_confirmed_at = now
        columns.append("deletions_confirmed_at")
    platform.save(update_fields=columns)
    # Locked before the oldest sync is looked up, or two platforms that end together could each miss the other.
    Organization.objects.select_for_update(no_key=True).get(pk=platform.organization_id)
    oldest = Platform.objects.filter(organization_id=platform.organization_id).aggregate(at=Min("last_sync_at"))["at"]
    Organization.objects.filter(pk=platform.organization_id).update(synced_at=oldest)


def _note_failure(platform: Platform) -> None:
    failed = Platform.SyncStatus.ERROR
    Platform.objects.filter(pk=platform.pk).exclude(last_sync_status=failed).update(last_sync_status=failed)
