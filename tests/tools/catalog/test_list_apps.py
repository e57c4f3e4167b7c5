"""list_apps."""

from datetime import timedelta
from typing import Any

import pytest

from apps.orgs.models import App, Environment, Project, SourceConnection
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import START, Fill, make, make_app, make_more
from tests.tools.catalog.contract import WIDEST, assert_fits, assert_limits, notation


def names(api: Api, **inputs: Any) -> list[str]:
    return [app["name"] for app in api("list_apps", **inputs)["items"]]


def test_it_answers_what_the_contract_says() -> None:
    assert notation(TOOLS["list_apps"].item) == (
        "{id,externalId?,name,slug,description?,projectId,projectName,environmentId?,environmentName?,"
        "kind:application|compose,status:idle|deploying|deployed|error|unknown,upstreamStatus?,"
        "source{type:github|gitlab|bitbucket|gitea|git|docker|upload,repository?,branch?,image?,connectionId?},"
        "primaryUrl?,dashboardUrl?,health:healthy|degraded|down|deploying|unknown,healthReason?,lastDeployedAt?,"
        "createdAt}"
    )


def test_everything_that_is_known_of_an_application(api: Api, acme: Fill) -> None:
    app = make_app(
        acme.project, "Web", slug="web-1", external_id="k1", description="It sells.", environment=acme.environment,
        kind="compose", status="deploying", upstream_status="running", source_type="gitlab", repository="acme/web",
        branch="live", connection=acme.connection, primary_url="https://web.example.com/", created_at=START,
        last_deployed_at=START + timedelta(microseconds=1999), dashboard_url="https://dokploy.example.com/a/1",
    )  # fmt: skip
    assert api("list_apps", query="web-1")["items"] == [
        {
            "id": app.id,
            "externalId": "k1",
            "name": "Web",
            "slug": "web-1",
            "description": "It sells.",
            "projectId": acme.project.id,
            "projectName": "acme project",
            "environmentId": acme.environment.id,
            "environmentName": "production",
            "kind": "compose",
            "status": "deploying",
            "upstreamStatus": "running",
            "source": {
                "type": "gitlab",
                "repository": "acme/web",
                "branch": "live",
                "image": None,
                "connectionId": acme.connection.id,
            },
            "primaryUrl": "https://web.example.com/",
            "dashboardUrl": "https://dokploy.example.com/a/1",
            "health": "deploying",
            "healthReason": "A deployment is in progress.",
            "lastDeployedAt": "2026-03-01T12:00:00.001Z",
            "createdAt": "2026-03-01T12:00:00.000Z",
        }
    ]


def test_what_is_not_known_is_null(api: Api, acme: Fill) -> None:
    make_app(acme.project, "bare")
    (bare,) = api("list_apps", query="bare")["items"]
    assert {name for name, value in bare.items() if value is None} == {
        "externalId", "description", "environmentId", "environmentName", "upstreamStatus", "primaryUrl",
        "dashboardUrl", "lastDeployedAt",
    }  # fmt: skip
    assert bare["source"] == {"type": "docker", "repository": None, "branch": None, "image": None, "connectionId": None}
    assert (bare["kind"], bare["status"]) == ("application", "unknown")


@pytest.mark.parametrize("status", ["idle", "deploying", "deployed", "error", "unknown"])
@pytest.mark.parametrize("source", ["github", "gitlab", "bitbucket", "gitea", "git", "docker", "upload"])
def test_every_status_and_every_source_is_answered_and_found(api: Api, acme: Fill, status: str, source: str) -> None:
    acme.app.delete()
    make_app(acme.project, "it", status=status, source_type=source)
    make_app(acme.project, "other", status="idle" if status != "idle" else "error")
    (found,) = api("list_apps", status=status)["items"]
    assert (found["name"], found["status"], found["source"]["type"]) == ("it", status, source)


def test_applications_go_by_name_in_any_case_and_equals_by_id(api: Api, acme: Fill) -> None:
    acme.app.delete()
    equal = [make_app(acme.project, name, slug=f"s{n}") for n, name in enumerate(("SAME", "same", "Same", "sAme"))]
    for name in ("Zoë", "a b", "ab", "Äther", "_x", "10", "9"):
        make_app(acme.project, name)
    assert names(api)[:5] == ["10", "9", "_x", "a b", "ab"]
    assert names(api)[-2:] == ["Zoë", "Äther"]
    assert [app["id"] for app in api.walk("list_apps", limit=1)[5:9]] == sorted(app.id for app in equal)


