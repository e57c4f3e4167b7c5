"""list_deployments."""

from datetime import timedelta
from typing import Any

import pytest

from apps.orgs.models import Deployment, Preview
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import START, Fill, make, make_app, make_more
from tests.tools.catalog.contract import WIDEST, assert_fits, assert_limits, notation

STATUSES = ["queued", "building", "succeeded", "failed", "cancelled", "unknown"]


@pytest.fixture(autouse=True)
def _none_yet(acme: Fill) -> None:
    acme.deployment.delete()


def deployment(fill: Fill, title: str, **fields: Any) -> Deployment:
    return make(Deployment, fill.organization, app=fill.app, title=title, **{"created_at": START} | fields)


def titles(api: Api, fill: Fill, **inputs: Any) -> list[str]:
    return [item["title"] for item in api("list_deployments", applicationId=fill.app.id, **inputs)["items"]]


def test_it_answers_what_the_contract_says() -> None:
    assert notation(TOOLS["list_deployments"].item) == (
        "{id,externalId?,applicationId,applicationName,isPreview,previewId?,environmentId?,"
        "status:queued|building|succeeded|failed|cancelled|unknown,upstreamStatus?,title,commitSha?,commitMessage?,"
        "branch?,author?,trigger:webhook|api|manual|rollback|unknown,createdAt,startedAt?,finishedAt?,durationMs?,errorMessage?,"
        "dashboardUrl?}"
    )


def test_everything_that_is_known_of_a_deployment(api: Api, acme: Fill) -> None:
    it = deployment(
        acme, "Release 7", external_id="d1", preview=acme.preview, status="failed", upstream_status="error",
        commit_sha="ab" * 20, commit_message="fix\nit", branch="main", author="Ada", trigger="webhook",
        error_message="exit 1",
        started_at=START + timedelta(seconds=1), finished_at=START + timedelta(seconds=2, milliseconds=34),
        dashboard_url="https://dokploy.example.com/d/1",
    )  # fmt: skip
    assert api("list_deployments", applicationId=acme.app.id)["items"] == [
        {
            "id": it.id,
            "externalId": "d1",
            "applicationId": acme.app.id,
            "applicationName": "acme app",
            "isPreview": True,
            "previewId": acme.preview.id,
            "environmentId": None,
            "status": "failed",
            "upstreamStatus": "error",
            "title": "Release 7",
            "commitSha": "ab" * 20,
            "commitMessage": "fix\nit",
            "branch": "main",
            "author": "Ada",
            "trigger": "webhook",
            "createdAt": "2026-03-01T12:00:00.000Z",
            "startedAt": "2026-03-01T12:00:01.000Z",
            "finishedAt": "2026-03-01T12:00:02.034Z",
            "durationMs": 1034,
            "errorMessage": "exit 1",
            "dashboardUrl": "https://dokploy.example.com/d/1",
        }
    ]


def test_what_is_not_known_is_null(api: Api, acme: Fill) -> None:
    acme.app.environment = None
    acme.app.save()
    deployment(acme, "bare")
    (bare,) = api("list_deployments", applicationId=acme.app.id)["items"]
    assert {name for name, value in bare.items() if value is None} == {
        "externalId", "previewId", "environmentId", "upstreamStatus", "commitSha", "commitMessage", "branch", "author",
        "startedAt", "finishedAt", "durationMs", "errorMessage", "dashboardUrl",
    }  # fmt: skip
    assert (bare["status"], bare["trigger"]) == ("unknown", "unknown")


@pytest.mark.parametrize(
    ("started", "finished", "duration"),
    [
        (0, 0, 0),
        (0, 0.0014, 1),
        (0, 0.0016, 2),
        (0, 3600, 3_600_000),
        (5, 3, 0),
        (None, 3, None),
        (5, None, None),
        (0, 40 * 86400, 3_456_000_000),
    ],
)
def test_it_took_as_long_as_from_its_start_to_its_end(
    api: Api, acme: Fill, started: float | None, finished: float | None, duration: int | None
) -> None:
    at = [None if seconds is None else START + timedelta(seconds=seconds) for seconds in (started, finished)]
    deployment(acme, "x", started_at=at[0], finished_at=at[1])
    assert api("list_deployments", applicationId=acme.app.id)["items"][0]["durationMs"] == duration


