"""Projects, their environments, the applications in them, and the source connections that applications build from."""

from typing import Any, ClassVar

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from apps.orgs.models.fields import IdentifierField, ProseField, SearchKeyField, SortKeyField, WebAddressField, id_field
from apps.orgs.models.indexes import WalkedIndex
from apps.orgs.models.judged import Judged, JudgedQuerySet
from apps.orgs.models.named import Named
from apps.orgs.models.owned import Keyed, keyed_constraint
from apps.orgs.models.placed import MovingQuerySet, move


class Status(models.TextChoices):
    """What the platform says of an application or a preview. It is not health: see `apps.orgs.health`."""

    IDLE = "idle"
    DEPLOYING = "deploying"
    DEPLOYED = "deployed"
    ERROR = "error"
    UNKNOWN = "unknown"


class SourceConnection(Named, Keyed):
    """An account at a git host that applications are built from. Credentials are never in this row.

    `credentials` is what the platform has, which Porthole never gets; `own_credentials` what an operator gave Porthole.
    """

    class Type(models.TextChoices):
        GITHUB = "github"
        GITLAB = "gitlab"
        BITBUCKET = "bitbucket"
        GITEA = "gitea"
        GIT = "git"

    class Credentials(models.TextChoices):
        NOT_NEEDED = "not_needed"
        WORKING = "working"
        MISSING = "missing"

    class OwnCredentials(models.TextChoices):
        NONE = "none"
        WORKING = "working"
        REFUSED = "refused"

    id = id_field("con")
    type = models.CharField(max_length=9, choices=Type)
    name = ProseField(max_length=100)
    sort_key = SortKeyField(of="name", max_length=300)
    account_login = IdentifierField(max_length=100, null=True, blank=True)
    base_url = WebAddressField(max_length=500, null=True, blank=True, help_text="Where a self-hosted git host answers.")
    credentials = models.CharField(max_length=10, choices=Credentials, default=Credentials.NOT_NEEDED)
    own_credentials = models.CharField(
        max_length=7, choices=OwnCredentials, default=OwnCredentials.NONE, editable=False,
        help_text="Whether Porthole has credentials of its own for it, and the host takes them.",
    )  # fmt: skip

    class Meta:
        constraints = [keyed_constraint("connection_key")]
        indexes = [models.Index(fields=["organization", "sort_key", "id"], name="connection_by_name")]


class Project(Named, Keyed):
    """A group of applications, as the platform groups them."""

    id = id_field("prj")
    name = ProseField(max_length=200)
    description = ProseField(max_length=1000, lines=True, null=True, blank=True)
    sort_key = SortKeyField(of="name", max_length=600)
    search_key = SearchKeyField(of=("name", "description"))
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [keyed_constraint("project_key")]
        indexes = [models.Index(fields=["organization", "sort_key", "id"], name="project_by_name")]


class Environment(Named, Keyed):
    """A stage of a project (production, staging). Some platforms have none."""

    id = id_field("env")
    project = models.ForeignKey(Project, models.CASCADE, related_name="environments", db_index=False)
    name = ProseField(max_length=100)
    sort_key = SortKeyField(of="name", max_length=300)
    is_default = models.BooleanField(default=False)

    class Meta:
        constraints = [keyed_constraint("environment_key")]
        indexes = [
            models.Index(fields=["project", "sort_key", "id"], name="environment_by_name"),
            models.Index(fields=["organization", "sort_key", "id"], name="environment_of"),
        ]


class AppQuerySet(JudgedQuerySet, MovingQuerySet):  # type: ignore[override]  # of as_manager: each has its own
    pass


class App(Judged, Named, Keyed):
    """An application or a compose stack. One that is hidden may have no project: its own may be gone for good."""

    judged = frozenset({"status"})
    judged_app = "pk"
    uncounted = frozenset({"detail_read_at"})

    class Kind(models.TextChoices):
        APPLICATION = "application"
        COMPOSE = "compose"

    class SourceType(models.TextChoices):
        GITHUB = "github"
        GITLAB = "gitlab"
        BITBUCKET = "bitbucket"
        GITEA = "gitea"
        GIT = "git"
        DOCKER = "docker"
        UPLOAD = "upload"

    id = id_field("app")
    project = models.ForeignKey(Project, models.CASCADE, null=True, related_name="apps", db_index=False)
    environment = models.ForeignKey(
        Environment, models.SET_NULL, null=True, blank=True, related_name="apps", db_index=False
    )
    name = ProseField(max_length=200)
    slug = IdentifierField(max_length=200)
    description = ProseField(max_length=1000, lines=True, null=True, blank=True)
    sort_key = SortKeyField(of="name", max_length=600)
    search_key = SearchKeyField(of=("name", "slug", "description", "repository"))
    kind = models.CharField(max_length=11, choices=Kind, default=Kind.APPLICATION)
    status = models.CharField(max_length=9, choices=Status, default=Status.UNKNOWN)
    upstream_status = ProseField(max_length=50, null=True, blank=True)
    source_type = models.CharField(max_length=9, choices=SourceType)
    repository = IdentifierField(max_length=500, null=True, blank=True)
    branch = IdentifierField(max_length=255, null=True, blank=True)
    image = IdentifierField(max_length=500, null=True, blank=True)
    connection = models.ForeignKey(SourceConnection, models.SET_NULL, null=True, blank=True, related_name="apps")
    primary_url = WebAddressField(max_length=2000, null=True, blank=True)
    last_deployed_at = models.DateTimeField(null=True, editable=False)
    names_skipped = models.PositiveIntegerField(default=0, help_text="Variable names the platform gave that are none.")
    dashboard_url = WebAddressField(max_length=2000, null=True, blank=True, help_text="Its page at the platform.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    detail_read_at = models.DateTimeField(
        null=True, editable=False, help_text="When the platform was last asked for more than its state, to the hour."
    )
    hidden_at = models.DateTimeField(
        null=True, editable=False, help_text="When a complete reading no longer had it. It is kept for seven days."
    )

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(AppQuerySet)()  # type: ignore[assignment]

    class Meta:
        verbose_name = "application"
        constraints = [
            keyed_constraint("app_key"),
            models.CheckConstraint(
                condition=Q(project__isnull=False) | Q(hidden_at__isnull=False), name="app_in_a_project_unless_hidden"
            ),
        ]
        indexes = [
            models.Index(fields=["organization", "sort_key", "id"], name="app_by_name"),
            models.Index(fields=["organization", "status", "sort_key", "id"], name="app_by_status"),
            models.Index(
                fields=["organization", "branch", "sort_key", "id"],
                condition=Q(branch__isnull=False),
                name="app_of_branch",
            ),
            models.Index(fields=["project", "sort_key", "id"], name="app_of_project"),
            models.Index(fields=["environment", "sort_key", "id"], name="app_of_environment"),
            models.Index(fields=["organization", "id"], condition=Q(hidden_at__isnull=False), name="app_hidden_of"),
            WalkedIndex(fields=["organization", "sort_key", "id"], name="app_walked"),
            WalkedIndex(fields=["organization", "sort_key", "id"], name="app_walked_long"),
            models.Index(fields=["organization"], condition=Q(names_skipped__gt=0), name="app_with_names_skipped"),
        ]

    def save_base(self, *args: Any, **kwargs: Any) -> None:
        names, is_new = kwargs.get("update_fields"), self._state.adding
        with transaction.atomic(using=kwargs.get("using")):
            super().save_base(*args, **kwargs)
            if not is_new and (names is None or not {"project", "environment"}.isdisjoint(names)):
                move([self.pk])
