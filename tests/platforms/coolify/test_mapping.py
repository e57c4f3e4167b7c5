"""What Coolify's fields become: statuses, sources, addresses, deployments, names and times, in every spelling."""

import json
from datetime import UTC, datetime

import pytest

from apps.platforms.coolify import deployments, fields, statuses
from apps.platforms.coolify.addresses import addresses_of, compose_addresses_of, service_addresses_of
from apps.platforms.coolify.names import variables_of
from apps.platforms.coolify.sources import GITHUB, GITLAB, connection_of, source_of
from apps.platforms.coolify.versions import HISTORY_WITHOUT_LOGS, Version
from apps.platforms.snapshot import base

DIGEST = "ab" * 32


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ("running:healthy", "deployed"),
        ("running:unhealthy", "deployed"),
        ("running:unknown:excluded", "deployed"),
        ("running (healthy)", "deployed"),
        ("Running (unknown)", "deployed"),
        ("starting:unknown", "deploying"),
        ("created", "deploying"),
        ("degraded:unhealthy", "error"),
        ("restarting (1)", "error"),
        ("removing:unhealthy", "error"),
        ("dead", "error"),
        ("exited:unhealthy", "idle"),
        ("exited", "idle"),
        ("paused:unknown", "idle"),
        ("unknown:unknown", "unknown"),
        ("brand-new:healthy", "unknown"),
        ("", "unknown"),
        (None, "unknown"),
        (7, "unknown"),
    ],
)
def test_a_status_is_read_in_both_spellings(told, status):
    assert statuses.app_status({"status": told}, is_deploying=False) == status
    assert statuses.app_status({"status": told}, is_deploying=True) == "deploying"


def test_the_status_of_what_is_on_a_lost_server_is_unknown():
    row = {"status": "running:healthy", "server_status": False}
    assert statuses.app_status(row, is_deploying=False) == "unknown"
    assert statuses.app_status(row | {"server_status": True}, is_deploying=False) == "deployed"


@pytest.mark.parametrize(
    ("changed", "status"),
    [({}, "error"), ({"restart_count": 2}, "idle"), ({"max_restart_count": 0, "restart_count": 0}, "idle"),
     ({"last_restart_type": "manual"}, "idle"), ({"max_restart_count": None}, "idle")],
)  # fmt: skip
def test_what_crashed_too_often_is_in_error_and_what_was_stopped_is_idle(changed, status):
    row = {"status": "exited:unhealthy", "restart_count": 3, "max_restart_count": 3, "last_restart_type": "crash"}
    assert statuses.app_status(row | changed, is_deploying=False) == status


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"git_repository": "acme/shop", "source_type": GITHUB, "source_id": 0}, ("github", "acme/shop", "zero")),
        ({"git_repository": "acme/shop", "source_type": GITLAB, "source_id": 0}, ("gitlab", "acme/shop", "other")),
        ({"git_repository": "acme/shop", "source_type": GITHUB, "source_id": 9}, ("github", "acme/shop", None)),
        ({"git_repository": "a/b/c.git", "source_type": GITLAB, "source_id": "0"}, ("gitlab", "a/b/c", "other")),
        ({"git_repository": "https://github.com/acme/shop.git"}, ("github", "acme/shop", None)),
        ({"git_repository": "https://me:t0ken@gitlab.com/acme/shop"}, ("gitlab", "acme/shop", None)),
        ({"git_repository": "git@github.com:acme/shop.git"}, ("github", "acme/shop", None)),
        ({"git_repository": "ssh://git@bitbucket.org:22/acme/shop.git"}, ("bitbucket", "acme/shop", None)),
        ({"git_repository": "https://me:t0ken@git.example.com:8443/acme/shop.git"},
         ("git", "https://git.example.com:8443/acme/shop.git", None)),
        ({"git_repository": "https://git.example.com/a/b?token=t0ken#t0ken"},
         ("git", "https://git.example.com/a/b", None)),
        ({"git_repository": "git@git.example.com:acme/shop.git"}, ("git", None, None)),
        ({"git_repository": "http://[::1/acme"}, ("git", None, None)),
        ({"git_repository": "../../etc"}, ("git", None, None)),
        ({}, ("git", None, None)),
    ],
)  # fmt: skip
def test_a_repository_is_named_without_credentials(row, expected):
    source = source_of({"build_pack": "nixpacks"} | row, {("github", 0): "zero", ("gitlab", 0): "other"})
    assert (source.type, source.repository, source.connection) == expected
    assert "t0ken" not in repr(source)


