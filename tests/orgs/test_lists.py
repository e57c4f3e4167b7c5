"""Lists across applications: whatever narrows them, they hold what a look at every single row finds."""

from collections.abc import Callable
from datetime import timedelta
from itertools import chain, combinations
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from apps.orgs import conditions
from apps.orgs.models import App, Deployment, Domain, EdgeFact, Environment, EnvVarName, Preview, Project
from apps.orgs.models.judged import judging_once
from apps.orgs.rows import Missing, Row, Rows
from apps.orgs.scope import OrgScope
from apps.orgs.text import fold
from apps.orgs.versions import raising_oneself
from tests.api import Api
from tests.examples import examples
from tests.factories import START, Fill, make, make_app, make_edge, make_more

pytestmark = pytest.mark.django_db
DAYS = [START + timedelta(days=day) for day in range(4)]
COMMITS = ["abcdef01" * 5, "abcdef02" * 5, "abcdef0", "fffffff" + "0" * 33, None]
BRANCHES = ["main", "Main", "x", None]
NAMES = ["A", "a", "B"]
MODELS: dict[str, Any] = {
    "apps": App, "domains": Domain, "previews": Preview, "deployments": Deployment, "variable_names": EnvVarName,
}  # fmt: skip


@pytest.fixture
def ids(acme: Fill, rival: Fill) -> dict[str, list[str]]:
    """Two projects, three environments, six applications (one hidden) with random rows: what may be named, by kind."""
    with raising_oneself(), judging_once():  # nobody asks in between
        return fill_at_random(acme, rival)


def fill_at_random(acme: Fill, rival: Fill) -> dict[str, list[str]]:
    organization, chance = acme.organization, Random(11)
    other = make(Project, organization, name="other")
    staging = make(Environment, organization, project=acme.project, name="staging")
    live = make(Environment, organization, project=other, name="live")
    places = [(acme.project, staging), (acme.project, None), (other, live), (other, live), (acme.project, staging)]
    apps = [acme.app] + [
        make_app(
            project, f"{number}", environment=stage, branch=chance.choice(BRANCHES), status=chance.choice(STATUSES),
            names_skipped=number,
        )
        for number, (project, stage) in enumerate(places)
    ]  # fmt: skip
    for app in [*apps, rival.app]:
        fill_app(app, chance)
    for app, count in ((acme.app, 2), (apps[3], 3)):
        for name in NAMES[:count]:
            project, stage = app.project, app.environment
            make(EnvVarName, organization, project=project, name=name, scope="project")
            make(EnvVarName, organization, environment=stage, name=name, scope="environment")
    App.objects.filter(pk=apps[-1].pk).update(hidden_at=timezone.now())
    previews = list(Preview.objects.filter(app__in=(apps[0], apps[3], apps[-1])).values_list("id", flat=True)[:4])
    return {
        "application_id": [*(app.id for app in apps), rival.app.id, "%"],
        "project_id": [acme.project.id, other.id, rival.project.id],
        "environment_id": [acme.environment.id, staging.id, live.id, rival.environment.id],
        "preview_id": [*previews, rival.preview.id],
    }


STATUSES = ["deployed", "error"]


def fill_app(app: App, chance: Random) -> None:
    organization = app.organization
    previews = [
        make(
            Preview, organization, app=app, branch="x", pull_request_number=chance.choice([1, 2, None]),
            status=chance.choice(STATUSES), created_at=chance.choice(DAYS),
        )
        for _ in range(4)
    ]  # fmt: skip
    Deployment.objects.bulk_create(
        Deployment(
            organization=organization, app=app, title="x", status=chance.choice(["failed", "succeeded"]),
            commit_sha=chance.choice(COMMITS), branch=chance.choice(BRANCHES), created_at=chance.choice(DAYS),
            preview=preview, is_preview=preview is not None or chance.random() < 0.2,
        )
        for preview in [chance.choice([None, None, *previews]) for _ in range(12)]
    )  # fmt: skip
    for path in ("/", "/x", "/y"):
        host = chance.choice(["a.example", "b.example"])
        domain = make(Domain, organization, app=app, host=host, path=path, https=True)
        if chance.random() < 0.8:
            make_edge(domain, tls_not_after=chance.choice([*DAYS, None]))
    for scope in ("app", "build"):
        make(EnvVarName, organization, app=app, name=chance.choice(NAMES), scope=scope)


# What each filter leaves of a row, told in Python

