"""Schedules: what is done again and again, once in each period wherever there are workers."""

from django.db import models
from django.utils import timezone


class Schedule(models.Model):
    """A task that is due every `period` seconds.

    A worker claims it with a lease, which it renews while it works: where the worker is killed the lease ends, and
    another one begins anew.
    """

    name = models.CharField(max_length=200, unique=True, help_text="Such as prune, or platform:7.")
    task = models.CharField(max_length=200, help_text="The task's import path.")
    arguments = models.JSONField(default=dict, blank=True)
    period = models.PositiveIntegerField(help_text="Seconds between the beginnings of two runs.")
    data_dir = models.CharField(
        max_length=32,
        default="",
        blank=True,
        editable=False,
        help_text="The id of the DATA_DIR that it belongs to; empty where any worker may do it.",
    )
    due_at = models.DateTimeField()
    is_paused = models.BooleanField(default=False)
    lease_until = models.DateTimeField(null=True, editable=False)
    lease = models.UUIDField(null=True, editable=False, help_text="Whose run it is.")
    started_at = models.DateTimeField(null=True, editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)
    succeeded_at = models.DateTimeField(null=True, editable=False)
    failures = models.PositiveIntegerField(default=0, editable=False, help_text="In a row.")

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="schedule_due")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_running(self) -> bool:
        """Whether a worker is at it, as far as its lease tells."""
        return self.lease_until is not None and self.lease_until > timezone.now()
