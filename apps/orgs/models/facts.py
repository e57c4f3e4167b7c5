"""Facts about health: what outside checks of a domain and an application saw, and what the platform says is running.

Each row has one owner, the platform that told it or (without one) the prober, and nobody else writes it; but what the
prober wrote becomes the platform's once that tells it too.
"""

from typing import Any, ClassVar

from django.db import models

from apps.orgs.models.deployments import Domain
from apps.orgs.models.fields import ProseField
from apps.orgs.models.judged import Judged, JudgedQuerySet
from apps.orgs.models.owned import Owned
from apps.orgs.models.projects import App
from apps.orgs.models.versioned import Versioned, VersionedQuerySet

PROBE_PERIOD = 60  # seconds


class Fact(Owned, Versioned):
    """Something that is checked again every `period` seconds by whoever owns the row.

    The prober and `apply` say themselves which version to raise: most of the time nothing is new but a time.
    """

    period = models.PositiveIntegerField(
        null=True, default=PROBE_PERIOD, help_text="Seconds between two checks. Null: nobody checks again."
    )

    class Meta:
        abstract = True


class JudgedFactQuerySet(JudgedQuerySet, VersionedQuerySet):  # type: ignore[override]  # of as_manager: each has its own
    pass


class EdgeFact(Judged, Fact):
    """The last outside check of one domain. Latencies are in milliseconds."""

    judged = frozenset(
        {
            "platform", "period", "checked_at", "reachable", "http_status", "dns_status", "tls_not_after",
            "tls_is_valid",
        }
    )  # fmt: skip
    judged_app = "domain__app_id"

    class DnsStatus(models.TextChoices):
        RESOLVES = "resolves"
        UNRESOLVED = "unresolved"
        UNKNOWN = "unknown"

    domain = models.OneToOneField(Domain, models.CASCADE, primary_key=True, related_name="edge")
    checked_at = models.DateTimeField()
    reachable = models.BooleanField(null=True, help_text="Null: it cannot be checked from here.")
    http_status = models.PositiveSmallIntegerField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    dns_status = models.CharField(max_length=10, choices=DnsStatus, default=DnsStatus.UNKNOWN)
    tls_issuer = ProseField(max_length=200, null=True)
    tls_not_after = models.DateTimeField(null=True)
    tls_is_valid = models.BooleanField(null=True, help_text="False: a browser would refuse the certificate.")
    error = ProseField(max_length=300, lines=True, null=True)

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(JudgedFactQuerySet)()  # type: ignore[assignment]

    class Meta:
        verbose_name = "edge check"
        indexes = [
            models.Index(fields=["organization", "tls_not_after"], name="edge_of"),
            models.Index(fields=["tls_not_after"], name="edge_by_expiry"),
            models.Index(fields=["platform"], name="edge_of_platform"),
        ]

    def __str__(self) -> str:
        return f"Edge check of {self.domain}"


class EdgeHour(models.Model):
    """The outside checks of one domain in one hour: each of them for a day or two, then only what they come to.

    `checks`: four bytes a check, big-endian: the second of the hour (12 bits), whether it passed (1 bit), the latency
    in milliseconds (19 bits; all ones where there is none). Empty once it was thinned.
    """

    domain = models.ForeignKey(Domain, models.CASCADE, related_name="hours", db_index=False)
    hour = models.DateTimeField(help_text="When it began.")
    checks = models.BinaryField(default=bytes, max_length=4 * 720)
    count = models.PositiveSmallIntegerField(default=0)
    passed = models.PositiveSmallIntegerField(default=0)
    latency_p50_ms = models.PositiveIntegerField(null=True)
    latency_p95_ms = models.PositiveIntegerField(null=True)

    class Meta:
        verbose_name = "hour of edge checks"
        verbose_name_plural = "hours of edge checks"
        constraints = [models.UniqueConstraint(fields=["domain", "hour"], name="edge_hour_once")]
        indexes = [models.Index(fields=["hour"], name="edge_hour_by_age")]

    def __str__(self) -> str:
        return f"Edge checks of {self.domain}, {self.hour:%Y-%m-%d %H}h"


class EdgeStatistics(Fact):
    """What the outside checks of one application's domains come to.

    `checked_at` is null where it is as old as the platform's last good sync: so here, and of RuntimeFact.
    """

    app = models.OneToOneField(App, models.CASCADE, primary_key=True, related_name="edge_statistics")
    checked_at = models.DateTimeField(null=True)
    uptime_24h = models.FloatField(null=True, help_text="Share of checks in the last 24 hours that it passed, 0 to 1.")
    latency_p50_ms = models.PositiveIntegerField(null=True)
    latency_p95_ms = models.PositiveIntegerField(null=True)

    class Meta:
        verbose_name = verbose_name_plural = "edge statistics"
        indexes = [
            models.Index(fields=["organization"], name="edge_statistics_of"),
            models.Index(fields=["platform"], name="edge_statistics_of_platform"),
        ]

    def __str__(self) -> str:
        return f"Edge statistics of {self.app}"


class RuntimeFact(Judged, Fact):
    """What the platform says is running of one application. Without a row it says nothing."""

    judged = frozenset({"platform", "period", "checked_at", "desired_replicas", "running_replicas"})

    app = models.OneToOneField(App, models.CASCADE, primary_key=True, related_name="runtime")
    checked_at = models.DateTimeField(null=True)
    desired_replicas = models.PositiveIntegerField(null=True)
    running_replicas = models.PositiveIntegerField(null=True)
    instances = models.JSONField(default=list, blank=True, help_text="At most 20: state, since, message.")

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(JudgedFactQuerySet)()  # type: ignore[assignment]

    class Meta:
        verbose_name = "runtime"
        verbose_name_plural = "runtimes"
        indexes = [
            models.Index(fields=["organization"], name="runtime_of"),
            models.Index(fields=["platform"], name="runtime_of_platform"),
        ]

    def __str__(self) -> str:
        return f"Runtime of {self.app}"
