"""What operators gave Porthole to read git hosts with."""

from django.db import models

from apps.orgs.models import SourceConnection
from apps.orgs.models.fields import ProseField


class SourceCredentials(models.Model):
    """Credentials of Porthole's own for a source connection. The secret is encrypted at rest, and shown nowhere.

    `base_url` is where they were tried: what a platform tells of its connection may change, and gets none of them.
    """

    class Kind(models.TextChoices):
        ACCESS_TOKEN = "access_token", "Access token"
        BASIC = "basic", "User name and token"
        DEPLOY_TOKEN = "deploy_token", "Deploy token"
        GITHUB_APP = "github_app", "GitHub App"

    connection = models.OneToOneField(
        SourceConnection, models.CASCADE, primary_key=True, related_name="stored_credentials"
    )
    kind = models.CharField(max_length=12, choices=Kind)
    base_url = models.CharField(max_length=500)
    username = ProseField(max_length=200, null=True)
    app_id = models.CharField(max_length=100, null=True)
    installation_id = models.CharField(max_length=100, null=True)
    encrypted_secret = models.TextField(editable=False)
    can_write = models.BooleanField(null=True, editable=False, help_text="Whether they could change something.")
    expires_at = models.DateTimeField(null=True, editable=False)
    checked_at = models.DateTimeField(editable=False)

    class Meta:
        verbose_name = verbose_name_plural = "source credentials"

    def __str__(self) -> str:
        return f"{self.get_kind_display()} for {self.base_url}"

    def __repr__(self) -> str:
        return f"<SourceCredentials {self.pk}>"
