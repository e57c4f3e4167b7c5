"""list_env_vars."""

from typing import Any

import pytest

from apps.orgs.models import Environment, EnvVarName, Project
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import START, Fill, make, make_app, make_more
from tests.tools.catalog.contract import assert_fits, assert_limits, notation


@pytest.fixture(autouse=True)
def _none_yet(acme: Fill) -> None:
    acme.variable.delete()


def variable(fill: Fill, name: str, scope: str = "app", **fields: Any) -> EnvVarName:
    if not {"app", "environment", "project"} & set(fields):
        fields["app"] = fill.app
    return make(EnvVarName, fill.organization, name=name, scope=scope, **fields)


def names(api: Api, fill: Fill, **inputs: Any) -> list[str]:
    return [item["name"] for item in api("list_env_vars", applicationId=fill.app.id, **inputs)["items"]]


def test_it_answers_what_the_contract_says() -> None:
    tool = TOOLS["list_env_vars"]
    assert notation(tool.item) == (
        "{applicationId?,applicationName?,projectId?,environmentId?,name,"
        "scope:app|preview|build|environment|project,references[],updatedAt?}"
    )
    assert set(tool.Output().fields) == {
        "items", "nextCursor", "syncedAt", "skippedCount", "version", "isUnchanged",
    }  # fmt: skip


def test_there_are_names_and_no_values(api: Api, acme: Fill) -> None:
    variable(acme, "DATABASE_URL", references=["project.DATABASE_URL", "HOST"], updated_at=START)
    variable(acme, "PLAIN")
    answer = api("list_env_vars", applicationId=acme.app.id)
    where = {
        "applicationId": acme.app.id,
        "applicationName": "acme app",
        "projectId": acme.project.id,
        "environmentId": acme.environment.id,
    }
    assert answer["items"] == [
        where
        | {
            "name": "DATABASE_URL",
            "scope": "app",
            "references": ["project.DATABASE_URL", "HOST"],
            "updatedAt": "2026-03-01T12:00:00.000Z",
        },
        where | {"name": "PLAIN", "scope": "app", "references": [], "updatedAt": None},
    ]


def test_what_the_platform_gave_that_was_no_name_is_counted(api: Api, acme: Fill) -> None:
    assert api("list_env_vars", applicationId=acme.app.id)["skippedCount"] == 0
    acme.app.names_skipped = 3
    acme.app.save()
    make_more(acme, 3)
    first = api("list_env_vars", applicationId=acme.app.id, limit=1)
    second = api("list_env_vars", applicationId=acme.app.id, limit=1, cursor=first["nextCursor"])
    assert (first["skippedCount"], second["skippedCount"]) == (3, 3)


def test_an_application_sees_its_own_its_environments_and_its_projects_names(api: Api, acme: Fill, rival: Fill) -> None:
    other_app = make_app(acme.project, "other", environment=acme.environment)
    other_environment = make(Environment, acme.organization, project=acme.project, name="x")
    other_project = make(Project, acme.organization, name="other")
    variable(acme, "OWN")
    variable(acme, "ENVIRONMENT", "environment", environment=acme.environment)
    variable(acme, "PROJECT", "project", project=acme.project)
    variable(acme, "OTHER_APP", app=other_app)
    variable(acme, "OTHER_ENVIRONMENT", "environment", environment=other_environment)
    variable(acme, "OTHER_PROJECT", "project", project=other_project)
    variable(rival, "RIVAL_ENVIRONMENT", "environment", environment=rival.environment)
    variable(rival, "RIVAL_PROJECT", "project", project=rival.project)
    assert names(api, acme) == ["ENVIRONMENT", "OWN", "PROJECT"]


def test_an_application_without_an_environment_sees_no_environments_names(api: Api, acme: Fill, rival: Fill) -> None:
    acme.app.environment = None
    acme.app.save()
    variable(acme, "OWN")
    variable(acme, "ENVIRONMENT", "environment", environment=acme.environment)
    variable(acme, "PROJECT", "project", project=acme.project)
    variable(rival, "RIVAL_ENVIRONMENT", "environment", environment=rival.environment)
    assert names(api, acme) == ["OWN", "PROJECT"]


def test_names_go_by_name_in_any_case_then_by_scope(api: Api, acme: Fill) -> None:
    variable(acme, "SAME", "project", project=acme.project)
    variable(acme, "same", "app")
    variable(acme, "Same", "environment", environment=acme.environment)
    variable(acme, "SAME", "build")
    variable(acme, "SAME", "preview")
    for name in ("_X", "A.B", "A-B", "A_B", "B", "a"):
        variable(acme, name)
    found = api.walk("list_env_vars", applicationId=acme.app.id, limit=1)
    assert [item["name"] for item in found if item["name"].lower() != "same"] == ["_X", "a", "A-B", "A.B", "A_B", "B"]
    assert [item["scope"] for item in found if item["name"].lower() == "same"] == [
        "app", "build", "environment", "preview", "project",
    ]  # fmt: skip


@pytest.mark.parametrize("scope", ["app", "preview", "build", "environment", "project"])
def test_a_scope_narrows(api: Api, acme: Fill, scope: str) -> None:
    for word in ("app", "preview", "build"):
        variable(acme, word.upper(), word)
    variable(acme, "ENVIRONMENT", "environment", environment=acme.environment)
    variable(acme, "PROJECT", "project", project=acme.project)
    assert names(api, acme, scope=scope) == [scope.upper()]


def test_a_secrets_scope_is_no_variables_scope(api: Api, acme: Fill) -> None:
    for scope in ("organization", "vault", "App", ""):
        assert api.refused("list_env_vars", applicationId=acme.app.id, scope=scope) == [("scope", "invalid_choice")]


def test_the_limit_is_100(api: Api, acme: Fill) -> None:
    make_more(acme, 120)
    assert_limits(api, "list_env_vars", default=100, maximum=100, applicationId=acme.app.id)


def test_the_longest_rows_fit(api: Api, acme: Fill) -> None:
    for number in range(40):
        variable(acme, f"{number:03}".rjust(128, "N"), "environment", environment=acme.environment, updated_at=START,
                 references=[f"{n:02}".rjust(192, "r") for n in range(20)])  # fmt: skip
    assert_fits(api, "list_env_vars", 40, 100, applicationId=acme.app.id)


def test_another_organizations_names_are_not_found(api: Api, rival: Fill) -> None:
    assert api.refused("list_env_vars", applicationId=rival.app.id) == [("applicationId", "not_found")]
