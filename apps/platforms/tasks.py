"""What happens in the background: syncing each platform that has a connection."""

from django_tasks import task

from apps.jobs.scheduling import schedule, unschedule
from apps.platforms.models import PlatformConnection
from apps.platforms.sync.run import STATE_PERIOD, sync_platform


@task
def sync(platform_id: int) -> None:
    """One platform, whose schedule follows its size."""
    if not PlatformConnection.objects.filter(pk=platform_id).exists():
        return unschedule(schedule_name(platform_id))
    outcome = sync_platform(platform_id)
    return schedule_sync(platform_id, outcome.period)


def schedule_name(platform_id: int) -> str:
    return f"platform:{platform_id}"


def schedule_sync(platform_id: int, period: int = STATE_PERIOD) -> None:
    schedule(schedule_name(platform_id), sync, {"platform_id": platform_id}, period)
