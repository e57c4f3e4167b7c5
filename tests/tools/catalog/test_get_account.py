"""get_account."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.oauthmcp import bearer
from apps.orgs.callers import Viewer
from apps.orgs.models import App, Deployment, Platform, SourceConnection
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import START, Fill, make, make_app, make_more
from tests.tools.catalog.contract import WIDEST, notation


def connection(fill: Fill, name: str, **fields: Any) -> SourceConnection:
    return make(SourceConnection, fill.organization, name=name, **{"type": "github"} | fields)


def platform(fill: Fill, kind: str, at: datetime | None = START, **fields: Any) -> Platform:
    return Platform.objects.create(organization=fill.organization, kind=kind, last_sync_at=at, **fields)


def test_it_answers_what_the_contract_says() -> None:
    limits = "{limit?,used,remaining?}"
    assert notation(TOOLS["get_account"].Output) == (
        "{organization{id,name,slug,plan?,createdAt},viewer{email,name?,role:owner|member}?,"
        f"quota{{projects{limits},apps{limits},domains{limits},previews{limits}}},"
        "resources{projects,apps{total,byStatus{idle,deploying,deployed,error,unknown}},domains,previews,"
        "deploymentsLast30Days},"
        "connections[{id,externalId?,type:github|gitlab|bitbucket|gitea|git,name,accountLogin?,isDefault}],"
        "platform{kind:dokploy|coolify|manifest,version?,lastSyncAt?,lastSyncStatus:ok|error|never,isStale},scopes[]}"
    )


def test_everything_that_is_known_of_an_organization(api: Api, acme: Fill, stop: Any) -> None:
    acme.organization.created_at = START
    acme.organization.save()
    unlimited = {"limit": None, "used": 1, "remaining": None}
    assert api("get_account") == {
        "organization": {
            "id": acme.organization.id,
            "name": "Acme",
            "slug": "acme",
            "plan": "team",
            "createdAt": "2026-03-01T12:00:00.000Z",
        },
        "viewer": None,
        "quota": dict.fromkeys(("projects", "apps", "domains", "previews"), unlimited),
        "resources": {
            "projects": 1,
            "apps": {"total": 1, "byStatus": {"idle": 0, "deploying": 0, "deployed": 0, "error": 0, "unknown": 1}},
            "domains": 1,
            "previews": 1,
            "deploymentsLast30Days": 1,
        },
        "connections": [
            {
                "id": acme.connection.id,
                "externalId": None,
                "type": "git",
                "name": "acme git",
                "accountLogin": None,
                "isDefault": True,
            }
        ],
        "platform": {
            "kind": "manifest",
            "version": None,
            "lastSyncAt": "2026-03-01T12:00:00.000Z",
            "lastSyncStatus": "ok",
            "isStale": False,
        },
        "scopes": ["account:read", "apps:read", "config:read", "files:read", "docs:read"],
    }


def test_an_organization_with_nothing_has_noughts(api: Api, acme: Fill, rival: Fill) -> None:
    for row in (acme.app, acme.project, acme.connection, acme.platform):
        row.delete()
    answer = api("get_account")
    assert answer["resources"] == {
        "projects": 0,
        "apps": {"total": 0, "byStatus": {"idle": 0, "deploying": 0, "deployed": 0, "error": 0, "unknown": 0}},
        "domains": 0,
        "previews": 0,
        "deploymentsLast30Days": 0,
    }
    assert answer["connections"] == []
    assert answer["platform"] == {
        "kind": "manifest", "version": None, "lastSyncAt": None, "lastSyncStatus": "never", "isStale": False,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["Ada", None])
def test_a_person_sees_who_they_are(api: Api, monkeypatch: pytest.MonkeyPatch, name: str | None) -> None:
    found = bearer._fixed_caller
    viewer = Viewer("ada@example.com", name, "owner")
    monkeypatch.setattr(bearer, "_fixed_caller", lambda *given: replace(found(*given), viewer=viewer))
    assert api("get_account")["viewer"] == {"email": "ada@example.com", "name": name, "role": "owner"}


@pytest.mark.parametrize(("limit", "remaining"), [(None, None), (0, 0), (1, 0), (2, 0), (3, 1), (2**31 - 1, 2**31 - 3)])
def test_what_remains_is_never_less_than_nothing(
    api: Api, acme: Fill, limit: int | None, remaining: int | None
) -> None:
    make_app(acme.project, "second")
    acme.organization.app_limit = limit
    acme.organization.save()
    quota = api("get_account")["quota"]
    assert quota["apps"] == {"limit": limit, "used": 2, "remaining": remaining}
    assert quota["projects"] == {"limit": None, "used": 1, "remaining": None}


def test_each_limit_belongs_to_its_own_kind(api: Api, acme: Fill) -> None:
    organization = acme.organization
    organization.project_limit, organization.app_limit = 10, 20
    organization.domain_limit, organization.preview_limit = 30, 40
    organization.save()
    quota = api("get_account")["quota"]
    assert {name: limit["limit"] for name, limit in quota.items()} == {
        "projects": 10, "apps": 20, "domains": 30, "previews": 40,
    }  # fmt: skip


def test_applications_are_counted_by_status(api: Api, acme: Fill) -> None:
    for number, status in enumerate(("idle", "deploying", "deployed", "error"), 1):
        for _ in range(number):
            make_app(acme.project, status, status=status)
    apps = api("get_account")["resources"]["apps"]
    assert apps == {"total": 11, "byStatus": {"idle": 1, "deploying": 2, "deployed": 3, "error": 4, "unknown": 1}}


def test_deployments_of_the_last_30_days_are_counted(api: Api, acme: Fill, stop: Any) -> None:
    month, moment = timedelta(days=30), timedelta(microseconds=1)
    for age in (moment, month - moment, month, month + moment, 2 * month):
        make(Deployment, acme.organization, app=acme.app, title="x", created_at=START - age)
    assert api("get_account")["resources"]["deploymentsLast30Days"] == 4


# Connections


def test_connections_that_can_be_used_are_listed_by_name(api: Api, acme: Fill) -> None:
    own = {"credentials": "missing", "own_credentials": "working"}
    connection(acme, "b", **own, external_id="k", account_login="acme-inc")
    connection(acme, "a", credentials="missing")
    connection(acme, "d", credentials="working")  # the platform's, which Porthole never gets
    connection(acme, "e", credentials="missing", own_credentials="refused")
    connection(acme, "C".lower(), credentials="not_needed")
    found = api("get_account")["connections"]
    assert [item["name"] for item in found] == ["acme git", "b", "c"]
    assert (found[1]["externalId"], found[1]["type"], found[1]["accountLogin"]) == ("k", "github", "acme-inc")


def defaults(api: Api) -> list[str]:
    return [item["name"] for item in api("get_account")["connections"] if item["isDefault"]]


def test_the_chosen_connection_is_the_default(api: Api, acme: Fill) -> None:
    acme.organization.default_connection = connection(acme, "b")
    acme.organization.save()
    assert defaults(api) == ["b"]


def test_the_only_connection_that_can_be_used_is_the_default(api: Api, acme: Fill) -> None:
    connection(acme, "b", credentials="missing")
    assert defaults(api) == ["acme git"]


def test_of_several_connections_none_is_the_default_unless_one_is_chosen(api: Api, acme: Fill) -> None:
    connection(acme, "b")
    assert defaults(api) == []


def test_a_chosen_connection_that_cannot_be_used_is_not_replaced(api: Api, acme: Fill) -> None:
    acme.organization.default_connection = connection(acme, "b", credentials="missing")
    acme.organization.save()
    assert defaults(api) == []


def test_another_organizations_connections_are_not_seen(api: Api, acme: Fill, rival: Fill) -> None:
    acme.organization.default_connection = rival.connection
    acme.organization.save()
    assert [item["name"] for item in api("get_account")["connections"]] == ["acme git"]
    assert defaults(api) == []


# Platform


def chosen(api: Api) -> tuple[str, str | None]:
    answer = api("get_account")["platform"]
    return answer["kind"], answer["version"]


@pytest.mark.parametrize("kind", ["dokploy", "coolify"])
def test_a_deployment_system_goes_before_a_manifest(api: Api, acme: Fill, kind: str) -> None:
    platform(acme, kind, at=None, version="0.25", sync_period=60)
    assert chosen(api) == (kind, "0.25")


def test_of_several_deployment_systems_the_latest_sync_is_shown(api: Api, acme: Fill) -> None:
    for name, at in (("a", START), ("b", START + timedelta(days=1)), ("c", START - timedelta(days=1)), ("d", None)):
        platform(acme, "dokploy", at=at, name=name, version=name)
    assert chosen(api) == ("dokploy", "b")


@pytest.mark.parametrize("status", ["ok", "error", "never"])
def test_how_the_last_sync_ended_is_told(api: Api, acme: Fill, status: str) -> None:
    platform(acme, "dokploy", last_sync_status=status)
    assert api("get_account")["platform"]["lastSyncStatus"] == status


@pytest.mark.parametrize(
    ("kind", "period", "at", "is_stale"),
    [
        ("dokploy", 300, START - timedelta(seconds=900), False),
        ("dokploy", 300, START - timedelta(seconds=900, microseconds=1), True),
        ("dokploy", 300, None, True),
        ("dokploy", None, START - timedelta(days=999), False),
        ("dokploy", None, None, False),
    ],
)
def test_a_platform_is_stale_after_three_periods(
    api: Api, acme: Fill, stop: Any, kind: str, period: int | None, at: datetime | None, is_stale: bool
) -> None:
    platform(acme, kind, at, sync_period=period)
    assert api("get_account")["platform"]["isStale"] is is_stale


def test_a_manifest_is_never_stale(api: Api, acme: Fill) -> None:
    acme.platform.sync_period = 1
    acme.platform.last_sync_at = datetime(2000, 1, 1, tzinfo=UTC)
    acme.platform.save()
    assert api("get_account")["platform"]["isStale"] is False


# Size


@pytest.mark.parametrize("character", WIDEST)
def test_the_longest_answer_fits(api: Api, acme: Fill, character: str) -> None:
    acme.organization.name, acme.organization.plan = character * 100, character * 50
    acme.organization.save()
    for number in range(60):
        connection(
            acme, character * 100, external_id=f"{number:03}".rjust(128, character), account_login=character * 100
        )
    response = api.post("get_account")
    assert response.status_code == 200
    assert len(response.content) <= 64 * 1024
    assert len(response.json()["connections"]) >= 15


def test_the_default_is_shown_among_more_connections_than_fit(api: Api, acme: Fill) -> None:
    make_more(acme, 600)
    last = acme.organization.default_connection = connection(acme, "zzz")
    acme.organization.save()
    found = api("get_account")["connections"]
    assert len(found) < 600
    assert [item["id"] for item in found if item["isDefault"]] == [last.id]


def test_it_takes_no_input(api: Api) -> None:
    assert api.refused("get_account", limit=1) == [("limit", "unknown_key")]
    assert App.objects.count() == 2
