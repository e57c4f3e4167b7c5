"""What the two lanes tell of applications that change."""

import pytest

from apps.platforms.connector import UpstreamError
from apps.platforms.snapshot.check import check
from tests.fakes.coolify import CoolifyFake
from tests.fakes.coolify_rows import DIGEST, app_uuid, service_uuid
from tests.platforms.coolify.reading import read, snapshot_of


def test_an_application_is_told_whole(fake, connect):
    state, details = read(connect(fake))
    detail = details[app_uuid(0)]
    app = detail.app
    assert (app.name, app.kind, app.status, app.upstream_status) == (
        "Application 0", "application", "deployed", "running:healthy",
    )  # fmt: skip
    assert (app.source_type, app.repository, app.branch, app.connection) == (
        "github",
        "acme/shop",
        "main",
        "github-acme",
    )
    page = f"{fake.url}/project/project0/environment/environment0/application/{app.key}"
    assert app.dashboard_url == page
    assert [domain.host + domain.path for domain in detail.domains or ()] == [
        "app0.example.com/",
        "app0.example.com/api",
    ]
    (deployment,) = detail.deployments or ()
    assert (deployment.status, deployment.title, deployment.trigger) == ("succeeded", "Change number 0", "webhook")
    assert deployment.dashboard_url == f"{page}/deployment/{deployment.key}"
    assert deployment.finished_at is not None
    assert (deployment.started_at, deployment.branch, deployment.error_message) == (None, None, None)
    assert {(one.name, one.scope) for one in detail.variables or ()} == {
        ("DATABASE_URL", "app"), ("DATABASE_URL", "preview"), ("NODE_VERSION", "build"), ("NODE_VERSION", "preview"),
        ("SESSION_SECRET", "app"), ("SESSION_SECRET", "preview"),
    }  # fmt: skip
    assert (detail.previews, detail.runtime, detail.unread) == ((), None, frozenset())
    assert state.apps[0].status == app.status


def test_each_source_is_told(fake, connect):
    _, details = read(connect(fake))
    told = [details[app_uuid(index)].app for index in range(7)]
    assert [(app.source_type, app.repository or app.image, app.connection) for app in told] == [
        ("github", "acme/shop", "github-acme"),
        ("gitlab", "acme/team/api", "gitlab-acme"),
        ("docker", f"ghcr.io/acme/worker@sha256:{DIGEST}", None),
        ("git", "https://git.example.com/acme/stack.git", None),
        ("upload", None, None),
        ("bitbucket", "acme/site", None),
        ("github", "acme/public", "github-public"),
    ]
    assert [app.kind for app in told] == ["application"] * 3 + ["compose"] + ["application"] * 3


def test_a_service_is_a_compose_that_was_uploaded(fake, connect):
    _, details = read(connect(fake))
    detail = details[service_uuid(1)]
    assert (detail.app.kind, detail.app.source_type, detail.app.description) == (
        "compose", "upload", "A database with a page",
    )  # fmt: skip
    assert detail.app.dashboard_url == f"{fake.url}/project/project0/environment/environment0/service/service1"
    assert [domain.host for domain in detail.domains or ()] == ["service1.example.com"]
    assert [one.name for one in detail.variables or ()] == ["SERVICE_FQDN_WEB"]
    assert (detail.deployments, detail.previews, detail.runtime) == (None, None, None)


def test_a_service_that_is_listed_without_its_parts_is_asked_for_them(connect):
    with CoolifyFake(is_nested=False) as fake:
        state, details = read(connect(fake))
    assert state.domains is None
    assert [domain.host for domain in details[service_uuid(0)].domains or ()] == ["service0.example.com"]
    assert fake.strangers() == []


def test_the_state_tells_all_domains_where_it_can(fake, connect):
    state, details = read(connect(fake))
    of_details = [domain for detail in details.values() for domain in detail.domains or ()]
    assert sorted(state.domains or (), key=lambda one: one.key) == sorted(of_details, key=lambda one: one.key)
    assert len(of_details) == 7 * 2 + 1 + 2


def test_addresses_that_cannot_be_understood_are_unknown(fake, connect, monkeypatch):
    told = fake.rows.application(3) | {"docker_compose_domains": "{"}
    monkeypatch.setattr(fake.rows, "application_rows", lambda: [told])
    state, details = read(connect(fake))
    assert state.domains is None
    assert details[app_uuid(3)].domains is None
    assert "domains" in details[app_uuid(3)].unread


@pytest.mark.parametrize("numbers_as_keys", [False, True])
def test_a_deployment_that_begins_is_in_the_state_at_once(connect, numbers_as_keys):
    with CoolifyFake(numbers_as_keys=numbers_as_keys) as fake:
        connector = connect(fake)
        uuid = fake.rows.deploy(1)
        state = connector.read_state()
        (deployment,) = state.deployments or ()
        assert (deployment.key, deployment.app, deployment.status) == (uuid, app_uuid(1), "building")
        assert [app.status for app in state.apps[:3]] == ["deployed", "deploying", "deployed"]
        assert connector.read_detail(state.apps[1]).app.status == "deploying"

        fake.rows.finish(uuid, "failed")
        detail = connector.read_detail(state.apps[1])
        assert detail.app.status == "deployed"  # what is running is what ran before
        assert [one.status for one in detail.deployments or ()] == ["failed", "succeeded"]
        assert connector.read_state().deployments == ()


