"""OrgScope: what one organization can see. The only door from tools to rows.

Every query starts from this organization's id; ids of other organizations name nothing here. Neither do those of
applications that are hidden, nor of anything that belongs to one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.db.models import Q
from django.utils import timezone

from apps.orgs import app_list, lists, named_lists
from apps.orgs.app_scope import AppScope
from apps.orgs.called import id_called
from apps.orgs.clock import Clock
from apps.orgs.cursors import fetch
from apps.orgs.models import SourceConnection
from apps.orgs.narrowing import Place, existing_project, place_of
from apps.orgs.overview import Overview, overview_of, visible_apps
from apps.orgs.platform_times import remember, remembered_platforms, seen_platforms
from apps.orgs.prepared import prepared
from apps.orgs.rows import Missing, Row, Rows
from apps.orgs.versions import VERSION_COLUMNS, VERSION_JOINS, Reading, Versions


@dataclass(frozen=True, slots=True)
class OrgScope:
    """One organization, whoever asks. `synced_at` is the oldest of its platforms' last good syncs.

    `versions` are those that the bearer check saw; None where there was none. `reading` is this call's.
    """

    organization_id: str
    synced_at: datetime | None
    versions: Versions | None = None
    reading: Reading = field(default_factory=Reading, compare=False, repr=False)

    def app(self, app_id: str) -> AppScope:
        """One application of this organization. Raises Missing("application")."""
        found = _app(self.organization_id, app_id).read()
        if not found:
            raise Missing("application")
        return AppScope(self.organization_id, found[0], self.reading)

    def apps(
        self,
        *,
        project_id: str | None = None,
        environment_id: str | None = None,
        status: str | None = None,
        branch: str | None = None,
        health: str | None = None,
        query: str = "",
    ) -> Rows:
        """Applications by name, each with its health. `health` may be `unhealthy`: degraded or down.

        Raises Missing for a project or an environment that is not there.
        """
        place = place_of(self.organization_id, project_id=project_id, environment_id=environment_id)
        filters = {"status": status, "branch": branch, "health": health, "query": query}
        return self._apps_by(remembered_platforms(self.organization_id), place, filters)

    def _apps_by(self, platforms: str, place: Place, filters: Row) -> Rows:
        clock = Clock.of(self.organization_id, platforms, timezone.now())
        if filters["health"] is not None:
            self.reading.ends(clock.anything_changes_at())

        def instead(found: Sequence[Row]) -> Rows | None:
            seen = found[0]["platforms_seen"] if found else seen_platforms(self.organization_id, self.reading)
            if seen == platforms:
                return None
            return self._apps_by(remember(self.organization_id, seen), place, filters)

        apps = app_list.apps(place, clock, **filters)
        apps.watch, apps.instead = lambda page: self.reading.ends(clock.changes_at(page)), instead
        return apps.tell(self.reading)

    def domains(
        self, *, host: str | None = None, certificate_expires_before: datetime | None = None, **ids: str | None
    ) -> Rows:
        """Domains by host. Of all these lists `ids` name the place; Missing is raised for what is not there."""
        place = place_of(self.organization_id, **ids)
        rows = lists.domains(place, self.reading, host=host, certificate_expires_before=certificate_expires_before)
        return rows.tell(self.reading)

    def previews(self, *, pull_request_number: int | None = None, status: str | None = None, **ids: str | None) -> Rows:
        """Previews, the newest first."""
        place = place_of(self.organization_id, **ids)
        return lists.previews(place, pull_request_number=pull_request_number, status=status).tell(self.reading)

    def deployments(
        self,
        *,
        target: str | None = None,
        status: str | None = None,
        commit_sha: str | None = None,
        branch: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        **ids: str | None,
    ) -> Rows:
        """Deployments, the newest first; `since` is inclusive, `until` exclusive; `commit_sha` is how it begins."""
        place = place_of(self.organization_id, **ids)
        is_preview = None if target is None else target == "preview"
        rows = lists.deployments(
            place, is_preview=is_preview, status=status, commit_sha=commit_sha, branch=branch, since=since, until=until
        )
        return rows.tell(self.reading)

    def variable_names(self, *, scope: str | None = None, name: str | None = None, **ids: str | None) -> Rows:
        """Names of variables by name: all that an application sees; elsewhere each once, where it is set."""
        place = place_of(self.organization_id, **ids)
        return lists.variable_names(place, scope=scope, name=name).tell(self.reading)

    def projects(self, *, query: str) -> Rows:
        """Projects by name, each with its number of apps and its environments: the default first, then by name."""
        return named_lists.projects(self.organization_id, query).tell(self.reading)

    def secret_names(self, *, project_id: str | None) -> Rows:
        """Names of secrets by name; with a project only that project's own. Raises Missing("project")."""
        if project_id is not None:
            existing_project(self.organization_id, project_id)
        return named_lists.secret_names(self.organization_id, project_id).tell(self.reading)

    def templates(self, *, query: str, tag: str | None) -> Rows:
        """The installation's templates and this organization's own, by name."""
        return named_lists.templates(self.organization_id, query, tag).tell(self.reading)

    def overview(self) -> Overview:
        """The organization itself with what it may have and has, in three queries."""
        return overview_of(self.organization_id)

    def connections(self) -> list[Row]:
        """Source connections that can be used: with working credentials, or needing none. By name."""
        rows = (
            SourceConnection.objects.filter(organization_id=self.organization_id)
            .filter(
                Q(credentials=SourceConnection.Credentials.NOT_NEEDED)
                | Q(own_credentials=SourceConnection.OwnCredentials.WORKING)
            )
            .order_by("sort_key", "id")
            .values("id", "external_id", "type", "name", "account_login")
        )
        return [dict(row) for row in rows]

    def id_called(self, kind: str, text: str, within: Row) -> str | None:
        """The id of the one `kind` (see Missing) that is called so, among what `within` narrows to. One query."""
        return id_called(self.organization_id, kind, text, within)


def scope_by_slug(slug: str) -> OrgScope | None:
    """The organization with this slug, or None. One query."""
    rows = fetch(BY_SLUG, [slug])
    return scope_of(*rows[0]) if rows else None


def scope_of(organization_id: str, synced_at: datetime | None, *versions: int | None) -> OrgScope:
    """From the columns of a statement: the organization's, and VERSION_COLUMNS."""
    return OrgScope(organization_id, in_utc(synced_at), Versions.of(*versions))


def in_utc(time: datetime | None) -> datetime | None:
    """A time as plain SQL gives it: SQLite knows no zones; ours are UTC."""
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time


@prepared
def _app(organization_id: str, id: str) -> Rows:
    return Rows(visible_apps(organization_id).filter(id=id).values(*AppScope.COLUMNS), order=("id",))


# SQL, because every call begins with this and the ORM would spend more on writing it than the database on it.
BY_SLUG = f"SELECT o.id, o.synced_at, {VERSION_COLUMNS} FROM orgs_organization o {VERSION_JOINS} WHERE o.slug = %s"  # noqa: S608