CHECKS: dict[str, Callable[[Any, Any], bool]] = {
    "status": lambda row, value: row.status == value,
    "branch": lambda row, value: row.branch == value,
    "host": lambda row, value: row.host == value.lower(),
    "certificate_expires_before": lambda row, value: (
        hasattr(row, "edge") and row.edge.tls_not_after is not None and row.edge.tls_not_after < value
    ),
    "pull_request_number": lambda row, value: row.pull_request_number == value,
    "target": lambda row, value: row.is_preview == (value == "preview"),
    "commit_sha": lambda row, value: (row.commit_sha or "").startswith(value.lower()),
    "since": lambda row, value: row.created_at >= value,
    "until": lambda row, value: row.created_at < value,
    "scope": lambda row, value: row.scope == value,
    "name": lambda row, value: row.name == value,
}
BY_NAME: Callable[[Any], Any] = lambda row: (fold(row.name), getattr(row, "scope", ""), row.id)  # noqa: E731
FILTERS: dict[str, dict[str, list[Any]]] = {
    "apps": {"status": STATUSES, "branch": BRANCHES[:3]},
    "domains": {"host": ["a.example", "B.Example", "c"], "certificate_expires_before": DAYS},
    "previews": {"pull_request_number": [1, 3], "status": STATUSES},
    "deployments": {
        "target": ["production", "preview"], "status": ["failed", "queued"], "branch": BRANCHES[:3],
        "commit_sha": ["abcdef0", "ABCDEF01", "abcdef02" * 5, "fffffff", "9999999"], "since": DAYS, "until": DAYS,
    },
    "variable_names": {"scope": ["app", "project", "environment"], "name": NAMES},
}  # fmt: skip


def app_of(row: Any) -> Any:
    return row if isinstance(row, App) else row.app


def is_in(row: Any, named: dict[str, str], asked: dict[str, App]) -> bool:
    app = app_of(row)
    if app is not None and app.hidden_at is not None:
        return False
    if isinstance(row, EnvVarName) and "application_id" in named:
        asking = asked[named["application_id"]]
        sees = row.app_id == asking.id or row.project_id == asking.project_id
        sees = sees or (row.environment_id is not None and row.environment_id == asking.environment_id)
        return sees and is_in(asking, named, asked)
    stage = row.environment if isinstance(row, EnvVarName) and app is None else app.environment
    project = app.project_id if app else row.project_id or stage.project_id
    where = {
        "application_id": app and app.id, "project_id": project, "environment_id": stage and stage.id,
        "preview_id": getattr(row, "preview_id", None),
    }  # fmt: skip
    return all(where[name] == id for name, id in named.items())


def missing(named: dict[str, str], organization: str) -> str | None:
    """The first that is not there, or is hidden, or is another organization's."""
    for name, model in (("application_id", App), ("project_id", Project), ("environment_id", Environment)):
        if name in named:
            row = model.objects.filter(pk=named[name], organization=organization).first()
            if row is None or getattr(row, "hidden_at", None):
                return name.removesuffix("_id")
    if "preview_id" in named:
        preview = Preview.objects.filter(pk=named["preview_id"], organization=organization).first()
        if preview is None or preview.app.hidden_at or named.get("application_id", preview.app_id) != preview.app_id:
            return "preview"
    return None


def expected(kind: str, organization: str, named: dict[str, str], filters: Row) -> list[str]:
    asked = App.objects.in_bulk([id for name, id in named.items() if name == "application_id"])
    related = {"apps": ["environment"], "domains": ["app__environment", "edge"]}
    related["variable_names"] = ["app__environment", "environment", "project"]
    rows = [
        row
        for row in MODELS[kind].objects.select_related(*related.get(kind, ["app__environment"]))
        if row.organization_id == organization
        and is_in(row, named, asked)
        and all(CHECKS[name](row, value) for name, value in filters.items())
    ]
    if kind in ("previews", "deployments"):
        return [row.id for row in sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)]
    return [row.id for row in sorted(rows, key=BY_NAME if kind != "domains" else by_host)]


def by_host(row: Any) -> Any:
    return row.host, row.path, row.id


def walk(rows: Rows, limit: int) -> list[Row]:
    found, after = [], None
    while True:
        page, has_more = rows.page(after, limit)
        found += page
        if not has_more:
            return found
        after = rows.position(page[-1])


