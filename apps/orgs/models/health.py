"""What follows for an application's health if nothing else is learnt."""

from django.db import models

from apps.orgs.models.organizations import Organization, Platform
from apps.orgs.models.projects import App


class HealthTimetable(models.Model):
    """Up to four steps of an application's health. Each holds until its time, the last one for ever.

    Where facts are as old as the last good sync, an application has two of them: one holds while that sync is recent,
    one when it no longer is. So a sync that brings nothing new writes nothing here.
    """

    class Holds(models.TextChoices):
        ALWAYS = "always"
        SYNCED = "synced"
        UNSYNCED = "unsynced"

    class Level(models.TextChoices):
        HEALTHY = "healthy"
        DEGRADED = "degraded"
        DOWN = "down"
        DEPLOYING = "deploying"
        UNKNOWN = "unknown"

    app = models.ForeignKey(App, models.CASCADE, related_name="timetables", db_index=False)
    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+", db_index=False)
    holds = models.CharField(max_length=8, choices=Holds, default=Holds.ALWAYS)
    platform = models.ForeignKey(
        Platform, models.CASCADE, null=True, related_name="+", db_index=False,
        help_text="Whose last good sync its facts are as old as. Null where it holds always.",
    )  # fmt: skip
    period = models.PositiveIntegerField(
        null=True, help_text="That sync is recent for three times so many seconds. Null: as a manifest says itself."
    )
    level_1 = models.CharField(max_length=9, choices=Level)
    reason_1 = models.CharField(max_length=500, null=True)
    until_1 = models.DateTimeField(help_text="Far in the future where the step has no end.")
    level_2 = models.CharField(max_length=9, choices=Level, null=True)
    reason_2 = models.CharField(max_length=500, null=True)
    until_2 = models.DateTimeField(null=True)
    level_3 = models.CharField(max_length=9, choices=Level, null=True)
    reason_3 = models.CharField(max_length=500, null=True)
    until_3 = models.DateTimeField(null=True)
    level_4 = models.CharField(max_length=9, choices=Level, null=True)
    reason_4 = models.CharField(max_length=500, null=True)
    until_4 = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["app", "holds"], name="health_timetable_once")]
        # A step holds from the end of the one before: so an index tells those that hold now from those that will.
        # One organization's rows lie together, so its lists go by it; overviews of all of them go by the level.
        indexes = [
            models.Index(fields=["organization", "holds", "level_1", "until_1"], name="health_first"),
            models.Index(
                fields=["organization", "holds", "level_2", "until_1"],
                condition=models.Q(level_2__isnull=False),
                name="health_second",
            ),
            models.Index(
                fields=["organization", "holds", "level_3", "until_2"],
                condition=models.Q(level_3__isnull=False),
                name="health_third",
            ),
            models.Index(
                fields=["organization", "holds", "level_4", "until_3"],
                condition=models.Q(level_4__isnull=False),
                name="health_fourth",
            ),
            models.Index(fields=["level_1", "until_1"], name="health_first_of_all"),
            models.Index(
                fields=["level_2", "until_1"], condition=models.Q(level_2__isnull=False), name="health_second_of_all"
            ),
            models.Index(
                fields=["level_3", "until_2"], condition=models.Q(level_3__isnull=False), name="health_third_of_all"
            ),
            models.Index(
                fields=["level_4", "until_3"], condition=models.Q(level_4__isnull=False), name="health_fourth_of_all"
            ),
        ]

    def __str__(self) -> str:
        return f"Health of {self.app}"