@pytest.mark.parametrize(
    ("name", "tag", "image"),
    [
        ("ghcr.io/acme/shop", "1.4", "ghcr.io/acme/shop:1.4"),
        ("nginx", None, "nginx"),
        ("ghcr.io/acme/shop@sha256", DIGEST, f"ghcr.io/acme/shop@sha256:{DIGEST}"),
        ("ghcr.io/acme/shop@sha256", f"sha256-{DIGEST}", f"ghcr.io/acme/shop@sha256:{DIGEST}"),
        ("ghcr.io/acme/shop@sha256", None, None),
        ("user:password@registry", "1", None),
        (None, "1.4", None),
    ],
)
def test_an_image_is_named_with_its_tag_or_digest(name, tag, image):
    row = {"build_pack": "dockerimage", "docker_registry_image_name": name, "docker_registry_image_tag": tag}
    source = source_of(row | {"git_repository": "coollabsio/coolify", "git_branch": "main"}, {})
    assert (source.type, source.image, source.repository, source.branch) == ("docker", image, None, None)


def test_a_dockerfile_that_was_typed_in_has_no_repository():
    placeholder = {"build_pack": "dockerfile", "git_repository": "coollabsio/coolify", "git_branch": "main"}
    assert source_of(placeholder, {}).type == "upload"
    assert source_of(placeholder | {"git_repository": "https://github.com/acme/shop"}, {}).repository == "acme/shop"


@pytest.mark.parametrize(
    ("type", "row", "expected"),
    [
        ("github", {"is_public": True}, ("not_needed", None)),
        ("github", {"is_public": False, "app_id": 1, "installation_id": 2}, ("working", None)),
        ("github", {"is_public": False, "app_id": 1, "installation_id": None}, ("missing", None)),
        ("github", {"html_url": "https://github.example.com/"}, ("missing", "https://github.example.com")),
        ("gitlab", {"html_url": "https://gitlab.com", "expires_at": 1}, ("working", None)),
        ("gitlab", {"html_url": "https://user:pass@gitlab.example.com"}, ("missing", "https://gitlab.example.com")),
    ],
)
def test_a_connection_says_whether_it_can_be_used(type, row, expected):
    html_url = {"html_url": "https://github.com"} if type == "github" else {}
    connection = connection_of({"uuid": "abc", "name": "n", "organization": ""} | html_url | row, type)
    assert connection is not None
    assert (connection.credentials, connection.base_url, connection.account_login) == (*expected, None)


def test_addresses_have_no_port_since_it_is_the_containers():
    told = (
        "https://Shop.example.com:3000, http://shop.example.com/api ,https://shop.example.com,,ftp://x.example,https://"
    )
    assert [address.url for address in addresses_of(told)] == [
        "https://shop.example.com/",
        "http://shop.example.com/api",
    ]
    assert addresses_of(None) == addresses_of("") == addresses_of(7) == addresses_of("https://[::1") == ()


def test_an_addresses_key_depends_on_its_owner_and_url_alone():
    one, other = addresses_of("https://a.example.com:80"), addresses_of("https://a.example.com:81/")
    assert one[0].domain("app").key == other[0].domain("app").key != one[0].domain("b").key
    assert one[0].domain("app").key != one[0].domain("app", "preview").key
    assert (one[0].domain("app").port, one[0].domain("app").certificate_type) == (None, "unknown")
    assert addresses_of("http://a.example.com")[0].domain("app").certificate_type == "none"


def test_the_addresses_of_a_compose_file_are_told_once():
    services = {"web-ui": {"domain": "https://a.example.com"}, "web_ui": {"domain": "https://a.example.com:80"}}
    services |= {
        "api": {"domain": "https://b.example.com,https://c.example.com"},
        "worker": {"domain": None},
        "x": None,
    }
    expected = ["https://a.example.com/", "https://b.example.com/", "https://c.example.com/"]
    for told in (json.dumps(services), services):
        addresses = compose_addresses_of(told)
        assert addresses is not None
        assert [address.url for address in addresses] == expected


@pytest.mark.parametrize("told", [None, "", "[]", "null", "{}", []])
def test_a_compose_file_may_have_no_addresses(told):
    assert compose_addresses_of(told) == ()


@pytest.mark.parametrize("told", ["{", "7", '"x"', 7, ["x"], "[" * 100_000])
def test_addresses_in_a_third_form_are_unknown(told):
    assert compose_addresses_of(told) is None


def test_a_service_that_is_listed_without_its_parts_leaves_its_addresses_unknown():
    assert service_addresses_of({}) is None
    assert service_addresses_of({"applications": None}) is None
    assert service_addresses_of({"applications": [{"fqdn": None}, 7]}) == ()


@pytest.mark.parametrize(
    ("told", "status"),
    [("queued", "queued"), ("in_progress", "building"), ("finished", "succeeded"), ("failed", "failed"),
     ("cancelled-by-user", "cancelled"), ("brand-new", "unknown"), (None, "unknown")],
)  # fmt: skip
def test_a_deployments_status_is_translated(told, status):
    deployment = deployments.deployment_of(row_of(status=told), "app", "https://c.example.com", {})
    assert deployment is not None
    assert (deployment.status, deployment.upstream_status) == (status, told)


def row_of(**columns: object) -> dict[str, object]:
    return {"deployment_uuid": "d1", "created_at": "2026-08-01T10:00:00.000000Z"} | columns


