"""AppScope: one application of an organization, and what hangs from it."""

from dataclasses import dataclass

from django.db.models import F

from apps.orgs.health import Health, health_of
from apps.orgs.models import App, Deployment, Domain, SourceConnection
from apps.orgs.repositories import clone_url
from apps.orgs.rows import Row


@dataclass(frozen=True, slots=True)
class AppRepository:
    """`url` to fetch from, the application's `branch`, and `owner`: who may share a stored copy of it."""

    url: str
    branch: str | None
    owner: str


class AppScope:
    """An application that was found in its organization, and is not hidden (see OrgScope.app)."""

    COLUMNS = (
        "id", "name", "status", "source_type", "repository", "branch",
        "connection_id", "connection__type", "connection__base_url", "connection__credentials",
    )  # fmt: skip

    def __init__(self, organization_id: str, row: Row) -> None:
        self.organization_id = organization_id
        self.row = row
        self.id: str = row["id"]

    def health(self) -> Health:
        """Its health from stored facts, in three queries. Domains of previews and disabled ones tell nothing of it."""
        facts = App.objects.filter(id=self.id).values(*APP_FACTS).first()
        last = (
            Deployment.objects.filter(app_id=self.id, is_preview=False)
            .order_by("-created_at", "-id")
            .values("id", "status", "created_at", "finished_at")
            .first()
        )
        domains = (
            Domain.objects.filter(app_id=self.id, preview_id__isnull=True, is_enabled=True)
            .order_by("host", "path", "id")
            .values("host", "path", *(f"edge__{fact}" for fact in EDGE_FACTS), period=F("edge__period"))
        )
        return health_of(self.row, facts, dict(last) if last else None, list(domains[:MAX_DOMAINS_JUDGED]))

    def repository(self) -> AppRepository | None:
        """Where its source lies; None where it has no repository (an image, an upload) or none that can be read."""
        url = clone_url(self.row["source_type"], self.row["repository"], self.row["connection__base_url"])
        if url is None or self.row["connection__credentials"] == SourceConnection.Credentials.MISSING:
            return None
        return AppRepository(url, self.row["branch"], f"{self.organization_id}:{self.row['connection_id'] or ''}")


MAX_DOMAINS_JUDGED = 1000  # of an application's domains
APP_FACTS = (
    "edge_statistics__uptime_24h", "edge_statistics__latency_p50_ms", "edge_statistics__latency_p95_ms",
    "runtime__app_id", "runtime__desired_replicas", "runtime__running_replicas", "runtime__instances",
    "runtime__checked_at", "runtime__period", "runtime__platform__last_sync_at",
)  # fmt: skip
EDGE_FACTS = (
    "reachable", "http_status", "latency_ms", "tls_issuer", "tls_not_after", "tls_is_valid", "dns_status", "error",
    "checked_at",
)  # fmt: skip
