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
from apps.platforms.snapshot.differences import Changes, delete, differences, save


def apply(platform: Platform, snapshot: base.Snapshot) -> Changes:
    """Applies the snapshot, and says how many rows it created, updated and deleted.

    Applying the same snapshot again writes no row; that it was read is noted each time, on the platform
    (`last_sync_at`) and on its organization (`synced_at`). When anything fails no row changes, the platform's
    `last_sync_status` becomes "error" and the error is raised: SnapshotError, or what the database said.
    """
    now = Time().clean(timezone.now())
    try:
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
        builder = Builder(None, timezone.now())
        existing = {row.external_id: row for row in _catalogue(kind.model)}
        wanted = {template.key: builder.row(kind, template, existing) for template in snapshot.templates}
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
        records = getattr(snapshot, kind.collection)
        existing = _existing(kind, platform, records)
        wanted = builder.rows(kind, records, existing, snapshot)
        foreign = {identity for identity, row in existing.items() if row.platform_id != platform.pk}
        changes += save(kind.model, differences(existing, {i: row for i, row in wanted.items() if i not in foreign}))
        if not kind.is_kept:
            gone.append(_Deleted(kind, [row.pk for i, row in existing.items() if i not in wanted and i not in foreign]))
    # Only now, and from the leaves up: what moved away from something that is gone has been saved elsewhere.
    for rows in reversed(gone):
        changes += delete(rows.kind.model, rows.ids)
    return changes


def _existing(kind: Kind, platform: Platform, records: Any) -> dict[Any, Any]:
    """The rows that are there, by identity. Of kinds that are kept only those that the snapshot speaks of."""
    rows: models.QuerySet[Any] = kind.model._default_manager.filter(**{f"{kind.owner}platform": platform})
    if not kind.is_kept:
        return {getattr(row, kind.identity): row for row in rows}
    keys = [record.key for record in records]
    found: dict[Any, Any] = {}
    for start in range(0, len(keys), BATCH):
        for row in rows.filter(external_id__in=keys[start : start + BATCH]):
            found[row.external_id] = row
    return found


BATCH = 500


def _note_success(platform: Platform, version: str | None, now: datetime) -> None:
    platform.version, platform.last_sync_at, platform.last_sync_status = version, now, Platform.SyncStatus.OK
    platform.save(update_fields=["version", "last_sync_at", "last_sync_status"])
    # Locked before the oldest sync is looked up, or two platforms that end together could each miss the other.
    Organization.objects.select_for_update(no_key=True).get(pk=platform.organization_id)
    oldest = Platform.objects.filter(organization_id=platform.organization_id).aggregate(at=Min("last_sync_at"))["at"]
    Organization.objects.filter(pk=platform.organization_id).update(synced_at=oldest)
