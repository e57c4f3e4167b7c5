"""The Snapshot: what any deployment system tells us of an organization, and the interface that sources implement.

Records refer to each other by key: the source's own id, unique per collection. The bound beside each field says
what it may hold; nothing is enforced here, `check` does that for every source. A field without a default must be
given; None means that the source does not say.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from apps.orgs import models
from apps.orgs.models import Status
from apps.platforms.snapshot import facts
from apps.platforms.snapshot.bounds import (
    IMAGE,
    PATH,
    SHA,
    TAG,
    Boolean,
    Choice,
    Host,
    Integer,
    Items,
    Matching,
    Name,
    Prose,
    Ref,
    Text,
    Time,
    Url,
)
from apps.platforms.snapshot.fields import fields_of

Edge = facts.Edge
EdgeStatistics = facts.EdgeStatistics
Instance = facts.Instance
Runtime = facts.Runtime

KEY = Text(128)
VERSION = Prose(50)
STATUS = Choice(tuple(Status.values))
MESSAGE = facts.MESSAGE
DESCRIPTION = Prose(1000, lines=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """An account at a git host. `credentials` says whether the source can use it; none are ever in here."""

    key: Annotated[str, KEY]
    type: Annotated[str, Choice(tuple(models.SourceConnection.Type.values))]
    name: Annotated[str, Prose(100)]
    account_login: Annotated[str | None, Text(100)] = None
    base_url: Annotated[str | None, Url(500)] = None
    credentials: Annotated[str, Choice(tuple(models.SourceConnection.Credentials.values))] = "not_needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    key: Annotated[str, KEY]
    name: Annotated[str, Prose(200)]
    description: Annotated[str | None, DESCRIPTION] = None
    created_at: Annotated[datetime | None, Time()] = None  # None, here and below: when it was first seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    key: Annotated[str, KEY]
    project: Annotated[str, Ref("projects")]
    name: Annotated[str, Prose(100)]
    is_default: Annotated[bool, Boolean()] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """`repository` is owner/repository at a named host, an https:// address where `source_type` is git."""

    key: Annotated[str, KEY]
    project: Annotated[str, Ref("projects")]
    environment: Annotated[str | None, Ref("environments")] = None
    name: Annotated[str, Prose(200)]
    slug: Annotated[str | None, Text(200)] = None  # None: the key
    description: Annotated[str | None, DESCRIPTION] = None
    kind: Annotated[str, Choice(tuple(models.App.Kind.values))] = "application"
    status: Annotated[str, STATUS] = "unknown"
    upstream_status: Annotated[str | None, Prose(50)] = None
    source_type: Annotated[str, Choice(tuple(models.App.SourceType.values))]
    repository: Annotated[str | None, Text(500)] = None
    branch: Annotated[str | None, Text(255)] = None
    image: Annotated[
        str | None, Matching(500, pattern=IMAGE, form="an image such as registry.example.com/shop:1.4")
    ] = None
    connection: Annotated[str | None, Ref("connections")] = None
    dashboard_url: Annotated[str | None, Url(2000)] = None
    names_skipped: Annotated[int, Integer()] = 0  # what the source gave as names of variables and was none
    created_at: Annotated[datetime | None, Time()] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AppState:
    """An application of which only this was read: its other columns stay. One without a row is wrong."""

    key: Annotated[str, KEY]
    project: Annotated[str, Ref("projects")]
    environment: Annotated[str | None, Ref("environments")] = None
    name: Annotated[str, Prose(200)]
    kind: Annotated[str, Choice(tuple(models.App.Kind.values))] = "application"
    status: Annotated[str, STATUS] = "unknown"
    upstream_status: Annotated[str | None, Prose(50)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    key: Annotated[str, KEY]
    app: Annotated[str, Ref("apps")]
    pull_request_number: Annotated[int | None, Integer()] = None
    pull_request_title: Annotated[str | None, Prose(300)] = None
    pull_request_url: Annotated[str | None, Url(2000)] = None
    branch: Annotated[str, Text(255)]
    url: Annotated[str | None, Url(2000)] = None
    status: Annotated[str, STATUS] = "unknown"
    upstream_status: Annotated[str | None, Prose(50)] = None
    created_at: Annotated[datetime | None, Time()] = None
    expires_at: Annotated[datetime | None, Time()] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    key: Annotated[str, KEY]
    app: Annotated[str, Ref("apps")]
    preview: Annotated[str | None, Ref("previews")] = None
    host: Annotated[str, Host()]
    path: Annotated[str, Matching(500, pattern=PATH, form="a path that starts with /")] = "/"
    https: Annotated[bool, Boolean()] = True
    port: Annotated[int | None, Integer(1, 65535)] = None
    certificate_type: Annotated[str, Choice(tuple(models.Domain.CertificateType.values))] = "unknown"
    is_enabled: Annotated[bool, Boolean()] = True
    created_at: Annotated[datetime | None, Time()] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One that a snapshot leaves out is kept while its application exists: platforms forget, we do not."""

    key: Annotated[str, KEY]
    app: Annotated[str, Ref("apps")]
    preview: Annotated[str | None, Ref("previews")] = None
    is_preview: Annotated[bool, Boolean()] = False  # of a preview that is gone; where preview is named, that says it
    status: Annotated[str, Choice(tuple(models.Deployment.Status.values))] = "unknown"
    upstream_status: Annotated[str | None, Prose(50)] = None
    title: Annotated[str, Prose(300)]
    commit_sha: Annotated[
        str | None, Matching(64, pattern=SHA, form="a commit id of 7 to 64 hexadecimal digits in lower case")
    ] = None
    commit_message: Annotated[str | None, MESSAGE] = None
    branch: Annotated[str | None, Text(255)] = None
    author: Annotated[str | None, Prose(200)] = None
    trigger: Annotated[str, Choice(tuple(models.Deployment.Trigger.values))] = "unknown"
    created_at: Annotated[datetime, Time()]
    started_at: Annotated[datetime | None, Time()] = None
    finished_at: Annotated[datetime | None, Time()] = None
    error_message: Annotated[str | None, MESSAGE] = None
    dashboard_url: Annotated[str | None, Url(2000)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """The name of a variable, set on an application (app, preview, build), an environment or a project."""

    name: Annotated[str, Name()]
    scope: Annotated[str, Choice(tuple(models.EnvVarName.Scope.values))] = "app"
    app: Annotated[str | None, Ref("apps")] = None
    environment: Annotated[str | None, Ref("environments")] = None
    project: Annotated[str | None, Ref("projects")] = None
    references: Annotated[tuple[str, ...], Items(Name(reference=True), 20, unique=True)] = ()
    updated_at: Annotated[datetime | None, Time()] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """The name of a secret. Where `environment` is given, `project` may be left out: it is that environment's."""

    name: Annotated[str, Name()]
    scope: Annotated[str, Choice(tuple(models.OrgSecretName.Scope.values))] = "organization"
    project: Annotated[str | None, Ref("projects")] = None
    environment: Annotated[str | None, Ref("environments")] = None
    provider: Annotated[str | None, Prose(50)] = None
    updated_at: Annotated[datetime | None, Time()] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    key: Annotated[str, KEY]
    name: Annotated[str, Prose(100)]
    description: Annotated[str, DESCRIPTION]
    version: Annotated[str | None, Prose(50)] = None
    tags: Annotated[
        tuple[str, ...],
        Items(Matching(32, pattern=TAG, form="a tag of lower-case letters, digits and hyphens"), 20, unique=True),
    ] = ()
    logo_url: Annotated[str | None, Url(500)] = None
    github_url: Annotated[str | None, Url(500)] = None
    website_url: Annotated[str | None, Url(500)] = None
    docs_url: Annotated[str | None, Url(500)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything a source has of one organization, at one moment. What is not in here is gone there.

    Not what `unread` speaks of: that is unknown. Records may refer to rows of it that are stored.
    """

    version: Annotated[str | None, VERSION] = None  # the deployment system's own
    connections: tuple[Connection, ...] = ()
    projects: tuple[Project, ...] = ()
    environments: tuple[Environment, ...] = ()
    apps: tuple[App, ...] = ()
    previews: tuple[Preview, ...] = ()
    domains: tuple[Domain, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    variables: tuple[Variable, ...] = ()
    secrets: tuple[Secret, ...] = ()
    templates: tuple[Template, ...] = ()
    edges: tuple[Edge, ...] = ()
    edge_statistics: tuple[EdgeStatistics, ...] = ()
    runtimes: tuple[Runtime, ...] = ()
    app_states: tuple[AppState, ...] = ()
    # (collection, an application's key or None for all): not read this time, so that rows of it stay as they are.
    unread: frozenset[tuple[str, str | None]] = frozenset()


# In an order in which nothing refers to what comes later.
COLLECTIONS: dict[str, type] = {
    "connections": Connection,
    "projects": Project,
    "environments": Environment,
    "apps": App,
    "previews": Preview,
    "domains": Domain,
    "deployments": Deployment,
    "variables": Variable,
    "secrets": Secret,
    "templates": Template,
    "edges": Edge,
    "edge_statistics": EdgeStatistics,
    "runtimes": Runtime,
}
# Records that are not all of their row.
PARTIAL: dict[str, type] = {"app_states": AppState}
RECORDS = COLLECTIONS | PARTIAL
# Those whose records others refer to.
REFERRED = frozenset(
    field.bound.collection
    for record in COLLECTIONS.values()
    for field in fields_of(record).values()
    if isinstance(field.bound, Ref)
)
