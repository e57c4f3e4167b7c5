"""How old the facts about instances are that a sync did not read again."""

from collections.abc import Collection
from datetime import datetime

from apps.orgs.models import Platform, RuntimeFact
from apps.orgs.versions import raising_oneself
from apps.platforms.snapshot.differences import BATCH


def note_age(platform: Platform, read: Collection[str], last_sync_at: datetime) -> None:
    """A fact without a time of its own is as old as the last sync: one that this sync does not read gets that time.

    So a platform that is read whole each time writes nothing here.
    """
    facts = RuntimeFact.objects.filter(platform=platform, checked_at__isnull=True)
    old = [pk for pk, app in facts.values_list("pk", "app__external_id") if app not in read]
    with raising_oneself(but_health=True):
        _give(old, last_sync_at)


def _give(facts: list[str], checked_at: datetime) -> None:
    for start in range(0, len(facts), BATCH):
        RuntimeFact.objects.filter(pk__in=facts[start : start + BATCH]).update(checked_at=checked_at)
