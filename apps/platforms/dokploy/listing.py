"""Projects, their environments and what is deployed in them: the answer of project.all, of any version."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from apps.platforms.dokploy import fields
from apps.platforms.dokploy.fields import Row
from apps.platforms.dokploy.statuses import status_of
from apps.platforms.names import Names, names_of
from apps.platforms.snapshot import base
from apps.platforms.snapshot.check import MAX_ENVIRONMENTS


@dataclass(slots=True)
class Listing:
    """All that there is. `names` by key; of an environment it is None where project.all does not tell them."""

    projects: list[base.Project] = field(default_factory=list)
    environments: list[base.Environment] = field(default_factory=list)
    apps: dict[str, base.AppState] = field(default_factory=dict)
    project_names: dict[str, Names | None] = field(default_factory=dict)
    environment_names: dict[str, Names | None] = field(default_factory=dict)


def listing_of(rows: Iterable[Row]) -> Listing:
    listing = Listing()
    for row in rows:
        if (project := _project(row)) is not None:
            listing.projects.append(project)
            listing.project_names[project.key] = names_in(row, "env")
            _add_apps(listing, row, project.key, None)  # before 0.25 there are no environments
            _add_environments(listing, row, project.key)
    return listing


def names_in(row: Row, name: str) -> Names | None:
    """None where the answer has no such field; a field that is empty has no names."""
    if name not in row:
        return None
    value = row[name]
    return names_of(value) if isinstance(value, str) else Names()


def _project(row: Row) -> base.Project | None:
    if (key := fields.key(row, "projectId")) is None:
        return None
    return base.Project(
        key=key,
        name=fields.cut(base.Project, "name", fields.text(row, "name")) or key,
        description=fields.cut(base.Project, "description", fields.text(row, "description")),
        created_at=fields.time(row, "createdAt"),
    )


def _add_environments(listing: Listing, project: Row, project_key: str) -> None:
    for number, row in enumerate(fields.rows(project, "environments")):
        environment = _environment(row, project_key)
        if environment is None or number >= MAX_ENVIRONMENTS:
            _add_apps(listing, row, project_key, None)
            continue
        listing.environments.append(environment)
        listing.environment_names[environment.key] = names_in(row, "env")
        _add_apps(listing, row, project_key, environment.key)


def _environment(row: Row, project: str) -> base.Environment | None:
    if (key := fields.key(row, "environmentId")) is None:
        return None
    name = fields.cut(base.Environment, "name", fields.text(row, "name"))
    return base.Environment(
        key=key, project=project, name=name or "environment", is_default=row.get("isDefault") is True
    )


def _add_apps(listing: Listing, row: Row, project: str, environment: str | None) -> None:
    for app in _apps(row, project, environment):
        listing.apps.setdefault(app.key, app)


def _apps(row: Row, project: str, environment: str | None) -> Iterator[base.AppState]:
    for kind, collection, id, status in (
        ("application", "applications", "applicationId", "applicationStatus"),
        ("compose", "compose", "composeId", "composeStatus"),
    ):
        for entry in fields.rows(row, collection):
            if (key := fields.key(entry, id)) is not None:
                yield base.AppState(
                    key=key,
                    project=project,
                    environment=environment,
                    name=fields.cut(base.AppState, "name", fields.text(entry, "name")) or key,
                    kind=kind,
                    **status_of(entry, status),
                )
