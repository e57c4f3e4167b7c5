"""What operators do about a platform's syncs. Each says what was done, or None where there was nothing to do."""

from django.db import transaction
from django.utils import timezone

from apps.jobs import scheduling
from apps.orgs.models import Platform
from apps.platforms.models import PlatformConnection
from apps.platforms.tasks import schedule_name


def sync_now(platform: Platform) -> str | None:
    return "Asked for a sync at once." if scheduling.run_now(schedule_name(platform.pk)) else None


def pause(platform: Platform) -> str | None:
    return "Paused: it is not synced any more." if scheduling.pause(schedule_name(platform.pk)) else None


def resume(platform: Platform) -> str | None:
    return "Resumed: it is synced again." if scheduling.resume(schedule_name(platform.pk)) else None


def confirm_deletions(platform: Platform) -> str | None:
    """The next sync may hide as many applications as the operator saw, once."""
    with transaction.atomic():
        connection = PlatformConnection.objects.select_for_update().get(pk=platform.pk)
        waiting = connection.deletions_to_confirm
        if not waiting or waiting.get("is_confirmed"):
            return None
        connection.deletions_to_confirm = waiting | {"is_confirmed": True}
        connection.confirmed_at = timezone.now()
        connection.save(update_fields=["deletions_to_confirm", "confirmed_at"])
    scheduling.run_now(schedule_name(platform.pk))
    return f"Confirmed that {waiting['hidden']} of {waiting['of']} applications are gone."