@pytest.mark.parametrize("kind", MODELS)
@examples(15)
@given(data=st.data())
def test_a_list_is_what_a_look_at_every_row_finds(
    acme: Fill, ids: dict[str, list[str]], kind: str, data: st.DataObject
) -> None:
    taken = set(ids) - ({"application_id"} if kind == "apps" else set())
    taken -= set() if kind == "deployments" else {"preview_id"}
    named = {name: data.draw(st.sampled_from(ids[name]), name) for name in data.draw(chosen(sorted(taken)), "ids")}
    filters = {
        name: data.draw(st.sampled_from(FILTERS[kind][name]), name)
        for name in data.draw(chosen(list(FILTERS[kind])), "filters")
    }
    limit = data.draw(st.integers(1, 30), "limit")
    scope = OrgScope(acme.organization.id, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conditions, "FEW", data.draw(st.sampled_from([0, 3, 500]), "few"))
        if kind_missing := missing(named, acme.organization.id):
            with pytest.raises(Missing, match=kind_missing):
                getattr(scope, kind)(**named, **filters)
            return
        rows = walk(getattr(scope, kind)(**named, **filters), limit)
    assert [row["id"] for row in rows] == expected(kind, acme.organization.id, named, filters)


def chosen(names: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), unique=True, max_size=3)


def test_what_was_no_name_is_counted_of_the_same_applications(acme: Fill, ids: dict[str, list[str]]) -> None:
    scope = OrgScope(acme.organization.id, None)
    visible = App.objects.filter(organization=acme.organization, hidden_at=None)
    places = [{}, *({name: id} for name in ids if name != "preview_id" for id in ids[name])]
    for named in (named for named in places if missing(named, acme.organization.id) is None):
        apps = [app for app in visible if is_in(app, named, {})]
        assert scope.variable_names(**named).extra["skippedCount"] == sum(app.names_skipped for app in apps), named
    elsewhere = {"project_id": ids["project_id"][1], "application_id": acme.app.id}
    assert scope.variable_names(**elsewhere).extra["skippedCount"] == 0


@pytest.mark.parametrize("few", [0, 500])
def test_a_certificate_that_expires_at_that_moment_does_not_expire_before_it(
    acme: Fill, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conditions, "FEW", few)
    EdgeFact.objects.update(tls_not_after=START)
    scope = OrgScope(acme.organization.id, None)
    assert walk(scope.domains(certificate_expires_before=START), 5) == []
    assert len(walk(scope.domains(certificate_expires_before=START + timedelta(microseconds=1)), 5)) == 1


# Queries


def subsets(names: list[str]) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(names, size) for size in range(len(names) + 1)))


@pytest.mark.parametrize("kind", MODELS)
def test_no_combination_takes_more_queries_for_more_rows(
    acme: Fill, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conditions, "FEW", 10)
    scope = OrgScope(acme.organization.id, None)
    ids = {"project_id": acme.project.id, "environment_id": acme.environment.id}
    ids |= {"application_id": acme.app.id} if kind != "apps" else {}
    ids |= {"preview_id": acme.preview.id} if kind == "deployments" else {}
    taken = [name for name in FILTERS[kind] if name not in ("since", "until")]  # those take no query

    def counts() -> dict[Any, int]:
        found = {}
        for named in [(), *((name,) for name in list(ids)[1:]), tuple(ids)]:
            for filters in subsets(taken):
                inputs = {name: ids[name] for name in named} | {name: FILTERS[kind][name][0] for name in filters}
                with CaptureQueriesContext(connection) as queries:
                    getattr(scope, kind)(**inputs).page(None, 5)
                found[named, filters] = len(queries)
        return found

    def fulfil_all() -> None:
        Deployment.objects.update(status="failed", branch="main", commit_sha=COMMITS[0], preview=acme.preview)
        Preview.objects.update(status=STATUSES[0], pull_request_number=1)
        App.objects.update(status=STATUSES[0], branch="main", environment=acme.environment)
        EnvVarName.objects.update(name="A")
        EdgeFact.objects.update(tls_not_after=START - timedelta(days=1))

    scope.apps().page(None, 1)  # the first call of an organization in a process remembers its platforms
    fulfil_all()
    few = counts()
    make_more(acme, 30)
    fulfil_all()
    assert counts() == few
    # What an application sees is set in three places.
    more = {named: 2 * (kind == "variable_names" and "application_id" in named) for named, _ in few}
    assert all(count <= len(named) + len(filters) + 2 + more[named] for (named, filters), count in few.items())


# Through the door


