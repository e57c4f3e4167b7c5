"""OrgScope: what one organization sees, asked directly. Each of its doors is tried with another organization's ids."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.orgs.app_scope import AppRepository
from apps.orgs.counts import keep_counts
from apps.orgs.models import Environment, EnvVarName, OrgSecretName, Project, Template
from apps.orgs.repositories import clone_url
from apps.orgs.rows import Missing, Rows
from apps.orgs.scope import OrgScope, scope_by_slug
from apps.orgs.versions import versions_now
from tests.factories import START, Fill, fill, make, make_app


@pytest.fixture
def scope(acme: Fill, rival: Fill) -> OrgScope:
    return OrgScope(acme.organization.id, START)


def ids(rows: Rows) -> list[str]:
    return [row["id"] for row in rows.page(None, 100)[0]]


def missing(call: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    with pytest.raises(Missing) as found:
        call(*arguments, **options)
    return found.value.kind


# Another organization gets nothing


def test_lists_hold_this_organizations_rows_only(scope: OrgScope, acme: Fill) -> None:
    assert ids(scope.apps()) == [acme.app.id]
    assert ids(scope.projects(query="")) == [acme.project.id]
    assert ids(scope.secret_names(project_id=None)) == [acme.secret.id]
    assert ids(scope.templates(query="", tag=None)) == [acme.template.id]
    assert [row["id"] for row in scope.connections()] == [acme.connection.id]


def test_lists_of_an_application_hold_its_own_rows_only(scope: OrgScope, acme: Fill) -> None:
    for place in ({}, {"application_id": acme.app.id}):
        assert ids(scope.domains(**place)) == [acme.domain.id]
        assert ids(scope.previews(**place)) == [acme.preview.id]
        assert ids(scope.deployments(**place)) == [acme.deployment.id]
        assert ids(scope.variable_names(**place)) == [acme.variable.id]


def test_another_organizations_ids_are_missing(scope: OrgScope, acme: Fill, rival: Fill) -> None:
    assert missing(scope.app, rival.app.id) == "application"
    assert missing(scope.apps, project_id=rival.project.id) == "project"
    assert missing(scope.apps, environment_id=rival.environment.id) == "environment"
    assert missing(scope.secret_names, project_id=rival.project.id) == "project"
    assert missing(scope.deployments, preview_id=rival.preview.id) == "preview"
    assert missing(scope.deployments, application_id=acme.app.id, preview_id=rival.preview.id) == "preview"


def test_counts_are_this_organizations(scope: OrgScope, acme: Fill, rival: Fill) -> None:
    for number in range(5):
        make_app(rival.project, f"{number}", status="error")
    overview = scope.overview()
    assert overview.organization["slug"] == "acme"
    assert overview.apps_by_status["error"] == 0
    assert {overview.organization[name] for name in ("projects", "domains", "previews")} == {1}
    (project,) = scope.projects(query="").page(None, 10)[0]
    assert project["app_count"] == 1
    assert [environment["id"] for environment in project["environments"]] == [acme.environment.id]


def test_an_organization_that_is_gone_sees_nothing(rival: Fill) -> None:
    nobody = OrgScope("org_" + "0" * 26, None)
    assert ids(nobody.apps()) == ids(nobody.projects(query="")) == nobody.connections() == []
    assert missing(nobody.app, rival.app.id) == "application"


def test_a_name_without_an_environment_is_not_seen_by_applications_without_one(rival: Fill, acme: Fill) -> None:
    """environment_id is null on most names: null must not match null."""
    acme.app.environment = None
    acme.app.save()
    make(EnvVarName, rival.organization, project=rival.project, name="THEIRS", scope="project")
    scope = OrgScope(acme.organization.id, None)
    assert ids(scope.variable_names(application_id=acme.app.id)) == [acme.variable.id]


def test_what_the_installation_offers_is_seen_by_everybody(acme: Fill, rival: Fill) -> None:
    shared = Template.objects.create(name="0", description="x")
    for one in (acme, rival):
        seen = ids(OrgScope(one.organization.id, None).templates(query="", tag=None))
        assert seen == [shared.id, one.template.id]


# The fixed bearers' organization


def test_a_scope_is_found_by_slug_with_one_query(acme: Fill) -> None:
    with CaptureQueriesContext(connection) as queries:
        scope = scope_by_slug("acme")
    assert len(queries) == 1
    assert scope == OrgScope(acme.organization.id, START, versions_now(acme.organization.id))


@pytest.mark.parametrize("slug", ["", "ACME", "acm", "acme ", "%"])
def test_no_other_slug_finds_it(acme: Fill, slug: str) -> None:
    assert scope_by_slug(slug) is None


# Rows


def test_rows_end_with_an_id_so_that_their_order_is_total(scope: OrgScope, acme: Fill) -> None:
    for rows in (
        scope.apps(),
        scope.projects(query=""),
        scope.secret_names(project_id=None),
        scope.templates(query="", tag=None),
        scope.domains(),
        scope.previews(),
        scope.deployments(),
        scope.variable_names(),
    ):
        assert rows.columns[-1] == "id"
        assert len({column.startswith("-") for column in rows.order}) == 1
        (row,), has_more = rows.page(None, 1)
        assert not has_more
        assert rows.page(rows.position(row), 1) == ([], False)


def test_the_next_page_starts_after_a_row_that_is_gone(scope: OrgScope, acme: Fill) -> None:
    for name in ("acme b", "acme c"):
        make_app(acme.project, name)
    rows = scope.apps()
    (first,), has_more = rows.page(None, 1)
    assert has_more
    acme.app.delete()
    assert [row["name"] for row in rows.page(rows.position(first), 5)[0]] == ["acme b", "acme c"]


def test_environments_of_one_page_are_read_at_once(scope: OrgScope, acme: Fill) -> None:
    for number in range(10):
        project = make(Project, acme.organization, name=f"{number}")
        make(Environment, acme.organization, project=project, name="x")
    keep_counts(acme.organization.pk)
    with CaptureQueriesContext(connection) as queries:
        rows, _ = scope.projects(query="").page(None, 100)
    assert len(queries) == 1
    assert [len(row["environments"]) for row in rows] == [1] * 11


# What may be read of an application


@pytest.mark.parametrize(
    ("source_type", "repository", "base_url", "url"),
    [
        ("github", "acme/shop", None, "https://github.com/acme/shop.git"),
        ("gitlab", "acme/group/shop", None, "https://gitlab.com/acme/group/shop.git"),
        ("bitbucket", "acme/shop", None, "https://bitbucket.org/acme/shop.git"),
        ("gitea", "acme/shop", None, "https://gitea.com/acme/shop.git"),
        ("gitea", "acme/shop", "https://git.acme.example/", "https://git.acme.example/acme/shop.git"),
        ("gitlab", "acme/shop", "https://git.acme.example/lab", "https://git.acme.example/lab/acme/shop.git"),
        ("git", "https://git.acme.example/shop", None, "https://git.acme.example/shop"),
        ("git", "https://git.acme.example/shop", "https://other.example", "https://git.acme.example/shop"),
        ("git", "local:checkout", None, "local:checkout"),
        ("github", "local:checkout", None, "https://github.com/local:checkout.git"),
        ("git", "http://git.acme.example/shop", None, None),
        ("git", "ssh://git@git.acme.example/shop", None, None),
        ("git", "ext::sh -c id", None, None),
        ("git", "--upload-pack=id", None, None),
        ("git", "/etc", None, None),
        ("git", "", None, None),
        ("github", "", None, None),
        ("github", None, None, None),
        ("docker", "acme/shop", None, None),
        ("upload", "acme/shop", None, None),
    ],
)
def test_where_an_applications_source_lies(
    source_type: str, repository: str | None, base_url: str | None, url: str | None
) -> None:
    assert clone_url(source_type, repository, base_url) == url


@pytest.mark.parametrize("credentials", ["not_needed", "working", "missing"])
def test_a_repository_may_be_public_whatever_its_connection_has(scope: OrgScope, acme: Fill, credentials: str) -> None:
    acme.connection.credentials = credentials
    acme.connection.save()
    acme.app.source_type, acme.app.repository, acme.app.branch = "github", "acme/shop", "live"
    acme.app.save()
    found = AppRepository("https://github.com/acme/shop.git", "live", f"{acme.organization.id}:{acme.connection.id}")
    assert scope.app(acme.app.id).repository() == found


def test_two_organizations_never_share_a_stored_copy(acme: Fill, rival: Fill) -> None:
    owners = set()
    for one in (acme, rival):
        app = make_app(one.project, "x", source_type="github", repository="shared/public")
        repository = OrgScope(one.organization.id, None).app(app.id).repository()
        assert repository is not None
        owners.add(repository.owner)
    assert len(owners) == 2


def test_secrets_names_have_no_other_columns(scope: OrgScope, acme: Fill) -> None:
    (row,), _ = scope.secret_names(project_id=None).page(None, 5)
    assert set(row) == {
        "id", "name", "scope", "project_id", "environment_id", "provider", "updated_at", "sort_key",
    }  # fmt: skip
    assert OrgSecretName.objects.count() == 2


def test_a_third_organization_changes_nothing(scope: OrgScope, acme: Fill) -> None:
    before = ids(scope.apps())
    fill("third")
    assert ids(scope.apps()) == before
