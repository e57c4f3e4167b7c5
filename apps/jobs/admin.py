"""What operators see of background work: when each schedule ran, how that went, and when it is next."""

import datetime
from typing import Any

import django_tasks_db.admin  # noqa: F401  (registers its list, which the line below takes away)
from django.contrib import admin, messages
from django.db import connection
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django_tasks_db.models import DBTaskResult

from apps.jobs import scheduling
from apps.jobs.models import Schedule

# Its rows are single runs, without an order that an index has; what they tell is in the schedules.
admin.site.unregister(DBTaskResult)
LAST = chr(0x10FFFF)  # no name has it


@admin.register(Schedule)
class ScheduleAdmin(admin.ModelAdmin):
    """Read-only, but for what its actions do. Below apps.orgs, so it has nothing of that one's lists."""

    list_display = ("name", "every", "started_at", "succeeded_at", "failures", "state", "next_run")
    ordering = ("name",)
    sortable_by = ()
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    search_fields = ("name",)  # shows the search box; get_search_results says what it does
    search_help_text = "The beginning of a name."
    fields = ("name", "task", "every", "state", "started_at", "finished_at", "succeeded_at", "failures", "next_run")
    actions = ("run_now", "pause", "resume")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Schedule], search_term: str
    ) -> tuple[QuerySet[Schedule], bool]:
        term = search_term.strip().lower()
        if connection.vendor == "sqlite":  # which walks all names for LIKE, but finds their order in an index
            return queryset.filter(name__gte=term, name__lt=f"{term}{LAST}"), False
        return queryset.filter(name__startswith=term), False

    @admin.display(description="Period")
    def every(self, schedule: Schedule) -> datetime.timedelta:
        return datetime.timedelta(seconds=schedule.period)

    @admin.display(description="State")
    def state(self, schedule: Schedule) -> str:
        if schedule.is_running:
            return "Running"
        return "Paused" if schedule.is_paused else "Waiting"

    @admin.display(description="Next run")
    def next_run(self, schedule: Schedule) -> datetime.datetime | None:
        return None if schedule.is_paused else schedule.due_at

    @admin.action(description="Run now", permissions=["operate"])
    def run_now(self, request: HttpRequest, chosen: QuerySet[Schedule]) -> None:
        self._apply(request, chosen, scheduling.run_now, "Asked for a run at once")

    @admin.action(description="Pause", permissions=["operate"])
    def pause(self, request: HttpRequest, chosen: QuerySet[Schedule]) -> None:
        self._apply(request, chosen, scheduling.pause, "Paused")

    @admin.action(description="Resume", permissions=["operate"])
    def resume(self, request: HttpRequest, chosen: QuerySet[Schedule]) -> None:
        self._apply(request, chosen, scheduling.resume, "Resumed")

    def _apply(self, request: HttpRequest, chosen: QuerySet[Schedule], change: Any, done: str) -> None:
        changed = [schedule for schedule in chosen if change(schedule.name)]
        for schedule in changed:
            self.log_change(request, schedule, f"{done}.")
        many = "1 schedule" if len(changed) == 1 else f"{len(changed)} schedules"
        self.message_user(request, f"{done}: {many}.", messages.SUCCESS if changed else messages.WARNING)

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.change_schedule")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
