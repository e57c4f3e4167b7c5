"""Facts about health: what an outside look at a domain saw, and what the platform says is running."""

from django.db import models

from apps.orgs.models.deployments import Domain
from apps.orgs.models.owned import Owned
from apps.orgs.models.projects import App


class EdgeFact(Owned):
    """The last outside look at one domain. Latencies are in milliseconds."""

    class DnsStatus(models.TextChoices):
        RESOLVES = "resolves"
        UNRESOLVED = "unresolved"
        UNKNOWN = "unknown"

    domain = models.OneToOneField(Domain, models.CASCADE, primary_key=True, related_name="edge")
    checked_at = models.DateTimeField()
    reachable = models.BooleanField()
    http_status = models.PositiveSmallIntegerField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    dns_status = models.CharField(max_length=10, choices=DnsStatus, default=DnsStatus.UNKNOWN)
    tls_issuer = models.CharField(max_length=200, null=True)
    tls_not_after = models.DateTimeField(null=True)
    tls_is_valid = models.BooleanField(null=True, help_text="False: a browser would refuse the certificate.")
    error = models.CharField(max_length=300, null=True)

    class Meta:
        verbose_name = "look at a domain"
        verbose_name_plural = "looks at domains"
        indexes = [
            models.Index(fields=["organization"], name="edge_of"),
            models.Index(fields=["platform"], name="edge_of_platform"),
        ]

    def __str__(self) -> str:
        return f"Look at {self.domain}"


class AppFact(Owned):
    """What is known of one application as a whole: its edge over the last day, and its running instances."""

    app = models.OneToOneField(App, models.CASCADE, primary_key=True, related_name="facts")
    uptime_24h = models.FloatField(null=True, help_text="Share of looks that reached it, 0 to 1.")
    latency_p50_ms = models.PositiveIntegerField(null=True)
    latency_p95_ms = models.PositiveIntegerField(null=True)
    has_runtime = models.BooleanField(default=False, help_text="The platform said what is running.")
    desired_replicas = models.PositiveIntegerField(null=True)
    running_replicas = models.PositiveIntegerField(null=True)
    instances = models.JSONField(default=list, blank=True, help_text="At most 20: state, since, message.")

    class Meta:
        verbose_name = "state of an application"
        verbose_name_plural = "states of applications"
        indexes = [
            models.Index(fields=["organization"], name="app_fact_of"),
            models.Index(fields=["platform"], name="app_fact_of_platform"),
        ]

    def __str__(self) -> str:
        return f"State of {self.app}"
