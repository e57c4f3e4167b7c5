"""Applications and services as Coolify's two lists tell them, which is nearly all there is to tell."""

from dataclasses import dataclass, replace

from apps.orgs.models import App
from apps.platforms.coolify import statuses
from apps.platforms.coolify.addresses import Address, addresses_of, compose_addresses_of, service_addresses_of
from apps.platforms.coolify.fields import Row, cut, identifier, moment, number, text
from apps.platforms.coolify.sources import Connections, Source, source_of
from apps.platforms.snapshot import base


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """`addresses` of None were not told. `idle_status`: its status where nothing is being deployed."""

    app: base.App
    is_service: bool
    idle_status: str
    addresses: tuple[Address, ...] | None
    desired_replicas: int | None = None

    @property
    def state(self) -> base.AppState:
        app = self.app
        return base.AppState(
            key=app.key,
            project=app.project,
            environment=app.environment,
            name=app.name,
            kind=app.kind,
            status=app.status,
            upstream_status=app.upstream_status,
        )

    @property
    def path(self) -> str:
        return f"{'services' if self.is_service else 'applications'}/{self.app.key}"


def listed_application(
    row: Row, environment: base.Environment, connections: Connections, *, site: str, is_deploying: bool
) -> Listed | None:
    is_compose, composed = text(row, "build_pack") == "dockercompose", row.get("docker_compose_domains")
    app = _app(row, environment, source_of(row, connections), site, "application", is_deploying=is_deploying)
    if app is None:
        return None
    return Listed(
        app=_as_compose(app) if is_compose else app,
        is_service=False,
        idle_status=statuses.app_status(row, is_deploying=False),
        addresses=compose_addresses_of(composed) if is_compose else addresses_of(row.get("fqdn")),
        desired_replicas=_replicas(row),
    )


def listed_service(row: Row, environment: base.Environment, *, site: str) -> Listed | None:
    app = _app(row, environment, Source(type=App.SourceType.UPLOAD), site, "service", is_deploying=False)
    if app is None:
        return None
    return Listed(app=_as_compose(app), is_service=True, idle_status=app.status, addresses=service_addresses_of(row))


def _app(
    row: Row, environment: base.Environment, source: Source, site: str, page: str, *, is_deploying: bool
) -> base.App | None:
    key = identifier(row)
    if key is None:
        return None
    place = f"{site}/project/{environment.project}/environment/{environment.key}"
    return base.App(
        key=key,
        project=environment.project,
        environment=environment.key,
        name=cut(base.App, "name", text(row, "name")) or key,
        description=cut(base.App, "description", text(row, "description")),
        status=statuses.app_status(row, is_deploying=is_deploying),
        upstream_status=cut(base.App, "upstream_status", text(row, "status")),
        source_type=source.type,
        repository=source.repository,
        branch=source.branch,
        image=source.image,
        connection=source.connection,
        dashboard_url=cut(base.App, "dashboard_url", f"{place}/{page}/{key}"),
        created_at=moment(row, "created_at"),
    )


def _as_compose(app: base.App) -> base.App:
    return replace(app, kind=App.Kind.COMPOSE)


def _replicas(row: Row) -> int | None:
    """Every application has the number; only in a swarm it means something."""
    if not (text(row, "destination_type") or "").endswith("SwarmDocker"):
        return None
    replicas = number(row, "swarm_replicas")
    return replicas if replicas is not None and 0 <= replicas < 10_000 else None
