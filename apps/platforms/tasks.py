"""What happens in the background: syncing each platform that has a connection."""

from datetime import timedelta

from django.utils import timezone
from django_tasks import task

from apps.jobs.models import Schedule
from apps.jobs.scheduling import schedule, unschedule
from apps.platforms.connector import STATE_PERIOD
from apps.platforms.models import PlatformConnection


@task
def sync(platform_id: int) -> None:
    """One platform, whose schedule follows its size."""
    from apps.platforms.sync.run import sync_platform  # serving processes only ask for syncs

    if not PlatformConnection.objects.filter(pk=platform_id).exists():
        return unschedule(schedule_name(platform_id))
    outcome = sync_platform(platform_id)
    return schedule_sync(platform_id, outcome.period)


def schedule_name(platform_id: int) -> str:
    return f"platform:{platform_id}"


def schedule_sync(platform_id: int, period: int = STATE_PERIOD, *, at_once: bool = False) -> None:
    schedule(schedule_name(platform_id), sync, {"platform_id": platform_id}, period, at_once=at_once)


def put_off(platform_id: int, seconds: float) -> None:
    """The next sync is due in so many seconds: somebody else does one now."""
    due_at = timezone.now() + timedelta(seconds=seconds)
    Schedule.objects.filter(name=schedule_name(platform_id)).update(due_at=due_at)