def test_a_previews_deployment_does_not_make_the_application_deploy(fake, connect):
    uuid = fake.rows.deploy(0, pull_request=7)
    state, details = read(connect(fake))
    assert details[app_uuid(0)].app.status == state.apps[0].status == "deployed"
    (deployment,) = [one for one in details[app_uuid(0)].deployments or () if one.key == uuid]
    assert (deployment.is_preview, deployment.preview) == (True, None)
    assert [one.key for one in state.deployments or ()] == [uuid]


def test_a_deployment_of_what_is_not_listed_is_left_out(fake, connect):
    fake.rows.deploy(0, deployment_url="/project/p/environment/e/application/other/deployment/x")
    fake.rows.deploy(0, deployment_url=None)
    assert connect(fake).read_state().deployments == ()


def test_histories_with_logs_are_read_in_small_parts(connect):
    with CoolifyFake("4.1.2", applications=1) as fake:
        for _ in range(12):
            fake.rows.finish(fake.rows.deploy(0))
        connector = connect(fake)
        detail = connector.read_detail(connector.read_state().apps[0])
        assert [one.title for one in detail.deployments or ()] == [f"Change number {n}" for n in range(12, 2, -1)]
        asked = [request.query for request in fake.requests if request.path.endswith(app_uuid(0))]
        assert asked == [{"skip": "0", "take": "5"}, {"skip": "5", "take": "5"}]


def test_a_deployment_that_begins_between_two_parts_is_told_once(connect, monkeypatch):
    with CoolifyFake("4.1.2", applications=1, services=0) as fake:
        for _ in range(9):
            fake.rows.finish(fake.rows.deploy(0))
        connector = connect(fake)
        (app,) = connector.read_state().apps
        history = fake.history

        def growing(query, uuid):
            told = history(query, uuid)
            fake.rows.deploy(0)
            return told

        monkeypatch.setattr(fake, "history", growing)
        keys = [one.key for one in connector.read_detail(app).deployments or ()]
        assert len(keys) == len(set(keys)) == 9


def test_recent_releases_are_asked_for_more_at_once(fake, connect):
    read(connect(fake))
    asked = {tuple(one.query.items()) for one in fake.requests if "/deployments/applications/" in one.path}
    assert asked == {(("skip", "0"), ("take", "50"))}


def test_shared_names_are_those_of_their_place(fake, connect):
    state = connect(fake).read_state()
    assert [(one.name, one.scope, one.project, one.environment) for one in state.secrets] == [
        ("REGISTRY_PASSWORD", "organization", None, None),
        ("SMTP_PASSWORD", "project", "project0", None),
        ("LOG_LEVEL", "environment", None, "environment0"),
        ("LOG_LEVEL", "environment", None, "environment1"),
    ]


def test_production_is_the_default_environment(fake, connect):
    environments = connect(fake).read_state().environments
    assert [(one.name, one.is_default) for one in environments] == [("production", True), ("staging", False)]


def test_a_swarm_tells_how_many_replicas_are_wanted(fake, connect, monkeypatch):
    told = fake.rows.application(0) | {"destination_type": "App\\Models\\SwarmDocker", "swarm_replicas": 3}
    monkeypatch.setattr(fake.rows, "application_rows", lambda: [told])
    _, details = read(connect(fake))
    runtime = details[app_uuid(0)].runtime
    assert runtime is not None
    assert (runtime.desired_replicas, runtime.running_replicas, runtime.instances) == (3, None, ())


@pytest.mark.parametrize("odd", [{"environment_id": 99}, {"environment_id": None}, {"uuid": "../../x"}, {"uuid": None}])
def test_an_application_that_cannot_be_kept_is_left_out_and_none_is_taken_for_gone(
    fake, connect, monkeypatch, caplog, odd
):
    rows = fake.rows.application_rows()
    monkeypatch.setattr(fake.rows, "application_rows", lambda: [rows[0] | odd, *rows[1:], 7])
    monkeypatch.setattr(fake, "listing", lambda rows: rows)
    state = connect(fake).read_state()
    assert len(state.apps) == 9
    assert "apps" in state.unread
    assert "2 entries could not be kept" in caplog.text


def test_long_and_odd_texts_are_cut_and_not_refused(fake, connect, monkeypatch):
    odd = {
        "name": "n" * 999,
        "description": "a\x00b" + "d" * 9999,
        "git_branch": "b" * 999,
        "status": "running:" + "x" * 99,
    }
    told = fake.rows.application(0) | odd
    monkeypatch.setattr(fake.rows, "application_rows", lambda: [told])
    state, details = read(connect(fake))
    check(snapshot_of(state, details))
    app = details[app_uuid(0)].app
    assert (len(app.name), len(app.description or ""), len(app.upstream_status or "")) == (200, 1000, 50)


def test_an_application_that_was_deleted_is_gone_from_the_next_state(fake, connect):
    connector = connect(fake)
    app = connector.read_state().apps[0]
    fake.rows.deleted.add(app.key)
    assert connector.read_detail(app).unread == {"deployments"}
    assert app.key not in {one.key for one in connector.read_state().apps}
    with pytest.raises(UpstreamError):
        connector.read_detail(app)