@pytest.mark.parametrize(
    ("flags", "trigger"),
    [({"rollback": True, "is_webhook": True, "is_api": True}, "rollback"),
     ({"is_webhook": 1, "is_api": True}, "webhook"), ({"is_api": True}, "api"), ({}, "manual")],
)  # fmt: skip
def test_what_began_a_deployment_is_told_in_order(flags, trigger):
    deployment = deployments.deployment_of(row_of(**flags), "app", "", {})
    assert deployment is not None
    assert deployment.trigger == trigger


def test_only_ids_of_commits_are_commits():
    told = {"HEAD": None, "v1.0": None, "ABCDEF1": "abcdef1", "abc": None, "a" * 40: "a" * 40, None: None}
    for commit, kept in told.items():
        deployment = deployments.deployment_of(row_of(commit=commit), "app", "", {})
        assert deployment is not None
        assert deployment.commit_sha == kept


def test_a_title_is_the_messages_first_line_and_texts_are_cut():
    row = row_of(commit_message=f"Fix https://me:t0ken@git.example.com\x00\n{'x' * 900}")
    deployment = deployments.deployment_of(row, "app", "", {})
    assert deployment is not None
    assert deployment.title == "Fix https://git.example.com"
    assert deployment.commit_message is not None
    assert len(deployment.commit_message) == 300
    assert "t0ken" not in deployment.commit_message
    titles = [
        deployments.deployment_of(row_of(**row), "app", "", {})
        for row in ({"rollback": True}, {}, {"pull_request_id": 3})
    ]
    assert [one.title for one in titles if one] == ["Rollback", "Deployment", "Preview of pull request 3"]


def test_a_deployments_page_is_on_the_same_site_or_none():
    page = "/project/p/environment/e/application/a/deployment/d1"
    for told, url in (
        (page, f"https://c.example.com{page}"),
        (f"//evil.example{page}", None),
        ("https://evil.example/", None),
        (None, None),
    ):
        deployment = deployments.deployment_of(row_of(deployment_url=told), "a", "https://c.example.com", {})
        assert deployment is not None
        assert deployment.dashboard_url == url


def test_a_deployment_without_an_id_or_a_time_is_left_out():
    assert deployments.deployment_of(row_of(deployment_uuid="../x"), "a", "", {}) is None
    assert deployments.deployment_of(row_of(created_at=None), "a", "", {}) is None


def test_what_is_not_told_of_a_deployment_is_null():
    deployment = deployments.deployment_of(row_of(updated_at="2026-08-02T10:00:00.000000Z"), "a", "", {})
    assert deployment == base.Deployment(
        key="d1", app="a", title="Deployment", trigger="manual", created_at=datetime(2026, 8, 1, 10, tzinfo=UTC)
    )


def test_times_are_read_in_both_forms():
    for told in ("2026-08-01T10:00:00.000000Z", "2026-08-01 10:00:00", "2026-08-01T12:00:00+02:00"):
        assert fields.moment({"at": told}, "at") == datetime(2026, 8, 1, 10, tzinfo=UTC)
    for told in (None, 7, "", "yesterday", "0001-01-01 00:00:00", "2026-13-01 00:00:00"):
        assert fields.moment({"at": told}, "at") is None


def test_names_have_the_scope_that_their_flags_tell():
    rows = [
        {"key": "A"}, {"key": "A"}, {"key": "A", "is_preview": True}, {"key": "B", "is_runtime": False},
        {"key": "C", "is_build_time": True}, {"key": "D", "is_runtime": False, "is_preview": True},
    ]  # fmt: skip
    names = variables_of(rows, "app")
    assert [(one.name, one.scope) for one in names.variables] == [
        ("A", "app"), ("A", "preview"), ("B", "build"), ("C", "app"), ("D", "preview"),
    ]  # fmt: skip
    assert all(one.references == () for one in names.variables)


def test_what_is_no_name_is_counted_and_not_kept():
    value = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
    names = variables_of([{"key": value}, {"key": "A=b"}, {"key": None}, {}, {"key": "FINE"}], "app")
    assert ([one.name for one in names.variables], names.skipped) == (["FINE"], 4)
    assert value not in repr(names)


def test_lists_may_be_objects_with_numbers_for_keys():
    assert fields.rows_of({"10": "b", "2": "a"}) == ["a", "b"]
    assert (fields.rows_of([1]), fields.rows_of({})) == ([1], [])
    assert fields.rows_of({"data": []}) is fields.rows_of("x") is fields.rows_of(None) is None


def test_versions_are_compared_as_releases():
    told = ["4.0.0-beta.99", "v4.0.0-beta.445", "4.0.0", "4.1.2", "4.2", "4.3.11"]
    versions = [Version.of(one) for one in told]
    assert sorted(versions) == versions  # type: ignore[type-var]
    assert (Version.of("4.2.0-rc.1") or (0,)) >= HISTORY_WITHOUT_LOGS
    assert Version.of("<!doctype html>") is None
