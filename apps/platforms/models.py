"""How Porthole reaches a platform, and how reading it goes."""

from django.db import models

from apps.orgs.models import Platform
from apps.orgs.models.fields import ProseField


class PlatformConnection(models.Model):
    """The address and the key of a deployment system. The key is encrypted at rest, and shown nowhere.

    When its platform is read next, and whether that failed, is in the schedule `platform:<id>` of apps.jobs.
    """

    platform = models.OneToOneField(Platform, models.CASCADE, primary_key=True, related_name="connection")
    base_url = models.CharField(max_length=500)
    encrypted_key = models.TextField(editable=False)
    organization_key = models.CharField(
        max_length=128, editable=False, help_text="The platform's own id of the organization or team."
    )
    organization_name = ProseField(max_length=200, editable=False)
    role = ProseField(max_length=50, null=True, editable=False)
    can_write = models.BooleanField(null=True, editable=False, help_text="Whether the key could change something.")
    reads_previews = models.BooleanField(
        default=False, help_text="Coolify only: list previews with its MCP server, which must be switched on there."
    )
    detail_cursor = models.CharField(
        max_length=128, null=True, editable=False, help_text="The last application read whole in rotation."
    )
    progress = models.JSONField(null=True, editable=False, help_text="How far a sync that is under way has got.")
    last_error = ProseField(max_length=300, null=True, editable=False)
    last_duration_ms = models.PositiveIntegerField(null=True, editable=False)
    last_counts = models.JSONField(default=dict, editable=False, help_text="Of the last good reading, by kind of row.")
    deletions_to_confirm = models.JSONField(
        null=True, editable=False, help_text="What would be hidden, where that is so much that somebody has to agree."
    )
    confirmed_at = models.DateTimeField(null=True, editable=False, help_text="When somebody last agreed.")

    class Meta:
        verbose_name = "platform connection"

    def __str__(self) -> str:
        return f"{self.platform} at {self.base_url}"

    def __repr__(self) -> str:
        return f"<PlatformConnection {self.pk}>"
