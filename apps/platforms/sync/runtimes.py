"""How old the facts about instances are that a sync did not read again."""

from collections.abc import Collection
from datetime import datetime

from apps.orgs.models import Platform, RuntimeFact
from apps.platforms.snapshot.differences import BATCH


def note_age(platform: Platform, read: Collection[str], last_sync_at: datetime) -> None:
    """A fact without a time of its own is as old as the last sync: one that this sync does not read gets that time.

    So a platform that is read whole each time writes nothing here.
    """
    facts = RuntimeFact.objects.filter(platform=platform, checked_at__isnull=True)
    old = [pk for pk, app in facts.values_list("pk", "app__external_id") if app not in read]
    for start in range(0, len(old), BATCH):
        RuntimeFact.objects.filter(pk__in=old[start : start + BATCH]).update(checked_at=last_sync_at)
