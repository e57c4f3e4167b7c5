"""What is read of one application, and what is not."""

import pytest

from apps.platforms.connector import UpstreamError
from apps.platforms.snapshot import base
from tests.fakes.dokploy import CANARY
from tests.fakes.dokploy_answers import Answers
from tests.fakes.dokploy_rows import STALE, task
from tests.platforms.dokploy.conftest import VERSIONS, connector_of


def detail_of(fake, number=0, connector=None):
    connector = connector or connector_of(fake)
    return connector.read_detail(connector.read_state().apps[number])


def test_the_source_is_told_by_its_type_alone(dokploy):
    fake = dokploy(applications=7, composes=1)
    connector = connector_of(fake)
    apps = [connector.read_detail(app).app for app in connector.read_state().apps]
    assert [(app.source_type, app.repository, app.branch, app.image, app.connection) for app in apps] == [
        ("github", "acme/shop", "main", None, "provider-1"),
        ("gitlab", "acme/group/web", "main", None, "provider-2"),
        ("bitbucket", "acme/pay-roll", "main", None, "provider-3"),
        ("gitea", "acme/docs", "main", None, None),  # its account is in no list
        ("git", "https://git.example.com/acme/api.git", "v2", None, None),
        ("docker", None, None, "ghcr.io/acme/worker:1.4", None),
        ("upload", None, None, None, None),
        ("upload", None, None, None, None),
    ]


@pytest.mark.parametrize(
    "url",
    ["git@github.com:acme/shop.git", "ssh://git@h/x", "http://h/x", "https://", "https://[::1/x", "nonsense", None],
)
def test_a_git_address_that_is_not_https_is_not_told(dokploy, url):
    fake = dokploy(applications=0)
    fake.rows.add_application(**STALE | {"sourceType": "git", "customGitUrl": url})
    assert detail_of(fake).app.repository is None


@pytest.mark.parametrize("version", VERSIONS)
def test_pages_are_those_of_dokploy_itself(dokploy, version):
    fake = dokploy(version, applications=1, composes=1)
    connector = connector_of(fake)
    application, compose = (connector.read_detail(app) for app in connector.read_state().apps)
    environment = f"/environment/{fake.rows.environments[0]['environmentId']}" if version >= "0.25" else ""
    place = f"{fake.url}/dashboard/project/{fake.rows.projects[0]['projectId']}{environment}/services"
    assert application.app.dashboard_url == f"{place}/application/{application.app.key}"
    assert compose.app.dashboard_url == f"{place}/compose/{compose.app.key}"
    assert application.deployments[0].dashboard_url == f"{application.app.dashboard_url}?tab=deployments"


@pytest.mark.parametrize("version", VERSIONS)
def test_names_are_told_with_their_scope_and_references(dokploy, version):
    told = detail_of(dokploy(version, applications=1)).variables
    assert [(one.name, one.scope, one.references) for one in told] == [
        ("DATABASE_URL", "app", ("project.DATABASE_URL",)),
        ("SECRET", "app", ()),
        ("PREVIEW_KEY", "preview", ()),
        ("NODE_ENV", "build", ()),
    ]


def test_names_that_are_encrypted_or_not_there_are_unread(dokploy):
    fake = dokploy(applications=1)
    fake.fail("application.one", "encrypted")
    detail = detail_of(fake)
    assert detail.variables is None
    assert "variables" in detail.unread
    fake.heal()
    del fake.rows.applications[0]["env"]
    assert detail_of(fake).variables is None


def test_names_that_are_none_are_counted(dokploy):
    fake = dokploy(applications=0)
    fake.rows.add_application(env="A=1\n1B=2", buildArgs="MIIEvQIBADANBgkqhkiG9w0BAQ=1")
    assert detail_of(fake).app.names_skipped == 2


def test_a_deployment_names_its_commit(dokploy):
    fake = dokploy(applications=1)
    fake.rows.deploy(fake.rows.applications[0], "error", title="Fix it\n\nAll of it", description=f"Hash: {'ab' * 20}")
    fake.rows.deployments[-1]["errorMessage"] = "x" * 400 + "\x00"
    fake.rows.deploy(fake.rows.applications[0], "cancelled", title="Manual deployment", description="")
    newest, failed, _ = detail_of(fake).deployments
    assert (newest.status, newest.commit_sha, newest.commit_message, newest.trigger) == (
        "cancelled", None, None, "unknown",
    )  # fmt: skip
    assert (failed.status, failed.upstream_status, failed.title) == ("failed", "error", "Fix it")
    assert (failed.commit_sha, failed.commit_message) == ("ab" * 20, "Fix it\n\nAll of it")
    assert failed.error_message == "x" * 300
    assert failed.started_at < failed.finished_at


def test_previews_are_told_with_their_domains_and_deployments(dokploy):
    fake = dokploy(applications=2)
    preview = fake.rows.add_preview(fake.rows.applications[0], 12)
    detail = detail_of(fake)
    (told,) = detail.previews
    assert (told.pull_request_number, told.branch, told.status) == (12, "feature-12", "deployed")
    assert told.url == "https://pr-12.acme.example/"
    assert [domain.preview for domain in detail.domains] == [None, preview["previewDeploymentId"]]
    assert [(one.preview, one.is_preview) for one in detail.deployments] == [
        (None, False),
        (preview["previewDeploymentId"], True),
    ]
    assert detail_of(fake, 1).previews == ()
    asked = [request.query for request in fake.requests if request.path == "/api/previewDeployment.all"]
    assert asked == [{"applicationId": fake.rows.applications[0]["applicationId"]}]


