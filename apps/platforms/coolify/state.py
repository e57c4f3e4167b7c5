"""The state lane: the lists of everything, and what is being deployed."""

import logging
from dataclasses import dataclass

from apps.platforms.connector import Identity, Place, State
from apps.platforms.coolify import deployments, versions
from apps.platforms.coolify.calls import Api, Refused, refuse_values
from apps.platforms.coolify.fields import Row, identifier, number
from apps.platforms.coolify.identity import read_identity
from apps.platforms.coolify.listing import Listed, listed_application, listed_service
from apps.platforms.coolify.names import secrets_of
from apps.platforms.coolify.places import Memory, Places, PlacesReader
from apps.platforms.coolify.sources import Connections, connection_of
from apps.platforms.coolify.versions import Version
from apps.platforms.snapshot import base

# Calls of a reading for what it reads in turns: projects, with the names that they and their environments share.
CALLS_IN_TURN = 12

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`listed`: applications and services by key. `knows_connections`: all that this version has were told."""

    state: State
    listed: dict[str, Listed]
    version: Version
    knows_connections: bool


class StateReader:
    """Reads once. Every method raises UpstreamError."""

    def __init__(self, api: Api, site: str, memory: Memory, *, reads_previews: bool) -> None:
        self._api, self._site, self._memory, self._reads_previews = api, site, memory, reads_previews
        self._unread: set[str] = set()
        self._of_places: set[Place] = set()

    def read(self, *, is_first: bool) -> Reading:
        identity, version = read_identity(self._api)
        reads_previews = self._reads_previews and version >= versions.PREVIEWS
        # Applications before projects: an environment that is made meanwhile has none of these in it.
        applications, services = list_applications(self._api), self._api.rows("services", "services")
        used = {key for row in (*applications, *services) if (key := number(row, "environment_id")) is not None}
        reader = PlacesReader(self._api, self._memory, used)
        reader.read_unknown()
        secrets = self._secrets(version, reader, is_first=is_first)
        places = reader.places()
        connections, numbers = self._connections(version)
        running = self._running()
        busy = {app for app, row in running if not deployments.pull_request_of(row)}
        listed = self._listed(applications, services, places, numbers, busy)
        state = State(
            identity=identity,
            apps=tuple(one.state for one in listed.values()),
            connections=connections,
            projects=tuple(places.projects),
            environments=tuple(places.environments),
            deployments=self._deployments(running, listed, reads_previews),
            domains=_domains(listed, reads_previews),
            secrets=secrets,
            unread=frozenset(self._unread),
            of_projects=frozenset(places.read),
            of_places=frozenset(self._of_places),
        )
        self._tell_left_out(identity)
        refused = "connections" in self._unread and version >= versions.GITHUB_APPS
        return Reading(state=state, listed=listed, version=version, knows_connections=not refused)

    def _connections(self, version: Version) -> tuple[tuple[base.Connection, ...], Connections]:
        found: dict[str, base.Connection] = {}
        numbers: Connections = {}
        for type, since in (("github", versions.GITHUB_APPS), ("gitlab", versions.GITLAB_APPS)):
            for row in self._optional("connections", f"{type}-apps") if version >= since else []:
                connection, told = connection_of(row, type), number(row, "id")
                if connection is None or told is None:
                    self._api.left_out += 1
                    continue
                found.setdefault(connection.key, connection)
                numbers[type, told] = connection.key
        if version < versions.GITHUB_APPS:
            self._unread.add("connections")
        return tuple(found.values()), numbers

    def _optional(self, collection: str, path: str) -> list[Row]:
        """A list without which all others are still true."""
        try:
            return self._api.rows(collection, path)
        except Refused:
            self._unread.add(collection)
            return []

    def _running(self) -> list[tuple[str, Row]]:
        """What waits or is being deployed, with the application that it is of."""
        rows = self._optional("deployments", "deployments")
        return [(app, row) for row in rows if deployments.is_under_way(row) and (app := deployments.app_of(row))]

    def _listed(
        self, applications: list[Row], services: list[Row], places: Places, numbers: Connections, busy: set[str]
    ) -> dict[str, Listed]:
        listed: dict[str, Listed] = {}
        for row, is_service in [(row, False) for row in applications] + [(row, True) for row in services]:
            environment = places.numbers.get(number(row, "environment_id"))  # type: ignore[arg-type]
            one = None
            if environment and is_service:
                one = listed_service(row, environment, site=self._site)
            elif environment:
                deploying = identifier(row) in busy
                one = listed_application(row, environment, numbers, site=self._site, is_deploying=deploying)
            if one is None:
                self._api.left_out += 1
                self._unread.add("apps")  # which of those that are stored it is cannot be told: none is gone
            else:
                listed.setdefault(one.app.key, one)
        return listed

    def _deployments(
        self, running: list[tuple[str, Row]], listed: dict[str, Listed], reads_previews: bool
    ) -> tuple[base.Deployment, ...]:
        """Those under way. Where previews are read, theirs are left to the detail, which knows of which they are."""
        found: dict[str, base.Deployment] = {}
        for app, row in running:
            if app not in listed or (reads_previews and deployments.pull_request_of(row)):
                continue
            if deployment := deployments.deployment_of(row, app, self._site, {}):
                found.setdefault(deployment.key, deployment)
        return tuple(found.values())

    def _secrets(self, version: Version, reader: PlacesReader, *, is_first: bool) -> tuple[base.Secret, ...]:
        """Those of the team and, in turns, those of projects and their environments, which are read beside."""
        has_secrets = version >= versions.SHARED_VARIABLES
        if not has_secrets:
            self._unread.add("secrets")
        found = self._secrets_of((None, None), "team/envs", "organization") if has_secrets else []
        before = self._api.calls
        for project in reader.in_turn():
            if not is_first and self._api.calls - before >= CALLS_IN_TURN:
                break
            environments = reader.read(project)
            if "secrets" not in self._unread:
                found += self._secrets_of((None, project), f"projects/{project}/envs", "project")
            for environment in environments:
                if "secrets" not in self._unread:
                    path = f"projects/{project}/environments/{environment.key}/envs"
                    found += self._secrets_of((environment.key, None), path, "environment")
            self._memory.had_its_turn(project)
        return tuple(found)

    def _secrets_of(self, place: Place, path: str, scope: str) -> list[base.Secret]:
        rows = self._optional("secrets", path)
        self._of_places.add(place)
        return secrets_of(rows, scope=scope, environment=place[0], project=place[1])

    def _tell_left_out(self, identity: Identity) -> None:
        if self._api.left_out:
            team, count = identity.organization_key, self._api.left_out
            logger.warning("Coolify, team %s: %d entries could not be kept and were left out", team, count)


def list_applications(api: Api) -> list[Row]:
    """Raises UpstreamError where the token reads secrets: only then Coolify names the keys of repositories."""
    rows = api.rows("applications", "applications")
    refuse_values(rows, ("private_key_id",))
    return rows


def _domains(listed: dict[str, Listed], reads_previews: bool) -> tuple[base.Domain, ...] | None:
    """All there are, or None: those of previews, and of services that are not told whole, are in the details."""
    if reads_previews or any(one.addresses is None for one in listed.values()):
        return None
    return tuple(address.domain(key) for key, one in listed.items() for address in one.addresses or ())
