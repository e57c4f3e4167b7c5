"""list_projects."""

from datetime import UTC, datetime

import pytest

from apps.orgs.models import Environment, Project
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import Fill, make, make_app, make_more
from tests.tools.catalog.contract import WIDEST, assert_fits, assert_limits, notation


def names(api: Api, **inputs: object) -> list[str]:
    return [project["name"] for project in api("list_projects", **inputs)["items"]]


def test_it_answers_what_the_contract_says() -> None:
    assert notation(TOOLS["list_projects"].item) == (
        "{id,externalId?,name,description?,environments[{id,name,isDefault}],appCount,createdAt}"
    )


def test_a_project_has_its_environments_and_its_number_of_applications(api: Api, acme: Fill) -> None:
    project = make(
        Project, acme.organization, name="Shop", external_id="shop", description="The shop.",
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678999, tzinfo=UTC),
    )  # fmt: skip
    for name, is_default in (("staging", False), ("live", True), ("Beta", False)):
        make(Environment, acme.organization, project=project, name=name, is_default=is_default)
    make_app(project, "one")
    make_app(project, "two")
    (found,) = api("list_projects", query="shop")["items"]
    assert [environment.pop("id")[:4] for environment in found["environments"]] == ["env_"] * 3
    assert found == {
        "id": project.id,
        "externalId": "shop",
        "name": "Shop",
        "description": "The shop.",
        "environments": [
            {"name": "live", "isDefault": True},
            {"name": "Beta", "isDefault": False},
            {"name": "staging", "isDefault": False},
        ],
        "appCount": 2,
        "createdAt": "2026-01-02T03:04:05.678Z",
    }


def test_what_is_not_known_is_null_and_what_is_not_there_is_empty(api: Api, acme: Fill) -> None:
    make(Project, acme.organization, name="bare", external_id=None)
    (bare,) = api("list_projects", query="bare")["items"]
    assert (bare["externalId"], bare["description"], bare["environments"], bare["appCount"]) == (None, None, [], 0)


def test_projects_go_by_name_in_any_case_and_equals_by_id(api: Api, acme: Fill) -> None:
    Project.objects.filter(organization=acme.organization).delete()
    equal = [make(Project, acme.organization, name=name) for name in ("SAME", "same", "Same")]
    for name in ("éclair", "zebra", "Apple"):
        make(Project, acme.organization, name=name)
    found = api("list_projects")["items"]
    assert [project["name"].lower() for project in found] == ["apple", "same", "same", "same", "zebra", "éclair"]
    assert [project["id"] for project in found[1:4]] == sorted(project.id for project in equal)


def test_a_query_looks_in_name_and_description(api: Api, acme: Fill) -> None:
    make(Project, acme.organization, name="Straße", description="100% of it")
    make(Project, acme.organization, name="other", description="STRASSE_7", external_id="secret-key")
    assert names(api, query="strasse") == names(api, query="STRASSE") == ["other", "Straße"]
    assert names(api, query="0% o") == ["Straße"]
    assert names(api, query="e_7") == ["other"]
    assert names(api, query="%") == ["Straße"]
    assert names(api, query="secret-key") == []
    assert len(names(api, query="")) == 3


def test_a_query_has_at_most_200_characters(api: Api, acme: Fill) -> None:
    make(Project, acme.organization, name="ß" * 200)
    assert names(api, query="ß" * 200) == ["ß" * 200]
    assert names(api, query="SS" * 100) == ["ß" * 200]
    assert api.refused("list_projects", query="x" * 201) == [("query", "max_length")]


@pytest.mark.parametrize("query", [7, ["x"], {}, True])
def test_a_query_is_text(api: Api, query: object) -> None:
    assert api.refused("list_projects", query=query) == [("query", "invalid")]


def test_the_limit_is_100(api: Api, acme: Fill) -> None:
    make_more(acme, 120)
    assert_limits(api, "list_projects", default=100, maximum=100)


def test_at_most_64_environments_are_shown_the_default_among_them(api: Api, acme: Fill) -> None:
    acme.environment.delete()
    for number in range(66):
        make(
            Environment, acme.organization, project=acme.project, name=f"{number:02}",
            is_default=number == 65,
        )  # fmt: skip
    (project,) = api("list_projects")["items"]
    shown = [environment["name"] for environment in project["environments"]]
    assert shown == ["65", *(f"{number:02}" for number in range(63))]


@pytest.mark.parametrize("character", WIDEST)
def test_the_longest_rows_fit(api: Api, acme: Fill, character: str) -> None:
    Project.objects.filter(organization=acme.organization).delete()
    for number in range(4):
        project = make(
            Project, acme.organization, name=character * 200, description=character * 1000, external_id=f"{number:0128}"
        )
        for _ in range(64):
            make(Environment, acme.organization, project=project, name=character * 100)
    assert_fits(api, "list_projects", 4, 100)


def test_another_organizations_projects_and_what_is_in_them_are_not_seen(api: Api, acme: Fill, rival: Fill) -> None:
    assert names(api) == ["acme project"]
    assert names(api, query="rival") == []
