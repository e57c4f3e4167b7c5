"""list_org_secrets."""

from typing import Any

import pytest

from apps.orgs.models import Environment, OrgSecretName, Project
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import START, Fill, make, make_more
from tests.tools.catalog.contract import WIDEST, assert_fits, assert_limits, notation


@pytest.fixture(autouse=True)
def _none_yet(acme: Fill) -> None:
    acme.secret.delete()


def secret(fill: Fill, name: str, scope: str = "organization", **fields: Any) -> OrgSecretName:
    return make(OrgSecretName, fill.organization, name=name, scope=scope, **fields)


def names(api: Api, **inputs: Any) -> list[str]:
    return [item["name"] for item in api("list_org_secrets", **inputs)["items"]]


def test_it_answers_what_the_contract_says() -> None:
    assert notation(TOOLS["list_org_secrets"].item) == (
        "{name,scope:organization|project|environment|vault,projectId?,environmentId?,provider?,updatedAt?}"
    )


def test_there_are_names_and_no_values(api: Api, acme: Fill) -> None:
    secret(
        acme, "API_KEY", "environment", project=acme.project, environment=acme.environment, provider="vault",
        updated_at=START,
    )  # fmt: skip
    secret(acme, "BARE")
    assert api("list_org_secrets")["items"] == [
        {
            "name": "API_KEY",
            "scope": "environment",
            "projectId": acme.project.id,
            "environmentId": acme.environment.id,
            "provider": "vault",
            "updatedAt": "2026-03-01T12:00:00.000Z",
        },
        {
            "name": "BARE",
            "scope": "organization",
            "projectId": None,
            "environmentId": None,
            "provider": None,
            "updatedAt": None,
        },
    ]


def test_names_go_by_name_in_any_case_then_by_scope(api: Api, acme: Fill) -> None:
    for name, scope in (("b", "vault"), ("B", "organization"), ("_", "vault"), ("a.b", "vault"), ("A", "vault")):
        secret(acme, name, scope)
    secret(acme, "b", "project", project=acme.project)
    secret(acme, "B", "environment", project=acme.project, environment=acme.environment)
    found = api.walk("list_org_secrets", limit=1)
    assert [item["name"] for item in found[:3]] == ["_", "A", "a.b"]
    assert [item["scope"] for item in found[3:]] == ["environment", "organization", "project", "vault"]


def test_a_project_narrows_to_its_own_secrets_and_its_environments(api: Api, acme: Fill) -> None:
    other = make(Project, acme.organization, name="other")
    others = make(Environment, acme.organization, project=other, name="x")
    secret(acme, "ORGANIZATION")
    secret(acme, "VAULT", "vault", provider="vault")
    secret(acme, "PROJECT", "project", project=acme.project)
    secret(acme, "ENVIRONMENT", "environment", project=acme.project, environment=acme.environment)
    secret(acme, "OTHER", "project", project=other)
    secret(acme, "OTHERS", "environment", project=other, environment=others)
    assert len(names(api)) == 6
    assert names(api, projectId=acme.project.id) == ["ENVIRONMENT", "PROJECT"]
    assert names(api, projectId=other.id) == ["OTHER", "OTHERS"]


def test_a_project_that_is_not_there_is_not_found(api: Api, acme: Fill, rival: Fill) -> None:
    for id in (rival.project.id, "prj_" + "0" * 26, acme.environment.id, "x"):
        response = api.post("list_org_secrets", {"projectId": id})
        assert response.json()["detail"] == [
            {
                "loc": ["body", "projectId"],
                "msg": "There is no such project: list_projects tells ids.",
                "type": "not_found",
            }
        ]


def test_the_limit_is_100(api: Api, acme: Fill) -> None:
    make_more(acme, 120)
    assert_limits(api, "list_org_secrets", default=100, maximum=100)


@pytest.mark.parametrize("character", WIDEST)
def test_the_longest_rows_fit(api: Api, acme: Fill, character: str) -> None:
    for number in range(130):
        secret(
            acme, f"{number:03}".rjust(128, "N"), "environment", project=acme.project, environment=acme.environment,
            provider=character * 50, updated_at=START,
        )  # fmt: skip
    assert_fits(api, "list_org_secrets", 130, 100)


def test_another_organizations_names_are_not_seen(api: Api, rival: Fill) -> None:
    assert names(api) == []
    assert OrgSecretName.objects.get().organization == rival.organization