def test_previews_that_are_refused_are_unknown_and_so_are_domains(dokploy):
    fake = dokploy(applications=1)
    fake.rows.add_preview(fake.rows.applications[0])
    fake.fail("previewDeployment.all", "foreign")
    detail = detail_of(fake)
    assert detail.previews is None
    assert detail.domains is None
    assert len(detail.deployments) == 1


def test_containers_are_what_runs(dokploy):
    fake = dokploy(applications=0)
    application = fake.rows.add_application(replicas=3)
    fake.rows.tasks[application["appName"]] = [
        task("running", "Running 3 minutes ago"),
        task("running", "Starting 2 seconds ago"),
        task("ready", "Ready 2 seconds ago"),
        task("shutdown", "Failed 5 minutes ago", 'Error: "task: non-zero exit (1)"'),
        task("shutdown", "Shutdown 9 minutes ago"),
    ]
    runtime = detail_of(fake).runtime
    assert (runtime.desired_replicas, runtime.running_replicas) == (3, 1)
    assert runtime.instances == (
        base.Instance(state="running"),
        base.Instance(state="starting"),
        base.Instance(state="ready"),
        base.Instance(state="failed", message="task: non-zero exit (1)"),
    )


def test_an_application_that_was_stopped_wants_no_container(dokploy):
    fake = dokploy(applications=0)
    application = fake.rows.add_application(applicationStatus="idle")
    application["applicationStatus"] = "idle"
    fake.rows.tasks[application["appName"]] = [task("shutdown", "Shutdown 9 minutes ago")]
    runtime = detail_of(fake).runtime
    assert (runtime.desired_replicas, runtime.running_replicas) == (0, 0)


def test_no_containers_are_no_fact_and_a_refusal_is_not_asked_for_again(dokploy):
    fake = dokploy(applications=3)
    fake.rows.tasks.clear()
    connector = connector_of(fake)
    state = connector.read_state()
    assert connector.read_detail(state.apps[0]).runtime is None
    assert "runtimes" in connector.read_detail(state.apps[0]).unread
    fake.fail("docker.getServiceContainersByAppName", "foreign")
    before = len(fake.requests)
    assert [connector.read_detail(app).runtime for app in state.apps] == [None] * 3
    assert len(fake.requests) - before == 4


def test_lists_that_do_not_come_along_are_asked_for(dokploy, monkeypatch):
    fake = dokploy("0.27.0", applications=1, composes=1)
    whole = Answers._one
    monkeypatch.setattr(
        Answers, "_one", lambda *given: {n: v for n, v in whole(*given).items() if n not in ("domains", "deployments")}
    )
    connector = connector_of(fake)
    for app in connector.read_state().apps:
        detail = connector.read_detail(app)
        assert (len(detail.domains), len(detail.deployments)) == (1, 1)
    asked = [request.path.removeprefix("/api/") for request in fake.requests]
    for procedure in ("domain.byApplicationId", "domain.byComposeId", "deployment.all", "deployment.allByCompose"):
        assert procedure in asked
        fake.fail(procedure, "missing")
    detail = connector.read_detail(app)
    assert (detail.domains, detail.deployments) == (None, None)
    assert fake.strangers() == []


@pytest.mark.parametrize("kind", ["foreign", "missing", "null", "object", "truncated", "error"])
def test_an_application_that_cannot_be_read_is_an_error_of_its_own(dokploy, kind):
    fake = dokploy(applications=1)
    connector = connector_of(fake)
    (app,) = connector.read_state().apps
    fake.fail("application.one", kind)
    with pytest.raises(UpstreamError) as refusal:
        connector.read_detail(app)
    assert not refusal.value.is_permanent
    assert CANARY not in repr(refusal.value)


def test_what_was_not_listed_is_not_asked_for(dokploy):
    fake = dokploy(applications=1)
    connector = connector_of(fake)
    connector.read_state()
    before = len(fake.requests)
    with pytest.raises(UpstreamError):
        connector.read_detail(base.AppState(key="app-of-others", project="p", name="Theirs"))
    assert len(fake.requests) == before


def test_odd_domains_are_left_out_or_put_right(dokploy):
    fake = dokploy(applications=1)
    application = fake.rows.applications[0]
    fake.rows.add_domain(application, host="Münster.Example.com", path="shop", port=None, certificateType="odd")
    fake.rows.add_domain(application, host="not a host")
    fake.rows.add_domain(application, host="a.example", path=None, https=False, enabled=False, port=99999)
    off, idn, plain = detail_of(fake).domains
    assert (off.https, off.is_enabled, off.path, off.port) == (False, False, "/", None)
    assert (idn.host, idn.path, idn.port, idn.certificate_type) == (
        "xn--mnster-3ya.example.com", "/shop", None, "unknown",
    )  # fmt: skip
    assert (plain.https, plain.port, plain.certificate_type) == (True, 3000, "letsencrypt")