def test_each_filter_narrows_and_together_they_narrow_more(api: Api, acme: Fill) -> None:
    acme.app.delete()
    shop = make(Project, acme.organization, name="shop")
    live = make(Environment, acme.organization, project=shop, name="live")
    test = make(Environment, acme.organization, project=shop, name="test")
    make_app(shop, "a", environment=live, status="error")
    make_app(shop, "b", environment=live, status="deployed")
    make_app(shop, "c", environment=test, status="error")
    make_app(shop, "d", status="error")
    make_app(acme.project, "a2", environment=acme.environment, status="error")
    assert names(api, projectId=shop.id) == ["a", "b", "c", "d"]
    assert names(api, environmentId=live.id) == ["a", "b"]
    assert names(api, status="error") == ["a", "a2", "c", "d"]
    assert names(api, query="a") == ["a", "a2"]
    assert names(api, projectId=shop.id, status="error") == ["a", "c", "d"]
    assert names(api, projectId=shop.id, environmentId=live.id, status="error", query="A") == ["a"]
    assert names(api, projectId=acme.project.id, environmentId=live.id) == []
    assert (
        api.walk("list_apps", projectId=shop.id, status="error", limit=1)
        == (api("list_apps", projectId=shop.id, status="error")["items"])
    )


@pytest.mark.parametrize(("field", "thing"), [("projectId", "project"), ("environmentId", "environment")])
def test_ids_that_name_nothing_here_are_not_found(api: Api, acme: Fill, rival: Fill, field: str, thing: str) -> None:
    theirs = getattr(rival, thing).id
    other_kind = acme.app.id
    for id in (theirs, theirs[:4] + "0" * 26, other_kind, "x", "'; --", "é", getattr(acme, thing).id.upper()):
        response = api.post("list_apps", {field: id})
        assert response.status_code == 422
        assert response.json()["detail"] == [
            {"loc": ["body", field], "msg": f"There is no such {thing}: list_projects tells ids.", "type": "not_found"}
        ]


@pytest.mark.parametrize("field", ["projectId", "environmentId"])
def test_what_can_be_no_id_is_refused(api: Api, field: str) -> None:
    for value, problem in ((7, "invalid"), ("", "blank"), ("x" * 201, "max_length"), (None, "null"), ([], "invalid")):
        assert api.refused("list_apps", **{field: value}) == [(field, problem)]


@pytest.mark.parametrize("status", ["ok", "", "Error", "error ", 1, True, ["error"], {}])
def test_only_the_five_statuses_are_statuses(api: Api, status: Any) -> None:
    assert api.refused("list_apps", status=status) == [("status", "invalid_choice")]


def test_a_query_looks_in_name_slug_description_and_repository(api: Api, acme: Fill) -> None:
    acme.app.delete()
    make_app(acme.project, "one Needle", slug="a")
    make_app(acme.project, "two", slug="b-needle")
    make_app(acme.project, "three", slug="c", description="a NEEDLE in it")
    make_app(acme.project, "four", slug="d", repository="acme/needle")
    make_app(acme.project, "five", slug="e", branch="needle", image="needle", upstream_status="needle")
    assert names(api, query="nEEdle") == ["four", "one Needle", "three", "two"]


def test_a_query_is_literal(api: Api, acme: Fill) -> None:
    acme.app.delete()
    for name in ("100%", "a_b", "axb", "c\\d", "it's", "Ünïcode", "e\u0301a", "ẞ"):
        make_app(acme.project, name, slug="-")
    assert names(api, query="%") == ["100%"]
    assert names(api, query="a_b") == ["a_b"]
    assert names(api, query="\\") == ["c\\d"]
    assert names(api, query="'S") == ["it's"]
    assert names(api, query="ÜNÏ") == ["Ünïcode"]
    assert names(api, query="É") == ["e\u0301a"]
    assert names(api, query="ss") == ["ẞ"]
    assert names(api, query="*") == names(api, query="a.b") == names(api, query=" ") == []


def test_a_query_has_at_most_200_characters(api: Api) -> None:
    assert names(api, query="x" * 200) == []
    assert api.refused("list_apps", query="x" * 201) == [("query", "max_length")]


def test_the_limit_is_100(api: Api, acme: Fill) -> None:
    make_more(acme, 120)
    assert_limits(api, "list_apps", default=100, maximum=100)


@pytest.mark.parametrize("character", WIDEST)
def test_the_longest_rows_fit(api: Api, acme: Fill, character: str) -> None:
    acme.app.delete()
    project = make(Project, acme.organization, name=character * 200)
    environment = make(Environment, acme.organization, project=project, name=character * 100)
    connection = make(SourceConnection, acme.organization, type="git", name="c")
    for number in range(12):
        make_app(
            project, character * 200, slug=character * 200, description=character * 1000, environment=environment,
            external_id=f"{number:03}".rjust(128, character), upstream_status=character * 50,
            repository=character * 500, branch=character * 255, image=character * 500, connection=connection,
            primary_url=character * 2000, last_deployed_at=START,
        )  # fmt: skip
    assert_fits(api, "list_apps", 12, 100)


def test_another_organizations_applications_are_not_seen(api: Api, acme: Fill, rival: Fill) -> None:
    assert names(api) == ["acme app"]
    assert names(api, query="rival") == []
    assert App.objects.count() == 2
