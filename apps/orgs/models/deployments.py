"""What runs and what was deployed: domains, previews and deployments of an application."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from apps.orgs.models.fields import (
    CodePointField,
    IdentifierField,
    ProseField,
    SearchKeyField,
    WebAddressField,
    id_field,
)
from apps.orgs.models.judged import Judged, JudgedQuerySet
from apps.orgs.models.named import Named
from apps.orgs.models.owned import Keyed, keyed_constraint
from apps.orgs.models.placed import NamedPlacedQuerySet, Placed, PlacedQuerySet
from apps.orgs.models.projects import App, Status


class JudgedPlacedQuerySet(JudgedQuerySet, PlacedQuerySet):  # type: ignore[override]  # of as_manager: each has its own
    pass


class JudgedPlaced(Judged, Placed, Keyed):
    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(JudgedPlacedQuerySet)()  # type: ignore[assignment]

    class Meta:
        abstract = True


class DeploymentQuerySet(JudgedQuerySet, NamedPlacedQuerySet):  # type: ignore[override]
    pass


class Preview(JudgedPlaced):
    """A copy of an application that runs one pull request. With it its domains' link to it goes."""

    id = id_field("prv")
    app = models.ForeignKey(App, models.CASCADE, related_name="previews", db_index=False)
    pull_request_number = models.PositiveIntegerField(null=True, blank=True)
    pull_request_title = ProseField(max_length=300, null=True, blank=True)
    pull_request_url = WebAddressField(max_length=2000, null=True, blank=True)
    branch = IdentifierField(max_length=255)
    url = WebAddressField(max_length=2000, null=True, blank=True)
    status = models.CharField(max_length=9, choices=Status, default=Status.UNKNOWN)
    upstream_status = ProseField(max_length=50, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [keyed_constraint("preview_key")]
        indexes = [
            models.Index("app", F("created_at").desc(), F("id").desc(), name="preview_newest"),
            models.Index("organization", F("created_at").desc(), F("id").desc(), name="preview_of"),
            models.Index("organization", "status", F("created_at").desc(), F("id").desc(), name="preview_status_of"),
            models.Index(
                "organization",
                "pull_request_number",
                F("created_at").desc(),
                F("id").desc(),
                condition=Q(pull_request_number__isnull=False),
                name="preview_of_number",
            ),
            models.Index("within_project", F("created_at").desc(), F("id").desc(), name="preview_in_project"),
            models.Index("within_environment", F("created_at").desc(), F("id").desc(), name="preview_in_environment"),
        ]

    def __str__(self) -> str:
        return self.branch


class Domain(JudgedPlaced):
    """A host and path under which an application (or one of its previews) answers."""

    judged = frozenset({"app", "host", "path", "preview", "is_enabled"})

    class CertificateType(models.TextChoices):
        LETSENCRYPT = "letsencrypt"
        CUSTOM = "custom"
        NONE = "none"
        UNKNOWN = "unknown"

    id = id_field("dom")
    app = models.ForeignKey(App, models.CASCADE, related_name="domains", db_index=False)
    preview = models.ForeignKey(Preview, models.SET_NULL, null=True, blank=True, related_name="domains", db_index=False)
    host = CodePointField(max_length=253)
    path = CodePointField(max_length=500, default="/")
    https = models.BooleanField("HTTPS")
    port = models.PositiveIntegerField(null=True, blank=True)
    certificate_type = models.CharField(max_length=11, choices=CertificateType, default=CertificateType.UNKNOWN)
    is_enabled = models.BooleanField("enabled", default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [keyed_constraint("domain_key")]
        indexes = [
            models.Index(fields=["app", "host", "path", "id"], name="domain_by_host"),
            models.Index(fields=["organization", "host", "path", "id"], name="domain_of"),
            models.Index(fields=["within_project", "host", "path", "id"], name="domain_in_project"),
            models.Index(fields=["within_environment", "host", "path", "id"], name="domain_in_environment"),
            models.Index(fields=["preview"], condition=Q(preview__isnull=False), name="domain_of_preview"),
        ]

    def __str__(self) -> str:
        return f"{self.host}{self.path}"


class Deployment(JudgedPlaced, Named):
    """One attempt to bring a version of an application (or of a preview) out. Kept while its application exists."""

    judged = frozenset({"app", "is_preview", "status", "created_at"})

    class Status(models.TextChoices):
        QUEUED = "queued"
        BUILDING = "building"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"
        UNKNOWN = "unknown"

    class Trigger(models.TextChoices):
        WEBHOOK = "webhook"
        API = "api"
        MANUAL = "manual"
        ROLLBACK = "rollback"
        UNKNOWN = "unknown"

    id = id_field("dep")
    app = models.ForeignKey(App, models.CASCADE, related_name="deployments", db_index=False)
    preview = models.ForeignKey(
        Preview, models.SET_NULL, null=True, blank=True, related_name="deployments", db_index=False
    )
    is_preview = models.BooleanField(default=False, help_text="It deployed a preview, which may be deleted by now.")
    status = models.CharField(max_length=9, choices=Status, default=Status.UNKNOWN)
    upstream_status = ProseField(max_length=50, null=True, blank=True)
    title = ProseField(max_length=300)
    search_key = SearchKeyField(of=("title",), db_default="")
    commit_sha = CodePointField(max_length=64, null=True, blank=True)
    commit_message = ProseField(max_length=300, lines=True, null=True, blank=True)
    branch = IdentifierField(max_length=255, null=True, blank=True)
    author = ProseField(max_length=200, null=True, blank=True, help_text="Who began it, as the platform says.")
    trigger = models.CharField(max_length=8, choices=Trigger, default=Trigger.UNKNOWN)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    error_message = ProseField(max_length=300, lines=True, null=True, blank=True)
    dashboard_url = WebAddressField(max_length=2000, null=True, blank=True, help_text="Its page at the platform.")

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(DeploymentQuerySet)()  # type: ignore[assignment]

    class Meta:
        constraints = [keyed_constraint("deployment_key")]
        indexes = [
            # With the title: who looks for a part of it reads the index alone.
            models.Index(F("created_at").desc(), F("id").desc(), "search_key", name="deployment_of_all"),
            models.Index("status", F("created_at").desc(), F("id").desc(), name="deployment_status_of_all"),
            models.Index("app", F("created_at").desc(), F("id").desc(), name="deployment_newest"),
            models.Index("app", "status", F("created_at").desc(), F("id").desc(), name="deployment_by_status"),
            # Most deployed no preview: those are not in it.
            models.Index(
                "preview",
                F("created_at").desc(),
                F("id").desc(),
                condition=Q(preview__isnull=False),
                name="deployment_of_preview",
            ),
            models.Index("organization", F("created_at").desc(), F("id").desc(), "search_key", name="deployment_of"),
            models.Index("within_project", F("created_at").desc(), F("id").desc(), name="deployment_in_project"),
            models.Index(
                "within_environment", F("created_at").desc(), F("id").desc(), name="deployment_in_environment"
            ),
            models.Index("organization", "status", F("created_at").desc(), F("id").desc(), name="deployment_status_of"),
            # What was built of no repository has neither.
            models.Index(
                "organization",
                "branch",
                F("created_at").desc(),
                F("id").desc(),
                condition=Q(branch__isnull=False),
                name="deployment_of_branch",
            ),
            models.Index(
                fields=["organization", "commit_sha"],
                condition=Q(commit_sha__isnull=False),
                name="deployment_of_commit",
            ),
            # Many a large place has none of them, which a walk would learn only at its end; of the others it has many.
            *(
                models.Index(
                    place,
                    F("created_at").desc(),
                    F("id").desc(),
                    condition=Q(is_preview=True),
                    name=name,
                )
                for place, name in (
                    ("organization", "deployment_previewed_o"),
                    ("app", "deployment_previewed"),
                    ("within_project", "deployment_previewed_p"),
                    ("within_environment", "deployment_previewed_e"),
                )
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def save_base(self, *args: Any, **kwargs: Any) -> None:
        # It stays so when the preview is gone.
        self.is_preview = self.is_preview or self.preview_id is not None
        super().save_base(*args, **kwargs)
