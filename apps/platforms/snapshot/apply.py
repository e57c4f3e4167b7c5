"""Makes an organization's rows match a snapshot: in one transaction, and touching only its own platform's rows."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import DatabaseError, models, transaction
from django.db.models import Min
from django.utils import timezone

from apps.orgs.models import Organization, Platform
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import Time
from apps.platforms.snapshot.check import check
from apps.platforms.snapshot.columns import KINDS, Builder, Kind
from apps.platforms.snapshot.differences import BATCH, Changes, delete, differences, save


def apply(platform: Platform, snapshot: base.Snapshot, *, is_checked: bool = False) -> Changes:
    """Applies the snapshot, and says how many rows it created, updated and deleted.

    `is_checked` is for those who have called `check` themselves: of many records it takes seconds.

    Applying the same snapshot again writes no row; that it was read is noted each time, on the platform
    (`last_sync_at`) and on its organization (`synced_at`). When anything fails no row changes, the platform's
    `last_sync_status` becomes "error" and the error is raised: SnapshotError, or what the database said.
    """
    now = Time().clean(timezone.now())
    try:
        if not is_checked:
            check(snapshot)
        with transaction.atomic():
            _lock(platform)
            changes = _apply_rows(platform, snapshot, now)
            _note_success(platform, snapshot.version, now)
    except Exception:  # recorded, and raised again
        with suppress(DatabaseError):
            Platform.objects.filter(pk=platform.pk).update(last_sync_status=Platform.SyncStatus.ERROR)
        raise
    return changes


def apply_catalogue(snapshot: base.Snapshot) -> Changes:
    """Makes the installation's own templates, which every organization sees, match those of the snapshot."""
    check(snapshot)
    kind = next(kind for kind in KINDS if kind.collection == "templates")
    with transaction.atomic():
        builder, templates = Builder(None, timezone.now()), snapshot.templates
        existing = {row.external_id: row for row in _catalogue(kind.model)}
        wanted = builder.rows(kind, templates, [builder.columns(kind, template) for template in templates], existing)
        changes = save(kind.model, differences(existing, wanted))
        return changes + delete(kind.model, [row.pk for key, row in existing.items() if key not in wanted])


def _catalogue(model: type[models.Model]) -> models.QuerySet[Any]:
    return model._default_manager.filter(
        organization__isnull=True, platform__isnull=True, external_id__isnull=False
    ).order_by("id")


def _lock(platform: Platform) -> None:
    # Two syncs of one platform take turns. `no_key`: rows that name the platform may still be written meanwhile.
    Platform.objects.select_for_update(no_key=True).get(pk=platform.pk)


@dataclass(frozen=True)
class _Deleted:
    kind: Kind
    ids: list[Any]


def _apply_rows(platform: Platform, snapshot: base.Snapshot, now: datetime) -> Changes:
    builder, changes, gone = Builder(platform, now), Changes(), []
    for kind in KINDS:
        builder.begin(kind, snapshot)
        identities: set[Any] = set()
        records = [record for record in getattr(snapshot, kind.collection) if getattr(record, "says_something", True)]
        for start in range(0, len(records), BATCH):
            changes += _apply_some(kind, platform, records[start : start + BATCH], builder, identities)
        if not kind.is_kept:
            gone.append(_Deleted(kind, _ids_of_others(kind, platform, identities)))
    # Only now, and from the leaves up: what moved away from something that is gone has been saved elsewhere.
    for rows in reversed(gone):
        changes += delete(rows.kind.model, rows.ids)
    return changes


def _apply_some(kind: Kind, platform: Platform, records: list[Any], builder: Builder, identities: set[Any]) -> Changes:
    """Writes the rows of a few records, so that there never are many in memory. Adds to `identities`."""
    columns = [builder.columns(kind, record) for record in records]
    of_these = [values[kind.identity] for values in columns]
    identities.update(of_these)
    existing = _existing(kind, platform, of_these)
    wanted = builder.rows(kind, records, columns, existing)
    foreign = {identity for identity, row in existing.items() if row.platform_id != platform.pk}
    return save(kind.model, differences(existing, {i: row for i, row in wanted.items() if i not in foreign}))


def _existing(kind: Kind, platform: Platform, identities: list[Any]) -> dict[Any, Any]:
    """The platform's rows with these identities, and facts that another platform told of what is the platform's."""
    rows: models.QuerySet[Any] = kind.model._default_manager.filter(**{f"{kind.identity}__in": identities})
    if kind.identity == "external_id":
        rows = rows.filter(platform=platform)
    # Not asked of the database where the identity is the primary key: SQLite would read all rows of the platform.
    return {getattr(row, kind.identity): row for row in rows if kind.owner or row.platform_id == platform.pk}


def _ids_of_others(kind: Kind, platform: Platform, identities: set[Any]) -> list[Any]:
    """The platform's own rows of a kind that are not among `identities`."""
    rows: models.QuerySet[Any] = kind.model._default_manager.filter(platform=platform)
    told = rows.filter(**{f"{kind.owner}platform": platform}).values_list(kind.identity, "pk").iterator()
    return [pk for identity, pk in told if identity not in identities]


def _note_success(platform: Platform, version: str | None, now: datetime) -> None:
    platform.version, platform.last_sync_at, platform.last_sync_status = version, now, Platform.SyncStatus.OK
    platform.save(update_fields=["version", "last_sync_at", "last_sync_status"])
    # Locked before the oldest sync is looked up, or two platforms that end together could each miss the other.
    Organization.objects.select_for_update(no_key=True).get(pk=platform.organization_id)
    oldest = Platform.objects.filter(organization_id=platform.organization_id).aggregate(at=Min("last_sync_at"))["at"]
    Organization.objects.filter(pk=platform.organization_id).update(synced_at=oldest)
