"""What every snapshot must be, whichever source it comes from: `check` raises SnapshotError with all that is wrong."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from apps.orgs.repositories import GIT_HOSTS, LOCAL_CHECKOUT
from apps.platforms.snapshot import base
from apps.platforms.snapshot.bounds import BIGGEST_INTEGER, Items, Ref, Time, Url
from apps.platforms.snapshot.fields import fields_of

MAX_ENVIRONMENTS = 50
# Two parts or more (GitLab has groups in groups); none that starts with a hyphen or is only dots.
REPOSITORY = re.compile(r"(?!.*(?:^|/)\.+(?:/|$))[\w.~][\w.~-]*(?:/[\w.~][\w.~-]*)+")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: in a field of the record at `index` of a collection. Repeats nothing of the record."""

    collection: str
    index: int
    field: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.collection}[{self.index}].{self.field}: {self.sentence}"


class SnapshotError(ValueError):
    """A snapshot that cannot be applied. `problems` says all that is wrong with it."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class StoredRow:
    """What a snapshot may refer to without telling it. `app` and `project` are keys, as in a record."""

    pk: str
    app: str | None = None
    project: str | None = None


# By collection (app_states: the applications that may be told in part), then by key.
Stored = Mapping[str, Mapping[str, StoredRow]]
NONE: Stored = MappingProxyType({})


def check(snapshot: base.Snapshot, stored: Stored = NONE) -> None:
    """Raises SnapshotError unless the snapshot can be applied as it is, where these rows are stored."""
    if problems := list(problems_of(snapshot, stored)):
        raise SnapshotError(problems)


def problems_of(snapshot: base.Snapshot, stored: Stored = NONE) -> Iterator[Problem]:
    known = {name: {**stored.get(name, {}), **_by_key(snapshot, name)} for name in base.REFERRED}
    known["apps"] = _by_key(snapshot, "app_states") | known["apps"]
    if snapshot.version is not None and (problem := base.VERSION.problem(snapshot.version)):
        yield Problem("snapshot", 0, "version", problem)
    identities: dict[str, set[Any]] = defaultdict(set)
    for collection, type in base.RECORDS.items():
        seen = identities["apps" if type is base.AppState else collection]
        for index, record in enumerate(getattr(snapshot, collection)):
            rules = (
                _bounds(type, record),
                _references(type, record, known),
                _uniqueness(record, seen),
                RULES.get(type, _no_rules)(record, known),
            )
            for rule in rules:
                for field, sentence in rule:
                    yield Problem(collection, index, field, sentence)
    yield from _too_many_environments(snapshot)
    yield from _apps_without_a_row(snapshot, stored.get("app_states", {}))


Complaints = Iterator[tuple[str, str]]
Known = dict[str, dict[str, Any]]


def _by_key(snapshot: base.Snapshot, collection: str) -> dict[str, Any]:
    records = getattr(snapshot, collection)
    return {record.key: record for record in reversed(records) if isinstance(getattr(record, "key", None), str)}


def _bounds(type: type, record: Any) -> Complaints:
    for name, field in fields_of(type).items():
        value = getattr(record, name)
        if value is None:
            if field.is_required or field.default is not None:
                yield name, "must be given"
        elif problem := field.bound.problem(value):
            yield name, problem
        elif isinstance(field.bound, Items):
            yield from _items(name, field.bound, value)


def _items(name: str, bound: Items, items: Any) -> Complaints:
    for index, item in enumerate(items):
        if isinstance(bound.of, type):
            for inner, problem in _bounds(bound.of, item):
                yield f"{name}[{index}].{inner}", problem
        elif problem := bound.of.problem(item):
            yield f"{name}[{index}]", problem


def _references(type: type, record: Any, known: Known) -> Complaints:
    for name, field in fields_of(type).items():
        key = getattr(record, name)
        if isinstance(field.bound, Ref) and isinstance(key, str) and key not in known[field.bound.collection]:
            yield name, f"there is no {field.bound.collection.removesuffix('s')} with this key"


def _uniqueness(record: Any, seen: set[Any]) -> Complaints:
    """Adds the record's identity to `seen`."""
    identity, field = _identity(record)
    if identity in seen:
        yield field, "must be unique: an earlier entry is the same"
    if identity is not None:
        seen.add(identity)


