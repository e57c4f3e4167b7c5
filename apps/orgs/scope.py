"""OrgScope: what one organization can see. The only door from tools to rows.

Every query starts from this organization's id; ids of other organizations name nothing here. Neither do those of
applications that are hidden, nor of anything that belongs to one.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.orgs import lists
from apps.orgs.app_scope import AppScope
from apps.orgs.called import id_called
from apps.orgs.clock import HEALTH_ENDS, Clock, has_health, with_health
from apps.orgs.counts import apps_of_projects
from apps.orgs.cursors import fetch
from apps.orgs.models import (
    App,
    Environment,
    OrgSecretName,
    Project,
    SourceConnection,
    Template,
)
from apps.orgs.models.fields import WORD_SEPARATOR
from apps.orgs.narrowing import (
    TRIGRAM,
    Place,
    equal,
    existing_project,
    is_walked,
    names_with,
    place_of,
    rows_in,
    search,
)
from apps.orgs.overview import Overview, overview_of, visible_apps
from apps.orgs.prepared import prepared
from apps.orgs.rows import KeyedRows, Missing, Row, Rows, TimeText
from apps.orgs.text import fold
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
        clock = Clock.of(self.organization_id, timezone.now())
        if health is not None:
            self.reading.ends(clock.anything_changes_at())
        apps = _apps(place, clock, status=status, branch=branch, health=health, query=query)
        apps.watch = lambda page: self.reading.ends(clock.changes_at(page))
        return apps

    def domains(
        self, *, host: str | None = None, certificate_expires_before: datetime | None = None, **ids: str | None
    ) -> Rows:
        """Domains by host. Of all these lists `ids` name the place; Missing is raised for what is not there."""
        place = place_of(self.organization_id, **ids)
        return lists.domains(place, self.reading, host=host, certificate_expires_before=certificate_expires_before)

    def previews(self, *, pull_request_number: int | None = None, status: str | None = None, **ids: str | None) -> Rows:
        """Previews, the newest first."""
        place = place_of(self.organization_id, **ids)
        return lists.previews(place, pull_request_number=pull_request_number, status=status)

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
        return lists.deployments(
            place, is_preview=is_preview, status=status, commit_sha=commit_sha, branch=branch, since=since, until=until
        )

    def variable_names(self, *, scope: str | None = None, name: str | None = None, **ids: str | None) -> Rows:
        """Names of variables by name: all that an application sees; elsewhere each once, where it is set."""
        return lists.variable_names(place_of(self.organization_id, **ids), scope=scope, name=name)

    def projects(self, *, query: str) -> Rows:
        """Projects by name, each with its number of apps and its environments: the default first, then by name."""
        projects = Project.objects.filter(organization_id=self.organization_id)
        return Rows(
            _search(projects, query).values(*PROJECT_COLUMNS),
            order=("sort_key", "id"),
            finish=self._add_environments_and_counts,
        )

    def _add_environments_and_counts(self, projects: list[Row]) -> None:
        ids = [project["id"] for project in projects]
        counts = apps_of_projects(self.organization_id, ids)
        environments: dict[str, list[Row]] = {}
        for environment in (
            Environment.objects.filter(organization_id=self.organization_id, project_id__in=ids)
            .order_by("-is_default", "sort_key", "id")
            .values("project_id", "id", "name", "is_default")
        ):
            environments.setdefault(environment["project_id"], []).append(dict(environment))
        for project in projects:
            project["app_count"] = counts[project["id"]]
            project["environments"] = environments.get(project["id"], [])[:MAX_ENVIRONMENTS_SHOWN]

    def secret_names(self, *, project_id: str | None) -> Rows:
        """Names of secrets by name; with a project only that project's own. Raises Missing("project")."""
        if project_id is not None:
            existing_project(self.organization_id, project_id)
        return _secret_names(self.organization_id, project_id)

    def templates(self, *, query: str, tag: str | None) -> Rows:
        """The installation's templates and this organization's own, by name."""
        templates = Template.objects.filter(Q(organization_id=self.organization_id) | Q(organization_id__isnull=True))
        if tag is not None:
            # A comma stands between tags; in no tag.
            templates = templates.none() if "," in tag else templates.filter(tags__contains=f",{fold(tag)},")
        return Rows(_search(templates, query).values(*TEMPLATE_COLUMNS), order=("sort_key", "id"), finish=_split_tags)

    def overview(self) -> Overview:
        """The organization itself with what it may have and has, in three queries."""
        return overview_of(self.organization_id)

    def connections(self) -> list[Row]:
        """Source connections that can be used: with working credentials, or needing none. By name."""
        rows = (
            SourceConnection.objects.filter(organization_id=self.organization_id)
            .exclude(credentials=SourceConnection.Credentials.MISSING)
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
def _secret_names(organization_id: str, project_id: str | None) -> Rows:
    names = OrgSecretName.objects.filter(organization_id=organization_id)
    if project_id is not None:
        names = names.filter(project_id=project_id)
    return Rows(names.values(*SECRET_COLUMNS), order=("sort_key", "scope", "id"))


@prepared
def _app(organization_id: str, id: str) -> Rows:
    return Rows(visible_apps(organization_id).filter(id=id).values(*AppScope.COLUMNS), order=("id",))


@prepared
def _apps(
    place: Place, clock: Clock, *, status: str | None, branch: str | None, health: str | None, query: str
) -> Rows:
    everywhere = App.objects.filter(organization_id=place.organization_id)
    conditions = [
        equal(everywhere, column, value, ("sort_key", "id"))
        for column, value in (("status", status), ("branch", branch))
        if value is not None
    ]
    if health is not None:
        conditions.append(has_health(clock, UNHEALTHY if health == "unhealthy" else (health,)))
    if query and WORD_SEPARATOR not in query and not conditions and is_walked(place, query):
        visible = with_health(visible_apps(place.organization_id), clock)
        keys = names_with(place.organization_id, query)
        return KeyedRows(keys, visible.values(*APP_COLUMNS, **APP_TIMES), APP_NAMES)
    apps: QuerySet[App] = App.objects.all()
    if len(fold(query)) < TRIGRAM or WORD_SEPARATOR in query:
        apps = _search(apps, query)
    else:
        conditions.append(search(everywhere, query))
    apps = rows_in(with_health(apps, clock), place, *conditions)
    return Rows(apps.values(*APP_COLUMNS, **APP_TIMES), order=("sort_key", "id"), names=APP_NAMES)


def _search(rows: QuerySet[Any], query: str) -> QuerySet[Any]:
    # Both sides are folded, so LIKE on SQLite (which ignores ASCII case) and on PostgreSQL (which does not) agree.
    if WORD_SEPARATOR in query:
        return rows.none()
    return rows.filter(search_key__contains=fold(query)) if query else rows


def _split_tags(templates: list[Row]) -> None:
    for template in templates:
        template["tags"] = template["tags"].strip(",").split(",") if template["tags"].strip(",") else []


# SQL, because every call begins with this and the ORM would spend more on writing it than the database on it.
BY_SLUG = f"SELECT o.id, o.synced_at, {VERSION_COLUMNS} FROM orgs_organization o {VERSION_JOINS} WHERE o.slug = %s"  # noqa: S608
# Of one project. With names of every length so many still fit on a page.
MAX_ENVIRONMENTS_SHOWN = 64
UNHEALTHY = ("degraded", "down")
APP_COLUMNS = (
    "id", "external_id", "name", "slug", "description", "project_id", "project__name", "environment_id",
    "environment__name", "kind", "status", "upstream_status", "source_type", "repository", "branch", "image",
    "connection_id", "primary_url", "dashboard_url", "sort_key", "health", "health_reason",
    *HEALTH_ENDS,
)  # fmt: skip
APP_TIMES = {"last_deployed": TimeText("last_deployed_at"), "created": TimeText("created_at")}
# Joined columns get the contract's words, so that no tool names a join. An annotation must not be called like a column.
APP_NAMES = {
    "project__name": "project_name", "environment__name": "environment_name", "last_deployed": "last_deployed_at",
    "created": "created_at",
}  # fmt: skip
PROJECT_COLUMNS = ("id", "external_id", "name", "description", "created_at", "sort_key")
SECRET_COLUMNS = (
    "id", "name", "scope", "project_id", "environment_id", "provider", "updated_at", "sort_key",
)  # fmt: skip
TEMPLATE_COLUMNS = (
    "id", "name", "description", "version", "tags", "logo_url", "github_url", "website_url", "docs_url", "sort_key",
)  # fmt: skip
