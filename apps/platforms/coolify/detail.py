"""The detail lane: one application, with its history, names of variables and previews."""

from dataclasses import dataclass, replace

from apps.orgs.models import Status
from apps.platforms.connector import Detail
from apps.platforms.coolify import deployments, versions
from apps.platforms.coolify.addresses import Address, addresses_of, service_addresses_of
from apps.platforms.coolify.calls import Api, Refused
from apps.platforms.coolify.fields import Row
from apps.platforms.coolify.listing import Listed
from apps.platforms.coolify.names import Names, variables_of
from apps.platforms.coolify.previews import preview_of, read_previews
from apps.platforms.coolify.versions import Version
from apps.platforms.snapshot import base

TAKEN = 50
# Of versions whose histories carry the logs, which may be megabytes each.
TAKEN_WITH_LOGS, PAGES_WITH_LOGS = 5, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailReader:
    """Keeps nothing of what it reads, so that threads may share one. Every method raises UpstreamError."""

    api: Api
    site: str
    version: Version
    reads_previews: bool

    def read(self, listed: Listed) -> Detail:
        return self._service(listed) if listed.is_service else self._application(listed)

    def _service(self, listed: Listed) -> Detail:
        """It has no history, no previews and no instances that Coolify would tell."""
        addresses, names = self._service_addresses(listed), self._names(listed)
        return Detail(
            app=replace(listed.app, names_skipped=names.skipped if names else 0),
            domains=_domains(listed, addresses),
            variables=names.variables if names else None,
            unread=_unread(domains=addresses, variables=names),
        )

    def _application(self, listed: Listed) -> Detail:
        history, names, rows = self._history(listed), self._names(listed), self._previews(listed)
        previews = None if rows is None else self._kept_previews(listed, rows, history or [])
        domains = _domains(listed, listed.addresses, rows)
        return Detail(
            app=replace(listed.app, status=_status(listed, history), names_skipped=names.skipped if names else 0),
            domains=domains,
            previews=previews,
            deployments=None if history is None else self._deployments(listed, history, previews),
            variables=names.variables if names else None,
            runtime=_runtime(listed),
            unread=_unread(domains=domains, previews=previews, deployments=history, variables=names),
        )

    def _service_addresses(self, listed: Listed) -> tuple[Address, ...] | None:
        if listed.addresses is not None:
            return listed.addresses
        try:
            return service_addresses_of(self.api.row("parts of a service", listed.path))
        except Refused:
            return None

    def _names(self, listed: Listed) -> Names | None:
        try:
            return variables_of(self.api.rows("names of variables", f"{listed.path}/envs"), listed.app.key)
        except Refused:
            return None

    def _history(self, listed: Listed) -> list[Row] | None:
        """Newest first. A deployment that begins meanwhile moves others to the next page: each is kept once."""
        has_logs = self.version < versions.HISTORY_WITHOUT_LOGS
        take, pages = (TAKEN_WITH_LOGS, PAGES_WITH_LOGS) if has_logs else (TAKEN, 1)
        path, found = f"deployments/applications/{listed.app.key}", dict[object, Row]()
        try:
            for page in range(pages):
                rows = self.api.page("deployments of an application", path, skip=page * take, take=take)
                for row in rows:
                    found.setdefault(str(row.get("deployment_uuid")), row)
                if len(rows) < take:
                    break
        except Refused:
            return None
        return list(found.values())

    def _previews(self, listed: Listed) -> list[Row] | None:
        if not self.reads_previews or self.version < versions.PREVIEWS:
            return []
        try:
            return read_previews(self.api, listed.app.key)
        except Refused:
            return None

    def _kept_previews(self, listed: Listed, rows: list[Row], history: list[Row]) -> tuple[base.Preview, ...]:
        newest: dict[int, Row] = {}
        for row in history:
            newest.setdefault(deployments.pull_request_of(row) or 0, row)
        found: dict[str, base.Preview] = {}
        for row in rows:
            latest = newest.get(deployments.pull_request_of(row) or 0)
            preview = preview_of(row, listed.app.key, is_deploying=bool(latest and deployments.is_under_way(latest)))
            if preview:
                found.setdefault(preview.key, preview)
        return tuple(found.values())

    def _deployments(
        self, listed: Listed, history: list[Row], previews: tuple[base.Preview, ...] | None
    ) -> tuple[base.Deployment, ...]:
        """Without those of previews where it is not known which previews there are: what is stored of them stays."""
        told = history if previews is not None else [row for row in history if not deployments.pull_request_of(row)]
        keys = {one.pull_request_number: one.key for one in previews or () if one.pull_request_number is not None}
        found = (deployments.deployment_of(row, listed.app.key, self.site, keys) for row in told)
        return tuple(deployment for deployment in found if deployment)


def _status(listed: Listed, history: list[Row] | None) -> str:
    if history is None:
        return listed.app.status
    newest = next((row for row in history if not deployments.pull_request_of(row)), None)
    return Status.DEPLOYING if newest and deployments.is_under_way(newest) else listed.idle_status


def _domains(
    listed: Listed, addresses: tuple[Address, ...] | None, previews: list[Row] | tuple[()] | None = ()
) -> tuple[base.Domain, ...] | None:
    """Its own and its previews'. None where either is not known: those stay that were told before."""
    if addresses is None or previews is None:
        return None
    app = listed.app.key
    found = [address.domain(app) for address in addresses]
    for row in previews:
        if preview := preview_of(row, app, is_deploying=False):
            found += [address.domain(app, preview.key) for address in addresses_of(row.get("fqdn"))]
    return tuple({domain.key: domain for domain in found}.values())


def _runtime(listed: Listed) -> base.Runtime | None:
    """Coolify lists no containers: only how many a swarm is to run."""
    if listed.desired_replicas is None:
        return None
    return base.Runtime(app=listed.app.key, desired_replicas=listed.desired_replicas)


def _unread(**collections: object) -> frozenset[str]:
    return frozenset(name for name, told in collections.items() if told is None)
