"""Which row a record of a snapshot becomes: its model, its id and its columns."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models

from apps.orgs.ids import derived_id
from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EdgeFact,
    EdgeStatistics,
    Environment,
    EnvVarName,
    OrgSecretName,
    Platform,
    Preview,
    Project,
    RuntimeFact,
    SourceConnection,
    Template,
)
from apps.orgs.models.placed import Placed
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import Items, Ref
from apps.platforms.snapshot.fields import fields_of


@dataclass(frozen=True)
class Kind:
    """One kind of row: the collection it comes from, and the column that tells one row of it from another."""

    collection: str
    model: type[models.Model]
    prefix: str = ""  # of its ids; facts have none of their own
    identity: str = "external_id"
    owner: str = ""  # path to a fact's platform: that of what it is a fact about
    app: str = ""  # path to the application that its rows belong to
    is_kept: bool = False  # rows stay when a snapshot no longer has them

    @property
    def referred(self) -> str:
        """The collection under which others refer to its records."""
        return "apps" if self.model is App else self.collection


# In an order in which nothing refers to what comes later.
KINDS = (
    Kind("connections", SourceConnection, "con"),
    Kind("projects", Project, "prj"),
    Kind("environments", Environment, "env"),
    Kind("apps", App, "app"),
    Kind("previews", Preview, "prv", app="app_id"),
    Kind("domains", Domain, "dom", app="app_id"),
    Kind("deployments", Deployment, "dep", is_kept=True),
    Kind("variables", EnvVarName, "var", identity="id", app="app_id"),
    Kind("secrets", OrgSecretName, "sec", identity="id"),
    Kind("templates", Template, "tpl"),
    Kind("edges", EdgeFact, identity="domain_id", owner="domain__", app="domain__app_id"),
    Kind("edge_statistics", EdgeStatistics, identity="app_id", owner="app__", app="app_id"),
    Kind("runtimes", RuntimeFact, identity="app_id", owner="app__", app="app_id"),
)
# Of rows that are there already.
APP_STATES = Kind("app_states", App, "app")


class Builder:
    """Builds the rows of one platform (or, with None, of the installation's own catalogue), a few at a time.

    It goes through KINDS in order and remembers the ids it gave, so that later records find what they refer to.
    """

    def __init__(self, platform: Platform | None, now: datetime) -> None:
        self.platform = platform
        self.now = now
        self.ids: dict[str, dict[str, str]] = {collection: {} for collection in base.REFERRED}
        self.projects_of_environments: dict[str, str] = {}
        self.primary_domains: dict[str, base.Domain] = {}
        self.last_deployed: dict[str, datetime] = {}
        self.unread: frozenset[tuple[str, str | None]] = frozenset()
        self.places: dict[str, tuple[str | None, str | None]] = {}  # of applications: project, environment

    def know(self, collection: str, rows: Mapping[str, Any]) -> None:
        """Remembers rows that are stored and that records may refer to, by key."""
        self.ids.setdefault(collection, {}).update((key, row.pk) for key, row in rows.items())
        if collection == "environments":
            self.projects_of_environments |= {key: row.project for key, row in rows.items()}

    def begin(self, kind: Kind, snapshot: base.Snapshot) -> None:
        """Looks up what rows of a kind take from other records of the snapshot."""
        self.unread = snapshot.unread
        is_app = kind.model is App
        self.primary_domains = _primary_domains(snapshot) if is_app else {}
        self.last_deployed = _last_deployed(snapshot) if is_app else {}
        if kind.model is Environment:
            self.projects_of_environments |= {record.key: record.project for record in snapshot.environments}

    def rows(
        self, kind: Kind, records: Sequence[Any], columns: Sequence[dict[str, Any]], existing: Mapping[Any, Any]
    ) -> dict[Any, Any]:
        """The rows of these records, by identity: complete, with the primary key of the row that is there."""
        rows = {}
        for record, values in zip(records, columns, strict=True):
            identity = values[kind.identity]
            rows[identity] = self._row(kind, record, values, existing.get(identity))
        if kind.referred in base.REFERRED:
            self.ids[kind.referred].update((row.external_id, row.pk) for row in rows.values())
        if kind.model is App:
            self.places.update((row.pk, (row.project_id, row.environment_id)) for row in rows.values())
        return rows

    def _row(self, kind: Kind, record: Any, columns: dict[str, Any], old: Any) -> Any:
        if isinstance(record, base.AppState):
            return self._state_row(columns, old)
        row: Any = kind.model(**columns)
        if self.platform is not None:
            row.platform_id, row.organization_id = self.platform.pk, self.platform.organization_id
            if kind.owner:
                row.period = self.platform.check_period
        if old is not None:
            row.pk = old.pk
        if isinstance(row, Placed) and row.within_project_id is None and old is not None:
            row.within_project_id, row.within_environment_id = old.within_project_id, old.within_environment_id
        if hasattr(row, "created_at") and record.created_at is None:
            row.created_at = old.created_at if old is not None else self.now
        if isinstance(record, base.App):
            self._keep_what_is_not_told(row, old)
            self._add_what_follows(row, old)
        return row

    def _place(self, record: Any) -> dict[str, Any]:
        """Where a row is. Of what belongs to an application that is not told it says nothing."""
        place: tuple[str | None, str | None]
        match record:
            case base.Variable(app=None, environment=str()):
                project = self.ids["projects"].get(self.projects_of_environments[record.environment or ""])
                place = project, self.ids["environments"][record.environment or ""]
            case base.Variable(app=None):
                place = self.ids["projects"][record.project or ""], None
            case base.Variable() | base.Preview() | base.Domain() | base.Deployment():
                place = self.places.get(self.ids["apps"][record.app or ""], (None, None))
            case _:
                return {}
        return {"within_project_id": place[0], "within_environment_id": place[1]}

    def _state_row(self, columns: dict[str, Any], old: Any) -> Any:
        row = copy(old)
        for name, value in (columns | {"id": old.pk, "hidden_at": None}).items():
            setattr(row, name, value)
        self._add_what_follows(row, old)
        return row

    def _keep_what_is_not_told(self, app: Any, old: Any) -> None:
        if old is not None:
            app.detail_read_at = old.detail_read_at
            if self.is_unread("variables", app.external_id):
                app.names_skipped = old.names_skipped

    def is_unread(self, collection: str, app: str | None) -> bool:
        """Whether a collection was not read: none of it, or not that of one application."""
        return not self.unread.isdisjoint({(collection, app), (collection, None)})

    def _add_what_follows(self, app: Any, old: Any) -> None:
        """Sets the columns of an application that follow from its domains and deployments."""
        if self.is_unread("domains", app.external_id):
            app.primary_url = old.primary_url if old is not None else None
        else:
            domain = self.primary_domains.get(app.external_id)
            app.primary_url = _url(domain) if domain is not None else None
        moments = [self.last_deployed.get(app.external_id), old.last_deployed_at if old is not None else None]
        # It never moves back: the deployment that it was may be gone from the platform's short memory.
        app.last_deployed_at = max((moment for moment in moments if moment is not None), default=None)

    def columns(self, kind: Kind, record: Any) -> dict[str, Any]:
        """A row's columns, but for those that follow from others. Its identity is among them."""
        columns: dict[str, Any] = {}
        for name, field in fields_of(base.RECORDS[kind.collection]).items():
            value = getattr(record, name)
            if isinstance(field.bound, Ref):
                columns[f"{name}_id"] = None if value is None else self.ids[field.bound.collection][value]
            elif name == "key":
                columns["external_id"] = value
            elif isinstance(field.bound, Items):
                columns[name] = list(value)
            else:
                columns[name] = None if value is None else field.bound.clean(value)
        if kind.prefix:
            columns["id"] = self._id(kind, record)
        return columns | self._place(record) | self._special(record)

    def _special(self, record: Any) -> dict[str, Any]:
        match record:
            case base.App(slug=None):
                return {"slug": record.key}
            case base.Secret(environment=str()):
                project = self.projects_of_environments[record.environment or ""]
                return {"project_id": self.ids["projects"].get(project)}  # None: gone, and the environment with it
            case base.Deployment(preview=str()):
                return {"is_preview": True}
            case base.Template():
                return {"tags": f",{','.join(record.tags)}," if record.tags else ","}
            case base.Runtime():
                return {"instances": [_instance(instance) for instance in record.instances]}
        return {}

    def _id(self, kind: Kind, record: Any) -> str:
        if self.platform is None:
            return derived_id(kind.prefix, record.key)
        source = (self.platform.organization_id, self.platform.kind, self.platform.name)
        return derived_id(kind.prefix, *source, *_key_parts(record))


def _key_parts(record: Any) -> tuple[str, ...]:
    """A keyed record's key. A name has none: it is identified by what it is set on, its scope and itself."""
    match record:
        case base.Variable() | base.Secret():
            app = getattr(record, "app", None)
            for owner, key in (("app", app), ("environment", record.environment), ("project", record.project)):
                if key is not None:
                    return owner, key, record.scope, record.name
            return "organization", "", record.scope, record.name
    return (record.key,)


def _instance(instance: base.Instance) -> dict[str, Any]:
    """As it is kept in JSON; the time is text, with milliseconds and Z."""
    clean = {name: field.bound.clean for name, field in fields_of(base.Instance).items()}
    since = None
    if instance.since is not None:
        moment = clean["since"](instance.since)
        since = f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
    message = None if instance.message is None else clean["message"](instance.message)
    return {"state": clean["state"](instance.state), "since": since, "message": message}


def _primary_domains(snapshot: base.Snapshot) -> dict[str, base.Domain]:
    """By application: its first enabled domain that is no preview's, https first, then the shortest way in."""
    best: dict[str, base.Domain] = {}
    for domain in snapshot.domains:
        if domain.is_enabled and domain.preview is None:
            other = best.get(domain.app)
            best[domain.app] = domain if other is None or _rank(domain) <= _rank(other) else other
    return best


def _rank(domain: base.Domain) -> tuple[Any, ...]:
    return not domain.https, domain.path != "/", domain.host, domain.path


def _url(domain: base.Domain) -> str:
    return f"{'https' if domain.https else 'http'}://{domain.host}{domain.path}"


def _last_deployed(snapshot: base.Snapshot) -> dict[str, datetime]:
    clean = fields_of(base.Deployment)["created_at"].bound.clean
    newest: dict[str, datetime] = {}
    for deployment in snapshot.deployments:
        if deployment.status == Deployment.Status.SUCCEEDED and not (deployment.preview or deployment.is_preview):
            moment = clean(deployment.finished_at or deployment.created_at)
            newest[deployment.app] = max(moment, newest.get(deployment.app, moment))
    return newest
