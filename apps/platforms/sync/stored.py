"""What is stored of a platform, as far as a sync has to know it: which details are due, and what stays as it is."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from apps.orgs.models import App, Deployment, Environment, EnvVarName, OrgSecretName, Platform, Preview
from apps.platforms.connector import State
from apps.platforms.snapshot import base
from apps.platforms.snapshot.differences import BATCH

# Of one that began earlier the platform knows nothing any more: its application is not read because of it for ever.
MAX_UNDER_WAY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class StoredApp:
    status: str
    upstream_status: str | None
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class Stored:
    """By the platform's own keys. `with_previews`: applications that have some."""

    apps: dict[str, StoredApp] = field(default_factory=dict)
    with_previews: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Kept:
    """What is stored and may stay, of collections that were read in part; variables of environments and projects."""

    environments: list[base.Environment] = field(default_factory=list)
    variables: list[base.Variable] = field(default_factory=list)
    secrets: list[base.Secret] = field(default_factory=list)


def stored_of(platform: Platform) -> Stored:
    apps = App.objects.filter(platform=platform, external_id__isnull=False)
    columns = apps.values_list("external_id", "status", "upstream_status", "hidden_at")
    previews = Preview.objects.filter(platform=platform).values_list("app__external_id", flat=True)
    return Stored(
        apps={key: StoredApp(status, upstream, hidden is not None) for key, status, upstream, hidden in columns if key},
        with_previews=frozenset(key for key in previews.distinct() if key),
    )


def apps_with_news(platform: Platform, deployments: Iterable[base.Deployment]) -> set[str]:
    """The keys of applications with a deployment that is not stored, or stored with another status.

    Also where one is stored as under way that `deployments` do not name: it may have ended, and only details tell how.
    """
    news: set[str] = set()
    under_way = _under_way(platform)
    for some in _batches(deployments):
        rows: QuerySet[Deployment] = Deployment.objects.filter(platform=platform)
        rows = rows.filter(external_id__in=[deployment.key for deployment in some])
        known = dict(rows.values_list("external_id", "status"))
        for deployment in some:
            under_way.pop(deployment.key, None)
            if known.get(deployment.key) != deployment.status:
                news.add(deployment.app)
    return news | set(under_way.values())


def _under_way(platform: Platform) -> dict[str, str]:
    """The applications of recent deployments that had not ended, by the deployments' keys."""
    rows = Deployment.objects.filter(
        organization_id=platform.organization_id, created_at__gte=timezone.now() - MAX_UNDER_WAY, platform=platform,
        status__in=(Deployment.Status.QUEUED, Deployment.Status.BUILDING),
    )  # fmt: skip
    return {key: app for key, app in rows.values_list("external_id", "app__external_id") if key and app}


def kept_of(platform: Platform, state: State) -> Kept:
    """What is stored of what `state` was not told whole."""
    return Kept(
        environments=[] if state.of_projects is None else _environments(platform),
        variables=_variables(platform) if "variables" in state.unread else [],
        secrets=[] if state.of_places is None else _secrets(platform),
    )


def _environments(platform: Platform) -> list[base.Environment]:
    rows = Environment.objects.filter(platform=platform).select_related("project").order_by("id")
    return [
        base.Environment(key=row.external_id, project=row.project.external_id, name=row.name, is_default=row.is_default)
        for row in rows
        if row.external_id and row.project.external_id
    ]


def _variables(platform: Platform) -> list[base.Variable]:
    """Those of environments and projects."""
    rows = EnvVarName.objects.filter(platform=platform, app__isnull=True).select_related("environment", "project")
    return [
        base.Variable(
            name=row.name,
            scope=row.scope,
            environment=row.environment.external_id if row.environment else None,
            project=row.project.external_id if row.project else None,
            references=tuple(row.references),
            updated_at=row.updated_at,
        )
        for row in rows
    ]


def _secrets(platform: Platform) -> list[base.Secret]:
    """An environment's without its project, as connectors tell them."""
    rows = OrgSecretName.objects.filter(platform=platform).select_related("environment", "project")
    return [
        base.Secret(
            name=row.name,
            scope=row.scope,
            environment=row.environment.external_id if row.environment else None,
            project=row.project.external_id if row.project and not row.environment else None,
            provider=row.provider,
            updated_at=row.updated_at,
        )
        for row in rows
    ]


def _batches(deployments: Iterable[base.Deployment]) -> Iterator[list[base.Deployment]]:
    some: list[base.Deployment] = []
    for deployment in deployments:
        some.append(deployment)
        if len(some) == BATCH:
            yield some
            some = []
    if some:
        yield some