def test_previews_deployments_are_told_apart_also_when_the_preview_is_gone(api: Api, acme: Fill) -> None:
    for title, preview in (("of preview", acme.preview), ("of production", None)):
        make(Deployment, acme.organization, app=acme.app, title=title, preview=preview)
    acme.preview.delete()
    told = {item["title"]: item for item in api("list_deployments")["items"]}
    assert {title: (item["isPreview"], item["previewId"], item["environmentId"]) for title, item in told.items()} == {
        "of preview": (True, None, None),
        "of production": (False, None, acme.environment.id),
        "acme deploys": (False, None, acme.environment.id),
    }
    for target, titles in (("preview", {"of preview"}), ("production", {"of production", "acme deploys"})):
        assert {item["title"] for item in api("list_deployments", target=target)["items"]} == titles


@pytest.mark.parametrize("sha", ["abcdef", "abcdefg", "0x12345", "a" * 65, "abcdef1 ", "", "äbcdef12", 1234567])
def test_what_begins_no_commit_is_refused(api: Api, acme: Fill, sha: Any) -> None:
    ((field, _),) = api.refused("list_deployments", commitSha=sha)
    assert field == "commitSha"


def test_a_name_says_where_it_is_set_once(api: Api, acme: Fill) -> None:
    acme.variable.delete()
    for owner, scope in (("project", "project"), ("environment", "environment"), ("app", "app")):
        make(EnvVarName, acme.organization, **{owner: getattr(acme, owner)}, name="URL", scope=scope)
    make_app(acme.project, "second", environment=acme.environment)
    project, stage, app = acme.project.id, acme.environment.id, acme.app.id
    everywhere = api("list_env_vars", name="URL")["items"]
    assert [
        (item["scope"], item["applicationId"], item["environmentId"], item["projectId"]) for item in everywhere
    ] == [("app", app, stage, project), ("environment", None, stage, project), ("project", None, None, project)]
    assert api("list_env_vars", name="URL", applicationId=app)["items"] == everywhere
    assert api("list_env_vars", environmentId=stage)["items"] == everywhere[:2]
    assert api("list_env_vars", projectId=project)["items"] == everywhere
    assert api("list_env_vars", name="url")["items"] == []


@pytest.mark.parametrize(
    ("tool", "inputs"),
    [
        ("list_apps", {"branch": "main"}),
        ("list_domains", {"host": "a.example", "certificateExpiresBefore": "2027-01-01T00:00:00Z"}),
        ("list_previews", {"pullRequestNumber": 1}),
        ("list_deployments", {"target": "production", "commitSha": "abcdef0", "branch": "main"}),
        ("list_env_vars", {"name": "A", "scope": "app"}),
    ],
)
def test_a_cursor_is_bound_to_each_filter_and_id(api: Api, acme: Fill, tool: str, inputs: dict[str, Any]) -> None:
    fill_twice(acme)
    cursor = api(tool, **inputs, limit=1)["nextCursor"]
    assert len(api(tool, **inputs, limit=1, cursor=cursor)["items"]) == 1
    others = [{name: kept for name, kept in inputs.items() if name != left} for left in inputs]
    for changed in [*others, inputs | {"projectId": acme.project.id}, inputs | {"environmentId": acme.environment.id}]:
        assert api.refused(tool, **changed, limit=1, cursor=cursor) == [("cursor", "bad_cursor")]


def fill_twice(acme: Fill) -> None:
    for number in range(2):
        app = make_app(acme.project, f"{number}", branch="main", environment=acme.environment)
        make(Preview, acme.organization, app=app, branch="x", pull_request_number=1)
        make(Deployment, acme.organization, app=app, title="x", commit_sha=COMMITS[0], branch="main")
        make_edge(make(Domain, acme.organization, app=app, host="a.example", https=True), tls_not_after=START)
        make(EnvVarName, acme.organization, app=app, name="A", scope="app")


@pytest.mark.parametrize("tool", ["list_domains", "list_previews", "list_deployments", "list_env_vars"])
def test_nothing_of_a_hidden_application_or_of_others_is_in_the_list_of_all(
    api: Api, acme: Fill, rival: Fill, tool: str
) -> None:
    App.objects.filter(pk=acme.app.pk).update(hidden_at=timezone.now(), names_skipped=F("names_skipped") + 4)
    for inputs in ({}, {"projectId": acme.project.id}, {"environmentId": acme.environment.id}):
        answer = api(tool, **inputs)
        assert answer["items"] == []
        assert answer.get("skippedCount", 0) == 0
