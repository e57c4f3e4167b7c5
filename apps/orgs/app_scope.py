"""AppScope: one application of an organization, and what hangs from it."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Q, Subquery
from django.utils import timezone

from apps.orgs.app_health import Health, health_of
from apps.orgs.health import certificate_status
from apps.orgs.models import Deployment, Domain, EnvVarName, Preview, SourceConnection
from apps.orgs.repositories import clone_url
from apps.orgs.rows import Missing, Row, Rows


@dataclass(frozen=True, slots=True)
class AppRepository:
    """`url` to fetch from, the application's `branch`, and `owner`: who may share a stored copy of it."""

    url: str
    branch: str | None
    owner: str


class AppScope:
    """An application that was found in its organization, and is not hidden (see OrgScope.app)."""

    COLUMNS = (
        "id", "name", "status", "project_id", "environment_id", "names_skipped", "source_type", "repository", "branch",
        "connection_id", "connection__type", "connection__base_url", "connection__credentials",
    )  # fmt: skip

    def __init__(self, organization_id: str, row: Row) -> None:
        self.organization_id = organization_id
        self.row = row
        self.id: str = row["id"]

    def domains(self) -> Rows:
        """Domains by host, then path, with what the last outside look saw of their certificate and DNS."""
        return Rows(
            Domain.objects.filter(app_id=self.id).values(*DOMAIN_COLUMNS),
            order=("host", "path", "id"),
            finish=_finish_domains,
        )

    def previews(self, *, pull_request_number: int | None, status: str | None) -> Rows:
        """Previews, the newest first, each with the id of its last deployment."""
        previews = Preview.objects.filter(app_id=self.id)
        if pull_request_number is not None:
            previews = previews.filter(pull_request_number=pull_request_number)
        if status is not None:
            previews = previews.filter(status=status)
        newest = Deployment.objects.filter(preview_id=OuterRef("id")).order_by("-created_at", "-id").values("id")[:1]
        return Rows(
            previews.values(*PREVIEW_COLUMNS, last_deployment_id=Subquery(newest)),
            order=("-created_at", "-id"),
            finish=self._finish,
        )

    def deployments(
        self, *, preview_id: str | None, status: str | None, since: datetime | None, until: datetime | None
    ) -> Rows:
        """Deployments, the newest first; `since` is inclusive, `until` exclusive. Raises Missing("preview")."""
        deployments = Deployment.objects.filter(app_id=self.id)
        if preview_id is not None:
            deployments = deployments.filter(preview_id=self._existing_preview(preview_id))
        if status is not None:
            deployments = deployments.filter(status=status)
        if since is not None:
            deployments = deployments.filter(created_at__gte=since)
        if until is not None:
            deployments = deployments.filter(created_at__lt=until)
        return Rows(
            deployments.values(*DEPLOYMENT_COLUMNS),
            order=("-created_at", "-id"),
            finish=self._finish_deployments,
        )

    def variable_names(self, *, scope: str | None) -> Rows:
        """Names of the variables it sees: its own, its environment's and its project's, by name."""
        seen = Q(app_id=self.id) | Q(project_id=self.row["project_id"])
        if self.row["environment_id"] is not None:
            seen |= Q(environment_id=self.row["environment_id"])
        names = EnvVarName.objects.filter(seen)
        if scope is not None:
            names = names.filter(scope=scope)
        return Rows(
            names.values(*VARIABLE_COLUMNS),
            order=("sort_key", "scope", "id"),
            extra={"skippedCount": self.row["names_skipped"]},
        )

    def health(self) -> Health:
        """Its health from stored facts, in three queries."""
        return health_of(self.row)

    def repository(self) -> AppRepository | None:
        """Where its source lies; None where it has no repository (an image, an upload) or none that can be read."""
        url = clone_url(self.row["source_type"], self.row["repository"], self.row["connection__base_url"])
        if url is None or self.row["connection__credentials"] == SourceConnection.Credentials.MISSING:
            return None
        return AppRepository(url, self.row["branch"], f"{self.organization_id}:{self.row['connection_id'] or ''}")

    def _existing_preview(self, preview_id: str) -> str:
        if not Preview.objects.filter(id=preview_id, app_id=self.id).exists():
            raise Missing("preview")
        return preview_id

    def _finish(self, rows: list[Row]) -> None:
        """The contract says applicationId; what tools read is called so too."""
        for row in rows:
            row["application_id"] = self.id

    def _finish_deployments(self, deployments: list[Row]) -> None:
        self._finish(deployments)
        for row in deployments:
            started, finished = row["started_at"], row["finished_at"]
            both = started is not None and finished is not None
            row["duration_ms"] = max(0, round((finished - started).total_seconds() * 1000)) if both else None
            row["environment_id"] = self.row["environment_id"]


def _finish_domains(domains: list[Row]) -> None:
    now = timezone.now()
    for row in domains:
        row["url"] = f"{'https' if row['https'] else 'http'}://{row['host']}{row['path']}"
        row["certificate_status"] = certificate_status(row, now)
        row["certificate_expires_at"] = row["edge__tls_not_after"]
        row["checked_at"] = row["edge__checked_at"]
        row["dns_status"] = row["edge__dns_status"] or "unknown"


DOMAIN_COLUMNS = (
    "id", "external_id", "host", "path", "https", "port", "certificate_type", "is_enabled", "preview_id", "created_at",
    "edge__dns_status", "edge__tls_not_after", "edge__tls_is_valid", "edge__checked_at",
)  # fmt: skip
PREVIEW_COLUMNS = (
    "id", "external_id", "pull_request_number", "pull_request_title", "pull_request_url", "branch", "url",
    "status", "upstream_status", "created_at", "expires_at",
)  # fmt: skip
DEPLOYMENT_COLUMNS = (
    "id", "external_id", "preview_id", "status", "upstream_status", "title", "commit_sha", "commit_message",
    "branch", "trigger", "created_at", "started_at", "finished_at", "error_message", "dashboard_url",
)  # fmt: skip
VARIABLE_COLUMNS = ("id", "name", "scope", "references", "updated_at", "sort_key")
