"""AppScope: one application of an organization, and what hangs from it."""

from dataclasses import dataclass

from apps.orgs.app_health import Health, health_of
from apps.orgs.repositories import clone_url
from apps.orgs.rows import Row
from apps.orgs.versions import Reading


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
        "connection_id", "connection__base_url",
    )  # fmt: skip

    def __init__(self, organization_id: str, row: Row, reading: Reading) -> None:
        self.organization_id = organization_id
        self.row = row
        self.reading = reading
        self.id: str = row["id"]

    def health(self) -> Health:
        """Its health from stored facts, in three queries."""
        health = health_of(self.row, self.organization_id, self.reading)
        self.reading.ends(health.until)
        return health

    def repository(self) -> AppRepository | None:
        """Where its source lies; None where it has no repository (an image, an upload) or none with such an address."""
        url = clone_url(self.row["source_type"], self.row["repository"], self.row["connection__base_url"])
        if url is None:
            return None
        return AppRepository(url, self.row["branch"], f"{self.organization_id}:{self.row['connection_id'] or ''}")