def _identity(record: Any) -> tuple[Any, str]:
    match record:
        case base.Variable():
            return (record.scope, record.app, record.environment, record.project, record.name), "name"
        case base.Secret():
            owner = (None, record.environment) if record.environment else (record.project, None)
            return (record.scope, owner, record.name), "name"
        case base.Edge():
            return record.domain, "domain"
        case base.EdgeStatistics() | base.Runtime():
            return record.app, "app"
    return record.key, "key"


def _no_rules(record: Any, known: Known) -> Complaints:
    yield from ()


def _environment_rule(app: base.App | base.AppState, known: Known) -> Complaints:
    environment = known["environments"].get(app.environment or "")
    if environment is not None and environment.project != app.project:
        yield "environment", "is an environment of another project"


def _app_rules(app: base.App, known: Known) -> Complaints:
    yield from _environment_rule(app, known)
    if app.source_type in (*GIT_HOSTS, "git"):
        if app.image is not None:
            yield "image", "belongs to a source of type docker only"
        if app.repository is not None and (problem := _repository(app.source_type, app.repository)):
            yield "repository", problem
    else:
        for field in ("repository", "branch", "connection"):
            if getattr(app, field) is not None:
                yield field, "belongs to a source that is a repository only"
        if app.image is not None and app.source_type != "docker":
            yield "image", "belongs to a source of type docker only"


def _repository(source_type: str, repository: str) -> str | None:
    if source_type == "git":
        web = (
            repository.startswith("https://")
            and not re.search(r"[?#]", repository)
            and not Url(500).problem(repository)
        )
        return None if web or repository == LOCAL_CHECKOUT else "must be an https:// address without a user name"
    return None if REPOSITORY.fullmatch(repository) else "must be owner/repository"


def _same_app(record: base.Domain | base.Deployment, known: Known) -> Complaints:
    preview = known["previews"].get(record.preview or "")
    if preview is not None and preview.app != record.app:
        yield "preview", "is a preview of another application"


def _deployment_rules(deployment: base.Deployment, known: Known) -> Complaints:
    yield from _same_app(deployment, known)
    started, finished = deployment.started_at, deployment.finished_at
    if Time().problem(started) or Time().problem(finished):
        return  # one is not known, or was complained of
    if (finished - started).total_seconds() * 1000 > BIGGEST_INTEGER:  # type: ignore[operator]
        yield "finished_at", "must be less than 24 days after it started"


def _variable_rules(variable: base.Variable, known: Known) -> Complaints:
    owner = variable.scope if variable.scope in ("environment", "project") else "app"
    given = [name for name in ("app", "environment", "project") if getattr(variable, name) is not None]
    if not given:
        yield owner, "must be given"
    elif given != [owner]:
        yield "scope", "does not fit where the variable is set"


def _secret_rules(secret: base.Secret, known: Known) -> Complaints:
    environment = known["environments"].get(secret.environment or "")
    if environment is not None and secret.project not in (None, environment.project):
        yield "environment", "is an environment of another project"
    given = {name for name in ("project", "environment") if getattr(secret, name) is not None}
    match secret.scope:
        case "organization" if given:
            yield "scope", "organization belongs to no project and no environment"
        case "project" if given != {"project"}:
            yield "scope", "project needs a project, and no environment"
        case "environment" if "environment" not in given:
            yield "scope", "environment needs an environment"


def _apps_without_a_row(snapshot: base.Snapshot, stored: Mapping[str, StoredRow]) -> Iterator[Problem]:
    for index, state in enumerate(snapshot.app_states):
        if state.key not in stored:
            yield Problem("app_states", index, "key", "is not stored, and so must be told whole")


def _too_many_environments(snapshot: base.Snapshot) -> Iterator[Problem]:
    counts = Counter(environment.project for environment in snapshot.environments)
    for index, project in enumerate(snapshot.projects):
        if counts[project.key] > MAX_ENVIRONMENTS:
            yield Problem("projects", index, "key", f"has more than {MAX_ENVIRONMENTS} environments")


RULES: dict[type, Callable[[Any, Known], Complaints]] = {
    base.App: _app_rules,
    base.AppState: _environment_rule,
    base.Domain: _same_app,
    base.Deployment: _deployment_rules,
    base.Variable: _variable_rules,
    base.Secret: _secret_rules,
}