def test_the_newest_come_first_and_equals_by_id(api: Api, acme: Fill) -> None:
    equal = [deployment(acme, "equal") for _ in range(5)]
    deployment(acme, "new", created_at=START + timedelta(microseconds=1))
    deployment(acme, "old", created_at=START - timedelta(microseconds=1))
    for limit in (1, 2, 3):
        found = api.walk("list_deployments", applicationId=acme.app.id, limit=limit)
        assert [item["title"] for item in found] == ["new", *["equal"] * 5, "old"]
        assert [item["id"] for item in found[1:6]] == sorted((row.id for row in equal), reverse=True)


def test_since_is_inclusive_and_until_exclusive(api: Api, acme: Fill) -> None:
    for minutes in range(4):
        deployment(acme, str(minutes), created_at=START + timedelta(minutes=minutes))
    assert titles(api, acme, since="2026-03-01T12:01:00Z") == ["3", "2", "1"]
    assert titles(api, acme, until="2026-03-01T12:01:00Z") == ["0"]
    assert titles(api, acme, since="2026-03-01T12:01:00Z", until="2026-03-01T12:03:00.000Z") == ["2", "1"]
    assert titles(api, acme, since="2026-03-01T12:01:00Z", until="2026-03-01T12:01:00Z") == []
    assert titles(api, acme, since="2026-03-01T12:01:00.000001Z") == ["3", "2"]
    walked = api.walk("list_deployments", applicationId=acme.app.id, since="2026-03-01T12:01:00Z", limit=1)
    assert [item["title"] for item in walked] == ["3", "2", "1"]


def test_a_time_from_an_answer_is_a_time_to_ask_with(api: Api, acme: Fill) -> None:
    deployment(acme, "exact", created_at=START + timedelta(microseconds=123_456))
    (found,) = api("list_deployments", applicationId=acme.app.id)["items"]
    assert found["createdAt"] == "2026-03-01T12:00:00.123Z"
    assert titles(api, acme, since=found["createdAt"]) == ["exact"]
    assert titles(api, acme, until=found["createdAt"]) == []


@pytest.mark.parametrize(
    "time",
    [
        "2026-03-01T12:00:00Z",
        "2026-03-01T13:30:00+01:30",
        "2026-02-28T22:00:00-14:00",
        "2026-03-01t12:00:00z",
        "2026-03-01T12:00:00.0Z",
        "2026-03-01T12:00:00.000000999Z",
        "2026-03-01T12:00:00-00:00",
    ],
)
def test_one_moment_has_many_spellings(api: Api, acme: Fill, time: str) -> None:
    deployment(acme, "before", created_at=START - timedelta(microseconds=1))
    deployment(acme, "at")
    assert titles(api, acme, since=time) == ["at"]
    assert titles(api, acme, until=time) == ["before"]


@pytest.mark.parametrize(
    "time",
    [
        "2026-03-01T12:00:00", "2026-03-01", "2026-03-01 12:00:00Z", "2026-03-01T12:00Z", "2026-13-01T12:00:00Z",
        "2026-02-30T12:00:00Z", "2026-03-01T24:00:01Z", "2026-03-01T12:00:60Z", "2026-03-01T12:00:00+25:00",
        "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2026-03-01T12:00:00.Z", "2026-03-01T12:00:00+0100",
        "2026-03-01T12:00:00,5Z", "٢٠٢٦-03-01T12:00:00Z", "2026-03-01T12:00:00Z\n", " 2026-03-01T12:00:00Z", "now", "",
        1767225600, 1.5, True, [], {},
    ],
)  # fmt: skip
@pytest.mark.parametrize("field", ["since", "until"])
def test_what_is_no_time_with_an_offset_is_refused(api: Api, acme: Fill, field: str, time: Any) -> None:
    assert api.refused("list_deployments", applicationId=acme.app.id, **{field: time}) == [(field, "invalid")]


def test_the_first_and_the_last_moment_are_moments(api: Api, acme: Fill) -> None:
    deployment(acme, "x")
    assert titles(api, acme, since="0001-01-01T00:00:00Z", until="9999-12-31T23:59:59.999999Z") == ["x"]


