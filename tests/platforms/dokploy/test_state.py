"""What is read of a Dokploy in few calls, whichever version it is."""

import dataclasses

import pytest

from apps.platforms.connector import UpstreamError
from apps.platforms.snapshot import base
from apps.platforms.snapshot.check import problems_of
from tests.fakes.dokploy import CANARY
from tests.platforms.dokploy.conftest import VERSIONS, connector_of


def snapshot_of(state, details):
    told = {name: [] for name in ("domains", "previews", "deployments", "variables")}
    for detail in details:
        for name, records in told.items():
            records.extend(getattr(detail, name) or ())
    return base.Snapshot(
        version=state.identity.version,
        **{name: getattr(state, name) for name in ("connections", "projects", "environments", "secrets", "templates")},
        apps=tuple(detail.app for detail in details),
        previews=tuple(told["previews"]),
        domains=tuple(told["domains"]),
        deployments=tuple(told["deployments"]),
        variables=(*state.variables, *told["variables"]),
        runtimes=tuple(detail.runtime for detail in details if detail.runtime),
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_all_of_it_can_be_applied_and_holds_no_value(dokploy, version):
    fake = dokploy(version, applications=12, composes=2)
    fake.rows.add_preview(fake.rows.applications[0])
    connector = connector_of(fake)
    state = connector.read_state()
    details = [connector.read_detail(app) for app in state.apps]
    snapshot = snapshot_of(state, details)

    assert list(problems_of(snapshot)) == []
    assert len(snapshot.apps) == 14
    assert (len(snapshot.domains), len(snapshot.previews), len(snapshot.deployments)) == (15, 1, 15)
    assert CANARY not in repr((state, details, connector))
    assert fake.strangers() == []
    assert {request.method for request in fake.requests} == {"GET"}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_state_is_the_same_whichever_the_version(dokploy, version):
    fake = dokploy(version, applications=2, composes=1)
    state = connector_of(fake).read_state()
    project, environment = fake.rows.projects[0], fake.rows.environments[0]
    has_environments = version >= "0.25"

    assert state.identity.version == f"v{version}"
    assert [told.key for told in state.projects] == [project["projectId"]]
    assert [told.key for told in state.environments] == ([environment["environmentId"]] if has_environments else [])
    assert [(app.key, app.kind, app.status, app.upstream_status) for app in state.apps] == [
        (fake.rows.applications[0]["applicationId"], "application", "deployed", "done"),
        (fake.rows.applications[1]["applicationId"], "application", "deployed", "done"),
        (fake.rows.composes[0]["composeId"], "compose", "deployed", "done"),
    ]
    assert {app.environment for app in state.apps} == {environment["environmentId"] if has_environments else None}
    names = [("DATABASE_URL", "project"), *([("SMTP_KEY", "environment")] if has_environments else [])]
    assert [(told.name, told.scope) for told in state.variables] == names
    vaulted = [("DB_PASSWORD", "vault")] if version >= "0.30" else []
    assert [(told.name, told.scope) for told in state.secrets] == [*names, *vaulted]
    assert (state.deployments is None) == (version < "0.28.3")
    assert (state.domains is None) == (version < "0.30")
    assert [template.key for template in state.templates] == ["umami"]
    assert state.unread == frozenset()


def test_lists_of_deployments_and_domains_are_of_listed_applications_and_not_of_previews(dokploy):
    fake = dokploy(applications=2, composes=1)
    fake.rows.add_preview(fake.rows.applications[0])
    state = connector_of(fake).read_state()
    keys = {app.key for app in state.apps}
    assert {deployment.app for deployment in state.deployments} == keys
    assert {domain.app for domain in state.domains} == keys
    assert len(state.deployments) == len(state.domains) == 3
    assert not any(deployment.is_preview for deployment in state.deployments)


def test_a_state_takes_few_calls_and_says_how_many(dokploy):
    fake = dokploy(applications=30)
    connector = connector_of(fake)
    connector.read_state()
    first = len(fake.requests)
    assert connector.state_calls() == connector.calls == first == 13  # three of them for the names of environments
    connector.read_state()
    # Names of environments, the catalogue and vaults are asked for seldom.
    assert connector.state_calls() == len(fake.requests) - first == 7


def test_names_of_environments_are_learnt_again_with_each_detail(dokploy):
    fake = dokploy(applications=1)
    connector = connector_of(fake)
    state = connector.read_state()
    fake.rows.environments[0]["env"] = "NEW_NAME=1"
    connector.read_detail(state.apps[0])
    assert [told.name for told in connector.read_state().variables] == ["DATABASE_URL", "NEW_NAME"]


def test_what_is_told_seldom_is_unread_in_between_and_not_empty(dokploy):
    fake = dokploy()
    connector = connector_of(fake)
    connector.read_state()
    state = connector.read_state()
    assert state.unread == {"templates"}
    assert ("DB_PASSWORD", "vault", "hashicorp") in [(told.name, told.scope, told.provider) for told in state.secrets]


def test_an_empty_catalogue_is_one_that_dokploy_could_not_fetch(dokploy):
    fake = dokploy()
    fake.rows.templates = []
    assert "templates" in connector_of(fake).read_state().unread


def test_connections_say_whether_they_work(dokploy):
    for version in ("0.24.12", "0.30.2"):
        told = connector_of(dokploy(version)).read_state().connections
        assert [(one.type, one.account_login, one.credentials) for one in told] == [
            ("github", None, "working"),
            ("gitlab", None, "missing"),
            ("bitbucket", "acme-bot", "working"),
        ]
        assert told[1].base_url == "https://gitlab.example.com"


@pytest.mark.parametrize(
    ("role", "can_write"), [("owner", True), ("admin", True), ("member", True), ("auditors", None)]
)
@pytest.mark.parametrize("version", ["0.24.12", "0.30.2"])
def test_the_key_says_whose_it_is(dokploy, version, role, can_write):
    fake = dokploy(version)
    fake.rows.role = role
    identity = connector_of(fake).identify()
    assert dataclasses.asdict(identity) == {
        "organization_key": "org-acme",
        "organization_name": "Acme",
        "version": f"v{version}",
        "role": role,
        "can_write": can_write,
    }


@pytest.mark.parametrize("kind", ["foreign", "forbidden", "missing"])
def test_a_list_that_is_refused_is_unread_and_not_empty(dokploy, kind):
    fake = dokploy()
    for procedure in ("gitProvider.getAll", "deployment.allCentralized", "overview.domains", "compose.templates"):
        fake.fail(procedure, kind)
    fake.fail("vaultProvider.all", kind)
    state = connector_of(fake).read_state()
    assert state.deployments is None
    assert state.domains is None
    # A version without vaults has none, and says so with 404.
    assert state.unread == {"connections", "templates"} | ({"secrets"} if kind != "missing" else set())
    assert len(state.apps) == 2


def test_names_that_are_encrypted_are_unread(dokploy):
    fake = dokploy()
    fake.fail("project.all", "encrypted")
    assert {"variables", "secrets"} <= connector_of(fake).read_state().unread
    fake.heal()
    fake.fail("application.one", "encrypted")
    assert {"variables", "secrets"} <= connector_of(fake).read_state().unread
    fake.heal()
    fake.fail("application.one", "foreign")
    assert {"variables", "secrets"} <= connector_of(fake).read_state().unread


def test_a_vault_that_does_not_answer_fails_no_sync(dokploy):
    fake = dokploy()
    fake.fail("vaultProvider.listSecretNames", "error")
    assert "secrets" in connector_of(fake).read_state().unread


def test_unknown_words_are_unknown_and_kept(dokploy):
    fake = dokploy(applications=2)
    fake.rows.applications[0]["applicationStatus"] = "paused" + "!" * 99
    fake.rows.applications[1]["applicationStatus"] = None
    fake.rows.deployments[0]["status"] = "queued"
    state = connector_of(fake).read_state()
    assert [(app.status, app.upstream_status and app.upstream_status[:8]) for app in state.apps] == [
        ("unknown", "paused!!"),
        ("unknown", None),
    ]
    assert {(one.status, one.upstream_status) for one in state.deployments} == {
        ("unknown", "queued"),
        ("succeeded", "done"),
    }


def test_an_old_dokploy_is_refused_and_one_without_a_number_is_the_newest(dokploy):
    fake = dokploy()
    fake.version = "0.23.9"
    with pytest.raises(UpstreamError, match="too old") as refusal:
        connector_of(fake).identify()
    assert refusal.value.is_permanent
    fake.version = "canary"
    assert connector_of(fake).read_state().domains is not None
