"""How syncing a platform goes: what its page in the admin shows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from apps.jobs.models import Schedule
from apps.orgs.models import App, Deployment, Domain, EnvVarName, Preview, Project
from apps.platforms.connecting import ADVICE
from apps.platforms.models import PlatformConnection
from apps.platforms.tasks import schedule_name

STORED = (
    ("projects", Project),
    ("applications", App),
    ("domains", Domain),
    ("previews", Preview),
    ("deployments", Deployment),
    ("variable names", EnvVarName),
)


@dataclass(frozen=True, slots=True)
class Progress:
    connection: PlatformConnection
    schedule: Schedule | None

    @property
    def is_running(self) -> bool:
        return self.schedule is not None and self.schedule.is_running

    @property
    def is_waiting(self) -> bool:
        """For a worker."""
        schedule = self.schedule
        is_due = schedule is not None and schedule.due_at <= timezone.now()
        return is_due and not self.is_running and not self.is_paused

    @property
    def is_paused(self) -> bool:
        return self.schedule is not None and self.schedule.is_paused

    @property
    def is_awaited(self) -> bool:
        return self.is_running or self.is_waiting

    @property
    def step(self) -> str:
        progress = self.connection.progress
        if not progress:
            return "reading the state"
        return f"{progress['read']} of {progress['of']} applications read"

    @property
    def next_run(self) -> datetime | None:
        return None if self.schedule is None or self.is_paused else self.schedule.due_at

    @property
    def duration(self) -> str | None:
        took = self.connection.last_duration_ms
        return None if took is None else f"{took / 1000:.1f} s"

    @property
    def counts(self) -> str | None:
        """Of the last good sync."""
        counts = self.connection.last_counts
        if not counts:
            return None
        written = ", ".join(f"{counts[name]} {name}" for name in ("created", "updated", "deleted") if counts.get(name))
        hidden = f", {counts['hidden']} applications hidden" if counts.get("hidden") else ""
        return (
            f"{counts['apps']} applications in {counts['projects']} projects listed, {counts['read']} read whole, "
            f"{counts['calls']} calls; {f'rows: {written}' if written else 'no row changed'}{hidden}"
        )

    @property
    def left_out(self) -> str | None:
        left_out = self.connection.last_counts.get("left_out", {})
        return ", ".join(f"{count} {name}" for name, count in sorted(left_out.items())) or None

    @property
    def stored(self) -> str:
        """What there is of it now."""
        platform = self.connection.platform_id
        return ", ".join(f"{model.objects.filter(platform=platform).count()} {name}" for name, model in STORED)

    @property
    def advice(self) -> str | None:
        return ADVICE.get(self.connection.platform.kind) if self.connection.can_write else None

    @property
    def deletions(self) -> dict[str, Any] | None:
        waiting = self.connection.deletions_to_confirm
        return None if not waiting or waiting.get("is_confirmed") else waiting


def progress_of(platform_id: str) -> Progress | None:
    """None where it has no connection: a manifest is synced by hand."""
    if not platform_id.isdecimal() or len(platform_id) > 18:
        return None
    connection = PlatformConnection.objects.select_related("platform").filter(pk=int(platform_id)).first()
    if connection is None:
        return None
    return Progress(connection, Schedule.objects.filter(name=schedule_name(connection.pk)).first())