def test_until_before_since_is_refused(api: Api, acme: Fill) -> None:
    assert api.refused(
        "list_deployments", applicationId=acme.app.id, since="2026-03-01T12:00:00Z", until="2026-03-01T12:59:59+01:00"
    ) == [("until", "invalid")]


def test_each_filter_narrows_and_together_they_narrow_more(api: Api, acme: Fill) -> None:
    other = make(Preview, acme.organization, app=acme.app, branch="other")
    for title, preview, status, minutes in (
        ("a", None, "failed", 0),
        ("b", acme.preview, "failed", 1),
        ("c", acme.preview, "succeeded", 2),
        ("d", acme.preview, "failed", 3),
        ("e", other, "failed", 4),
    ):
        deployment(acme, title, preview=preview, status=status, created_at=START + timedelta(minutes=minutes))
    assert titles(api, acme) == ["e", "d", "c", "b", "a"]
    assert titles(api, acme, previewId=acme.preview.id) == ["d", "c", "b"]
    assert titles(api, acme, status="failed") == ["e", "d", "b", "a"]
    assert titles(api, acme, previewId=acme.preview.id, status="failed") == ["d", "b"]
    everything = {
        "previewId": acme.preview.id,
        "status": "failed",
        "since": "2026-03-01T12:01:00Z",
        "until": "2026-03-01T12:03:00Z",
    }
    assert titles(api, acme, **everything) == ["b"]
    assert titles(api, acme, **everything | {"status": "succeeded"}) == ["c"]


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_found(api: Api, acme: Fill, status: str) -> None:
    for word in STATUSES:
        deployment(acme, word, status=word)
    assert titles(api, acme, status=status) == [status]


@pytest.mark.parametrize("trigger", ["webhook", "api", "manual", "rollback", "unknown"])
def test_every_trigger_is_answered(api: Api, acme: Fill, trigger: str) -> None:
    deployment(acme, "x", trigger=trigger)
    assert api("list_deployments", applicationId=acme.app.id)["items"][0]["trigger"] == trigger


def test_an_applications_status_is_no_deployments_status(api: Api, acme: Fill) -> None:
    assert api.refused("list_deployments", applicationId=acme.app.id, status="deployed") == [
        ("status", "invalid_choice")
    ]


def test_a_preview_of_another_application_is_not_found(api: Api, acme: Fill, rival: Fill) -> None:
    other = make_app(acme.project, "other")
    theirs = make(Preview, acme.organization, app=other, branch="x")
    make(Deployment, acme.organization, app=other, preview=theirs, title="x")
    for id in (theirs.id, rival.preview.id, "prv_" + "0" * 26, acme.app.id, "%"):
        response = api.post("list_deployments", {"applicationId": acme.app.id, "previewId": id})
        assert response.json()["detail"] == [
            {
                "loc": ["body", "previewId"],
                "msg": "There is no such preview: list_previews tells ids.",
                "type": "not_found",
            }
        ]


def test_the_application_is_looked_for_before_the_preview(api: Api, acme: Fill, rival: Fill) -> None:
    assert api.refused("list_deployments", applicationId=rival.app.id, previewId=rival.preview.id) == [
        ("applicationId", "not_found")
    ]


def test_the_limit_is_20_and_at_most_100(api: Api, acme: Fill) -> None:
    make_more(acme, 120)
    assert_limits(api, "list_deployments", default=20, maximum=100, applicationId=acme.app.id)


@pytest.mark.parametrize("character", WIDEST)
def test_the_longest_rows_fit(api: Api, acme: Fill, character: str) -> None:
    for number in range(25):
        deployment(
            acme, character * 300, external_id=f"{number:03}".rjust(128, character), upstream_status=character * 50,
            commit_sha="a" * 64, commit_message=character * 300, branch=character * 255, error_message=character * 300,
            preview=acme.preview, started_at=START, finished_at=START + timedelta(days=9999),
        )  # fmt: skip
    assert_fits(api, "list_deployments", 25, 100, applicationId=acme.app.id)


def test_only_this_applications_deployments_are_listed(api: Api, acme: Fill, rival: Fill) -> None:
    other = make_app(acme.project, "other")
    make(Deployment, acme.organization, app=other, title="other")
    deployment(acme, "mine")
    assert titles(api, acme) == ["mine"]
