"""The lists of what belongs to applications: of one application, a project, an environment or a whole organization."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from django.db.models import BooleanField, Func, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from apps.orgs.certificates import certificate_changes_at, certificate_status
from apps.orgs.conditions import Condition, Way, equal, is_seen, narrowed
from apps.orgs.models import Deployment, Domain, EdgeFact, EnvVarName, Preview
from apps.orgs.narrowing import APPLICATION, ENVIRONMENT, ORGANIZATION, PROJECT, Place, rows_by
from apps.orgs.overview import visible_apps
from apps.orgs.prepared import prepared
from apps.orgs.rows import MergedRows, Row, Rows, TimeText
from apps.orgs.text import fold
from apps.orgs.versions import Reading

NEWEST_FIRST = ("-created_at", "-id")
VARIABLE_ORDER = ("sort_key", "scope", "id")


def domains(place: Place, reading: Reading, *, host: str | None, certificate_expires_before: datetime | None) -> Rows:
    """Domains by host, then path, with what the last outside look saw of their certificate and DNS."""
    folded = None if host is None else fold(host)
    rows = narrowed(_domains, place, host=folded, before=certificate_expires_before)
    rows.finish = partial(_finish_domains, reading)
    return rows


@prepared
def _domains(place: Place, *, way: Way, host: str | None, before: datetime | None) -> Rows:
    rows, conditions = Domain.objects.all(), []
    if host is not None:
        rows = rows.filter(host=host)  # the second column of every index of a place
    if before is not None:
        early: QuerySet[Any] = EdgeFact.objects.filter(organization_id=place.organization_id, tls_not_after__lt=before)
        found = Rows(early.values("domain_id"), ("tls_not_after",), names={"domain_id": "id"})
        conditions.append(Condition(Q(edge__tls_not_after__lt=before), found))

    def listed(some: QuerySet[Any]) -> Rows:
        columns, names = some.values(*DOMAIN_COLUMNS, **DOMAIN_TIMES), DOMAIN_NAMES
        return Rows(columns, order=("host", "path", "id"), names=names, of=place.organization_id)

    return rows_by(way, rows, place, conditions, listed)


def previews(place: Place, *, pull_request_number: int | None, status: str | None) -> Rows:
    """Previews, the newest first, each with the id of its last deployment."""
    return narrowed(_previews, place, pull_request_number=pull_request_number, status=status)


@prepared
def _previews(place: Place, *, way: Way, pull_request_number: int | None, status: str | None) -> Rows:
    everywhere = Preview.objects.filter(organization_id=place.organization_id)
    conditions = [
        equal(everywhere, column, value, NEWEST_FIRST)
        for column, value in (("pull_request_number", pull_request_number), ("status", status))
        if value is not None
    ]
    newest = Deployment.objects.filter(preview_id=OuterRef("id")).order_by(*NEWEST_FIRST).values("id")[:1]

    def listed(some: QuerySet[Any]) -> Rows:
        columns = some.values(*PREVIEW_COLUMNS, last_deployment_id=Subquery(newest), **PREVIEW_TIMES)
        return Rows(columns, NEWEST_FIRST, _finish, names={"expires": "expires_at"}, of=place.organization_id)

    return rows_by(way, Preview.objects.all(), place, conditions, listed)


def deployments(place: Place, *, commit_sha: str | None, **filters: Any) -> Rows:
    """Deployments, the newest first, by the filters of `_deployments`; `commit_sha` is how it begins."""
    commit = None if commit_sha is None else _beginning_with(commit_sha.lower())
    return narrowed(_deployments, place, commit=commit, **filters)


def _beginning_with(prefix: str) -> tuple[str, str]:
    """What begins so: from the one on, and before the other."""
    return prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)


@prepared
def _deployments(
    place: Place,
    *,
    way: Way,
    is_preview: bool | None,
    status: str | None,
    commit: tuple[str, str] | None,
    branch: str | None,
    since: datetime | None,
    until: datetime | None,
) -> Rows:
    """`since` is inclusive, `until` exclusive; so are the two of `commit`."""
    rows = Deployment.objects.all()
    if since is not None:
        rows = rows.filter(created_at__gte=since)
    if until is not None:
        rows = rows.filter(created_at__lt=until)
    everywhere = Deployment.objects.filter(organization_id=place.organization_id)
    conditions = []
    if commit is not None:
        conditions.append(_commit(everywhere, *commit))
    if branch is not None:
        conditions.append(equal(everywhere, "branch", branch, NEWEST_FIRST))
    if status is not None:
        conditions.append(equal(everywhere, "status", status, NEWEST_FIRST, ORGANIZATION, APPLICATION))
    if is_preview is False:
        rows = rows.filter(is_preview=False)  # nearly all are: a walk meets them soon
    elif is_preview:
        conditions.append(_of_previews(everywhere))

    def listed(some: QuerySet[Any]) -> Rows:
        columns = some.values(*DEPLOYMENT_COLUMNS, **DEPLOYMENT_TIMES)
        return Rows(columns, NEWEST_FIRST, _finish_deployments, of=place.organization_id)

    return rows_by(way, rows, place, conditions, listed)


def variable_names(place: Place, *, scope: str | None, name: str | None) -> Rows:
    """Names of variables by name. Of an application all that it sees: its own, its environment's, its project's.

    Elsewhere each name once, where it is set. Beside them the number of what platforms gave that was no name.
    """
    filters: dict[str, str | None] = {
        "scope": scope, "name": name, "sort_key": None if name is None else fold(name),
    }  # fmt: skip
    rows: Rows
    if place.app is None:
        rows = narrowed(_variable_names, place, **filters)
    else:
        seen = [] if place.is_nowhere else _seen_by(place.app)
        rows = MergedRows([_names_set_on(**owner, **filters) for owner in seen], VARIABLE_ORDER, _finish_variables)
    rows.extra = {"skippedCount": _skipped(place)}
    return rows


@prepared
def _variable_names(place: Place, *, way: Way, scope: str | None, name: str | None, sort_key: str | None) -> Rows:
    conditions = []
    if scope is not None:
        everywhere = EnvVarName.objects.filter(organization_id=place.organization_id)
        condition = equal(everywhere, "scope", scope, ("sort_key", "id"))
        # After the name, every index of a place has the scope. Without one SQLite would sort all rows of a name.
        conditions.append(condition if name is None else replace(condition, seen=None))

    def listed(some: QuerySet[Any]) -> Rows:
        columns = some.values(*VARIABLE_COLUMNS, **VARIABLE_TEXTS)
        return Rows(columns, VARIABLE_ORDER, _finish_variables, names=VARIABLE_NAMES, of=place.organization_id)

    return rows_by(way, EnvVarName.objects.filter(*_called(name, sort_key)), place, conditions, listed)


@prepared
def _names_set_on(*, scope: str | None, name: str | None, sort_key: str | None, **owner: str) -> Rows:
    rows = EnvVarName.objects.filter(*_called(name, sort_key), **owner)
    rows = rows if scope is None else rows.filter(scope=scope)
    return Rows(rows.values(*VARIABLE_COLUMNS, **VARIABLE_TEXTS), VARIABLE_ORDER, names=VARIABLE_NAMES)


def _called(name: str | None, sort_key: str | None) -> list[Any]:
    if name is None:
        return []
    # The second column of every index of a place. The name itself so that PostgreSQL does not take both to be rare.
    return [is_seen("name", name), Q(sort_key=sort_key)]


def _of_previews(everywhere: QuerySet[Any]) -> Condition:
    # Twice: the column alone is the condition of the places' indexes.
    condition = equal(
        everywhere.filter(is_preview=True), "is_preview", True, NEWEST_FIRST,
        ORGANIZATION, PROJECT, ENVIRONMENT, APPLICATION,
    )  # fmt: skip
    return replace(condition, rows=condition.rows & Q(is_preview=True))


def _commit(everywhere: QuerySet[Any], first: str, beyond: str) -> Condition:
    rows = Q(commit_sha__gte=first, commit_sha__lt=beyond)
    return Condition(rows, Rows(everywhere.filter(rows).values("id"), order=("commit_sha",)))


def _seen_by(app: Row) -> list[dict[str, str]]:
    """Where names are set that it sees."""
    places = {"app_id": app["id"], "project_id": app["project_id"], "environment_id": app["environment_id"]}
    return [{column: id} for column, id in places.items() if id is not None]


def _skipped(place: Place) -> int:
    if place.is_nowhere:
        return 0
    if place.app is not None:
        return int(place.app["names_skipped"])
    return sum(row["names_skipped"] for row in _apps_with_skipped(place).read())


@prepared
def _apps_with_skipped(place: Place) -> Rows:
    apps = visible_apps(place.organization_id).filter(HasSkipped("names_skipped"))
    if place.column != ORGANIZATION:
        apps = apps.filter(**{place.column.removeprefix("within_"): place.id})
    return Rows(apps.values(*SKIPPED_COLUMNS), order=())


class HasSkipped(Func):
    """Whether a number is above zero. Written out, as in the condition of the index: a parameter fits none."""

    template = "%(expressions)s > 0"
    output_field = BooleanField()


def _finish(rows: list[Row]) -> None:
    """The contract says applicationId; what tools read is called so too."""
    for row in rows:
        row["application_id"], row["application_name"] = row["app_id"], row["app__name"]


def _finish_domains(reading: Reading, domains: list[Row]) -> None:
    _finish(domains)
    now = timezone.now()
    for row in domains:
        row["url"] = f"{'https' if row['https'] else 'http'}://{row['host']}{row['path']}"
        row["certificate_status"] = certificate_status(row, now)
        if (moment := certificate_changes_at(row, now)) is not None:
            reading.ends(moment)
        row["dns_status"] = row["edge__dns_status"] or "unknown"


def _finish_deployments(deployments: list[Row]) -> None:
    _finish(deployments)
    for row in deployments:
        started, finished = row["started_at"], row["finished_at"]
        both = started is not None and finished is not None
        row["duration_ms"] = max(0, round((finished - started).total_seconds() * 1000)) if both else None
        # A preview's is in no environment, though its application is.
        row["environment_id"] = None if row["is_preview"] else row["within_environment_id"]


def _finish_variables(variables: list[Row]) -> None:
    _finish(variables)
    for row in variables:
        row["project_id"], row["environment_id"] = row["within_project_id"], row["within_environment_id"]
        row["references"] = orjson.loads(row["references"])


DOMAIN_COLUMNS = (
    "id", "external_id", "app_id", "app__name", "host", "path", "https", "port", "certificate_type", "is_enabled",
    "preview_id", "edge__dns_status", "edge__tls_not_after", "edge__tls_is_valid",
)  # fmt: skip
DOMAIN_TIMES = {
    "created": TimeText("created_at"), "expires": TimeText("edge__tls_not_after"),
    "checked": TimeText("edge__checked_at"),
}  # fmt: skip
DOMAIN_NAMES = {"created": "created_at", "expires": "certificate_expires_at", "checked": "checked_at"}
PREVIEW_COLUMNS = (
    "id", "external_id", "app_id", "app__name", "pull_request_number", "pull_request_title", "pull_request_url",
    "branch", "url", "status", "upstream_status", "created_at",
)  # fmt: skip
PREVIEW_TIMES = {"created": TimeText("created_at"), "expires": TimeText("expires_at")}  # created_at is ordered by
DEPLOYMENT_COLUMNS = (
    "id", "external_id", "app_id", "app__name", "within_environment_id", "is_preview", "preview_id", "status",
    "upstream_status", "title", "commit_sha", "commit_message", "branch", "author", "trigger", "created_at",
    "started_at", "finished_at", "error_message", "dashboard_url",
)  # fmt: skip
DEPLOYMENT_TIMES = {name: TimeText(f"{name}_at") for name in ("created", "started", "finished")}  # as they are shown
VARIABLE_COLUMNS = (
    "id", "app_id", "app__name", "within_project_id", "within_environment_id", "name", "scope",
    "sort_key",
)  # fmt: skip
VARIABLE_TEXTS = {"updated": TimeText("updated_at"), "refers_to": Cast("references", TextField())}
VARIABLE_NAMES = {"updated": "updated_at", "refers_to": "references"}
SKIPPED_COLUMNS = ("names_skipped",)
