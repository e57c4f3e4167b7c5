"""Organizations, who belongs to them, and the sources that their rows come from."""

from typing import Any, ClassVar

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from apps.orgs.models.fields import IdentifierField, ProseField, SearchKeyField, id_field
from apps.orgs.models.judged import JudgedBy, JudgedByQuerySet
from apps.orgs.models.named import Named
from apps.orgs.models.versioned import Versioned, VersionedQuerySet

SLUG = RegexValidator(r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z", "Use lowercase letters, digits and hyphens.")


class Organization(Named):
    """What one token sees: everything else carries this row's id."""

    uncounted = frozenset({"synced_at", "allows_script_tokens"})
    owner_column = "id"
    outlived_by_its_owner = False

    id = id_field("org")
    name = ProseField(max_length=100)
    slug = models.CharField(max_length=63, unique=True, validators=[SLUG])
    search_key = SearchKeyField(of=("name",), db_default="")
    plan = ProseField(max_length=50, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    synced_at = models.DateTimeField(null=True, editable=False, help_text="The oldest of its sources' last good syncs.")
    project_limit = models.PositiveIntegerField(null=True, blank=True)
    app_limit = models.PositiveIntegerField(null=True, blank=True)
    domain_limit = models.PositiveIntegerField(null=True, blank=True)
    preview_limit = models.PositiveIntegerField(null=True, blank=True)
    default_connection = models.ForeignKey(
        "orgs.SourceConnection", models.SET_NULL, null=True, blank=True, related_name="+"
    )
    allows_script_tokens = models.BooleanField(
        "tokens for scripts", default=True, db_default=True, help_text="Whether members may make tokens for scripts."
    )

    class Meta:
        ordering = ["slug"]
        indexes = [models.Index(fields=["slug", "search_key", "id"], name="organization_by_slug")]


class DataVersion(models.Model):
    """Counts the changes of an organization's rows, in a row of its own so that a long sync blocks nobody.

    Raised in the transaction that changes something, last before it commits (orgs/versions.py).
    """

    organization = models.OneToOneField(Organization, models.CASCADE, primary_key=True, related_name="version")
    data_version = models.PositiveBigIntegerField(default=1, help_text="Of everything that tools read but checks.")
    checks_version = models.PositiveBigIntegerField(default=1, help_text="Of the times and latencies of checks.")

    def __str__(self) -> str:
        return f"{self.data_version}.{self.checks_version}"


class Membership(Versioned):
    """A user's membership of an organization. Its authorizations are deleted with it."""

    class Role(models.TextChoices):
        OWNER = "owner"
        MEMBER = "member"

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="memberships", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=6, choices=Role, default=Role.MEMBER)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "user"], name="one_membership_each")]

    def __str__(self) -> str:
        return f"{self.user} in {self.organization}"


class PlatformQuerySet(JudgedByQuerySet, VersionedQuerySet):  # type: ignore[override]  # of as_manager: each has its own
    pass


class Platform(JudgedBy, Versioned):
    """A deployment system or a manifest: each synced row names its platform."""

    uncounted = frozenset(
        {"last_sync_at", "sync_period", "detail_period", "deletions_confirmed_at", "as_of", "stale_after"}
    )

    class Kind(models.TextChoices):
        DOKPLOY = "dokploy"
        COOLIFY = "coolify"
        MANIFEST = "manifest"

    class SyncStatus(models.TextChoices):
        OK = "ok"
        ERROR = "error"
        NEVER = "never"

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="platforms", db_index=False)
    kind = models.CharField(max_length=8, choices=Kind)
    name = IdentifierField(max_length=100, default="default")
    version = ProseField(max_length=50, null=True, blank=True)
    sync_period = models.PositiveIntegerField(
        null=True, blank=True, help_text="Seconds between two syncs. Empty: synced by hand, and so never stale."
    )
    detail_period = models.PositiveIntegerField(
        null=True, editable=False, help_text="Seconds in which every application is read whole, where that is longer."
    )
    last_sync_at = models.DateTimeField(null=True, editable=False)
    as_of = models.DateTimeField(
        null=True, editable=False, help_text="Of when a manifest's facts are, where it says so: they go stale by it."
    )
    stale_after = models.PositiveIntegerField(
        null=True, editable=False, help_text="Seconds after that until they are too old to rely on."
    )
    deletions_confirmed_at = models.DateTimeField(
        null=True, editable=False, help_text="When somebody last agreed that many applications be hidden."
    )
    last_sync_status = models.CharField(max_length=5, choices=SyncStatus, default=SyncStatus.NEVER, editable=False)

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(PlatformQuerySet)()  # type: ignore[assignment]

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "kind", "name"], name="platform_named_once")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} ({self.name})"

    @property
    def check_period(self) -> int | None:
        """Seconds until what it tells is checked again; None for a manifest, which is synced when somebody does."""
        return None if self.kind == self.Kind.MANIFEST else self.detail_period or self.sync_period
