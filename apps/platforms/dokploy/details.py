"""The detail lane: one application or compose stack, read whole."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from apps.platforms.connector import Detail, UpstreamError
from apps.platforms.dokploy import fields, versions
from apps.platforms.dokploy.api import Api, Refused
from apps.platforms.dokploy.deployments import deployment_of, domain_of, preview_of
from apps.platforms.dokploy.fields import Row, cut
from apps.platforms.dokploy.listing import Listing, names_in
from apps.platforms.dokploy.runtimes import runtime_of
from apps.platforms.dokploy.sources import source_of
from apps.platforms.dokploy.statuses import status_of
from apps.platforms.names import Names
from apps.platforms.snapshot import base


@dataclass(frozen=True, slots=True)
class Service:
    """How Dokploy names one kind of what is deployed, and what it is asked for it."""

    id: str
    status: str
    procedure: str
    domains: str
    deployments: str
    variables: tuple[tuple[str, str], ...]  # a field, and the scope of its names

    def one(self, key: str) -> tuple[str, dict[str, str]]:
        return self.procedure, {self.id: key}


SERVICES = {
    "application": Service(
        "applicationId", "applicationStatus", "application.one", "domain.byApplicationId", "deployment.all",
        (("env", "app"), ("previewEnv", "preview"), ("buildArgs", "build"), ("buildSecrets", "build")),
    ),
    "compose": Service(
        "composeId", "composeStatus", "compose.one", "domain.byComposeId", "deployment.allByCompose", (("env", "app"),)
    ),
}  # fmt: skip


class Reader:
    """Reads what the last state listed, and nothing else. `connections`: see source_of."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._listing, self._version, self._site = Listing(), versions.NEWEST, ""
        self._runtimes_are_refused = False
        self.connections: dict[tuple[str, str], str] = {}

    def begin(self, listing: Listing, version: versions.Version, site: str) -> None:
        self._listing, self._version, self._site = listing, version, site
        self._runtimes_are_refused = False

    def listed_deployment(self, row: Row) -> base.Deployment | None:
        """One of the list of all deployments; None where it is of something else than a listed application."""
        app = self._listing.apps.get(fields.key(row, "applicationId") or fields.key(row, "composeId") or "")
        return deployment_of(row, app.key, dashboard_url=self._deployments_page(app)) if app else None

    def listed_domain(self, row: Row) -> base.Domain | None:
        """The same of a domain. None for a preview's: this list does not say whose it is."""
        app = self._listing.apps.get(fields.key(row, "serviceOwnerId") or "")
        return domain_of(row, app.key) if app and row.get("domainType") != "preview" else None

    def read(self, listed: base.AppState) -> tuple[Detail, Row]:
        """Raises UpstreamError. The row is what application.one or compose.one answered."""
        if listed.key not in self._listing.apps:
            raise UpstreamError("Dokploy no longer lists this application.")
        service = SERVICES[listed.kind]
        row = self._row(listed, service)
        names = {field: names_in(row, field) or Names() for field, _ in service.variables}
        app = self._app(listed, row, service, sum(told.skipped for told in names.values()))
        previews, preview_domains, preview_deployments = self._previews(listed, row)
        is_readable = "env" in row and all(told.is_readable for told in names.values())
        runtime = self._runtime(app, row)
        domains = self._domains(listed, row, service)
        deployments = self._deployments(listed, row, service)
        detail = Detail(
            app=app,
            domains=None if domains is None or previews is None else (*domains, *preview_domains),
            previews=previews,
            deployments=None if deployments is None else (*deployments, *preview_deployments),
            variables=_variables(listed.key, names, service) if is_readable else None,
            runtime=runtime,
            unread=frozenset(() if is_readable else ("variables",)) | frozenset(() if runtime else ("runtimes",)),
        )
        return detail, row

    def _row(self, listed: base.AppState, service: Service) -> Row:
        try:
            row = self._api.row(*service.one(listed.key))
        except Refused:
            row = {}
        if row.get(service.id) != listed.key:
            raise UpstreamError("Dokploy does not let this key read this application, or it was just deleted.")
        return row

    def _app(self, listed: base.AppState, row: Row, service: Service, skipped: int) -> base.App:
        return base.App(
            key=listed.key,
            project=listed.project,
            environment=listed.environment,
            name=cut(base.App, "name", fields.text(row, "name")) or listed.name,
            slug=cut(base.App, "slug", fields.text(row, "appName")),
            description=cut(base.App, "description", fields.text(row, "description")),
            kind=listed.kind,
            **status_of(row, service.status),
            **source_of(row, self.connections),
            dashboard_url=self._page(listed),
            names_skipped=skipped,
            created_at=fields.time(row, "createdAt"),
        )

    def _domains(self, listed: base.AppState, row: Row, service: Service) -> tuple[base.Domain, ...] | None:
        rows = self._nested(row, "domains", service.domains, {service.id: listed.key})
        return None if rows is None else fields.each(rows, lambda told: domain_of(told, listed.key))

    def _deployments(self, listed: base.AppState, row: Row, service: Service) -> tuple[base.Deployment, ...] | None:
        rows = self._nested(row, "deployments", service.deployments, {service.id: listed.key})
        page = self._deployments_page(listed)
        return (
            None
            if rows is None
            else fields.each(rows, lambda told: deployment_of(told, listed.key, dashboard_url=page))
        )

    def _nested(self, row: Row, name: str, procedure: str, query: dict[str, str]) -> list[Row] | None:
        """What came along in the same answer; else asked for. None: refused."""
        if isinstance(row.get(name), list):
            return fields.rows(row, name)
        return self._unless_refused(lambda: self._api.rows(procedure, query))

    def _previews(
        self, listed: base.AppState, row: Row
    ) -> tuple[tuple[base.Preview, ...] | None, list[base.Domain], list[base.Deployment]]:
        """The previews (None: refused), their domains and their deployments, which are in no other list."""
        if listed.kind != "application" or not (
            row.get("isPreviewDeploymentsActive") is True or fields.rows(row, "previewDeployments")
        ):
            return (), [], []
        rows = self._unless_refused(lambda: self._api.rows("previewDeployment.all", {"applicationId": listed.key}))
        if rows is None:
            return None, [], []
        previews, domains, deployments = [], [], []
        page = self._deployments_page(listed)
        for told in rows:
            if (preview := preview_of(told, listed.key)) is None:
                continue
            previews.append(preview)
            if domain := domain_of(fields.row(told, "domain"), listed.key, preview=preview.key):
                domains.append(domain)
            for one in fields.rows(told, "deployments"):
                if deployment := deployment_of(one, listed.key, preview=preview.key, dashboard_url=page):
                    deployments.append(deployment)
        return tuple(previews), domains, deployments

    def _runtime(self, app: base.App, row: Row) -> base.Runtime | None:
        """None of compose stacks: theirs are containers of several services, of which Dokploy tells no wish."""
        name = fields.text(row, "appName")
        if app.kind != "application" or name is None or self._runtimes_are_refused:
            return None
        server = fields.key(row, "serverId")
        query = {"appName": name} | ({"serverId": server} if server else {})
        tasks = self._unless_refused(lambda: self._api.rows("docker.getServiceContainersByAppName", query))
        if tasks is None:
            self._runtimes_are_refused = True  # it is the key's: the others need not be asked for
            return None
        return runtime_of(tasks, app, fields.integer(row, "replicas"))

    def _unless_refused(self, read: Callable[[], list[Row]]) -> list[Row] | None:
        try:
            return read()
        except Refused:
            return None

    def _page(self, app: base.AppState) -> str | None:
        """Its page in Dokploy. Before 0.25 it was in a project, since then it is in an environment."""
        if app.environment is None and self._version >= versions.ENVIRONMENTS:
            return None
        environment = f"/environment/{quote(app.environment, safe='')}" if app.environment else ""
        place = f"/dashboard/project/{quote(app.project, safe='')}{environment}"
        return f"{self._site}{place}/services/{app.kind}/{quote(app.key, safe='')}"

    def _deployments_page(self, app: base.AppState) -> str | None:
        page = self._page(app)
        return f"{page}?tab=deployments" if page else None


def _variables(app: str, names: dict[str, Names], service: Service) -> tuple[base.Variable, ...]:
    """Each once in its scope: build arguments and build secrets share one."""
    found: dict[tuple[str, str], base.Variable] = {}
    for field, scope in service.variables:
        for told in names[field].names:
            found.setdefault(
                (scope, told.name),
                base.Variable(name=told.name, scope=scope, app=app, references=told.references),
            )
    return tuple(found.values())
