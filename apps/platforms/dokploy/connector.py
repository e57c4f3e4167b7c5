"""The connector: which calls are made, in which order, and what becomes of a refusal."""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from apps.net.http import Client, HttpError
from apps.net.outbound import Network
from apps.platforms.connector import Detail, Identity, State, UpstreamError
from apps.platforms.dokploy import fields, versions
from apps.platforms.dokploy.api import REASONS, Api, Refused
from apps.platforms.dokploy.details import SERVICES, Reader
from apps.platforms.dokploy.fields import Row
from apps.platforms.dokploy.identity import identity_of
from apps.platforms.dokploy.listing import Listing, listing_of, names_in
from apps.platforms.dokploy.shared import secrets_of, template_of, variables_of, vault_secrets
from apps.platforms.dokploy.sources import connection_of
from apps.platforms.names import Names
from apps.platforms.snapshot import base

Value = TypeVar("Value")
# Dokploy has no limit of its own but that of a key. What a small server does beside its work without anyone noticing,
# and half of what a key may do that somebody limited to 200 a minute.
CALLS_PER_MINUTE = 100
MAX_AT_ONCE = 4
SLOW_PERIOD = 3600.0  # seconds between two readings of what comes from elsewhere: the catalogue, vaults


class DokployConnector:
    """Reads one organization. Raises UpstreamError where the address is none, ValueError where the key cannot be one.

    Worth keeping from one sync to the next: it remembers what changes seldom, and need not ask for it again.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        allowed_networks: Iterable[Network] = (),
        calls_per_minute: int = CALLS_PER_MINUTE,
        timeout: float = 30,
    ) -> None:
        self.calls_per_minute = calls_per_minute
        self._site = base_url.rstrip("/").removesuffix("/api")
        client = _client(self._site, key, calls_per_minute, allowed_networks, timeout)
        self._api = Api(client)
        self._reader = Reader(self._api)
        self._state_calls = 0
        self._environment_names: dict[str, Names] = {}
        self._templates_at: float | None = None
        self._vault: tuple[float, tuple[base.Secret, ...]] | None = None

    def __repr__(self) -> str:
        return f"<DokployConnector of {self._site}>"

    @property
    def calls(self) -> int:
        return self._api.calls

    def state_calls(self) -> int:
        return self._state_calls

    def identify(self) -> Identity:
        return self._identify()[0]

    def read_state(self, *, is_first: bool = False) -> State:
        before = self.calls
        identity, version = self._identify()
        listing = listing_of(_essential(lambda: self._api.rows("project.all")))
        self._reader.begin(listing, version, self._site)
        unread: set[str] = set()
        connections = self._connections(unread)
        deployments, domains = self._deployments(version), self._domains(version)
        self._read_environment_names(listing)
        if _are_unreadable(listing):
            unread |= {"variables", "secrets"}
        secrets = (*secrets_of(listing), *self._vault_secrets(version, listing, unread))
        state = State(
            identity=identity,
            apps=tuple(listing.apps.values()),
            connections=connections,
            projects=tuple(listing.projects),
            environments=tuple(listing.environments),
            deployments=deployments,
            domains=domains,
            variables=variables_of(listing),
            secrets=secrets,
            templates=self._templates(unread),
            unread=frozenset(unread),
        )
        self._state_calls = self.calls - before
        return state

    def read_detail(self, app: base.AppState) -> Detail:
        """Also learns the names of its environment, which from 0.29 on only applications tell."""
        detail, row = self._reader.read(app)
        self._learn_environment_names(app.environment, row)
        return detail

    def _identify(self) -> tuple[Identity, versions.Version]:
        self._api.begin()
        number = _essential(lambda: self._api.value("settings.getDokployVersion"))
        number = number if isinstance(number, str) else ""
        version = versions.parsed(number)
        return _essential(lambda: identity_of(self._api, number, version)), version

    def _connections(self, unread: set[str]) -> tuple[base.Connection, ...]:
        rows = self._list("connections", lambda: self._api.rows("gitProvider.getAll"), unread)
        found = fields.each(rows, connection_of)
        if "connections" not in unread:
            self._reader.connections = {(told.type, id): told.key for told, id in found if id is not None}
        return tuple(told for told, _ in found)

    def _deployments(self, version: versions.Version) -> tuple[base.Deployment, ...] | None:
        """Those of applications; those of previews are told with the previews alone."""
        if version < versions.ALL_DEPLOYMENTS:
            return None
        try:
            return fields.each(self._api.rows("deployment.allCentralized"), self._reader.listed_deployment)
        except Refused:
            return None

    def _domains(self, version: versions.Version) -> tuple[base.Domain, ...] | None:
        """Those of applications; those of previews are told with the previews alone."""
        if version < versions.ALL_DOMAINS:
            return None
        try:
            return fields.each(self._api.rows("overview.domains"), self._reader.listed_domain)
        except Refused:
            return None

    def _read_environment_names(self, listing: Listing) -> None:
        """Where project.all does not tell them, one application of each environment does."""
        first = {app.environment: app for app in reversed(listing.apps.values()) if app.environment is not None}
        missing = [key for key, names in listing.environment_names.items() if names is None]
        unknown = [first[key] for key in missing if key in first and key not in self._environment_names]
        with ThreadPoolExecutor(MAX_AT_ONCE) as pool:
            for _ in pool.map(self._ask_for_environment_names, unknown):
                pass
        for key in missing:
            # One without an application has names that nothing sees.
            listing.environment_names[key] = self._environment_names.get(key) if key in first else Names()

    def _ask_for_environment_names(self, app: base.AppState) -> None:
        try:
            self._learn_environment_names(app.environment, self._api.row(*SERVICES[app.kind].one(app.key)))
        except Refused:
            return

    def _learn_environment_names(self, environment: str | None, row: Row) -> None:
        told = fields.row(row, "environment")
        if environment is not None and told.get("environmentId") == environment:
            names = names_in(told, "env")
            if names is not None:
                self._environment_names[environment] = names

    def _vault_secrets(self, version: versions.Version, listing: Listing, unread: set[str]) -> tuple[base.Secret, ...]:
        """Names in vaults, which Dokploy asks elsewhere: seldom, and no sync fails because of it."""
        if version < versions.VAULTS:
            return ()
        if self._vault is None or time.monotonic() - self._vault[0] > SLOW_PERIOD:
            try:
                self._vault = time.monotonic(), vault_secrets(self._api, {project.key for project in listing.projects})
            except Refused as refusal:
                if refusal.status != 404:  # which this version does not have
                    unread.add("secrets")
                return ()
            except UpstreamError:
                unread.add("secrets")
                return ()
        return self._vault[1]

    def _templates(self, unread: set[str]) -> tuple[base.Template, ...]:
        """The catalogue, which Dokploy fetches from elsewhere each time; where it cannot, it answers with none."""
        if self._templates_at is None or time.monotonic() - self._templates_at > SLOW_PERIOD:
            try:
                templates = fields.each(self._api.rows("compose.templates"), template_of)
            except (Refused, UpstreamError):
                templates = ()
            if templates:
                self._templates_at = time.monotonic()
                return templates
        unread.add("templates")
        return ()

    def _list(self, collection: str, read: Callable[[], list[Row]], unread: set[str]) -> list[Row]:
        try:
            return read()
        except Refused:
            unread.add(collection)
            return []


def _client(site: str, key: str, calls_per_minute: int, allowed: Iterable[Network], timeout: float) -> Client:
    try:
        return Client(
            site,
            headers={"x-api-key": key},
            calls_per_minute=calls_per_minute,
            allowed_networks=allowed,
            timeout=timeout,
            max_at_once=MAX_AT_ONCE,
        )
    except HttpError as error:
        sentence = REASONS[error.reason]
    raise UpstreamError(sentence, is_permanent=True)


def _essential(read: Callable[[], Value]) -> Value:
    """What nothing can be told without."""
    try:
        return read()
    except Refused:
        pass
    raise UpstreamError("Dokploy does not let this key see its organization and its projects.", is_permanent=True)


def _are_unreadable(listing: Listing) -> bool:
    known: Mapping[str, Names | None] = {**listing.project_names, **listing.environment_names}
    return any(names is None or not names.is_readable for names in known.values())
