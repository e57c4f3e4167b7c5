"""get_app_health. How facts are judged: tests/orgs/test_health.py."""

from datetime import timedelta
from typing import Any

import pytest

from apps.orgs.models import Deployment, Domain, EdgeStatistics, RuntimeFact
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import START, Fill, make, make_app, make_edge
from tests.tools.catalog.contract import WIDEST, notation


def test_it_answers_what_the_contract_says() -> None:
    assert notation(TOOLS["get_app_health"].Output) == (
        "{applicationId,name,status:idle|deploying|deployed|error|unknown,"
        "health:healthy|degraded|down|deploying|unknown,reasons[],"
        "lastDeployment{id,status:queued|building|succeeded|failed|cancelled|unknown,title,commitSha?,"
        "createdAt,finishedAt?,errorMessage?}?,"
        "edge{status:up|degraded|down|unknown,checkedAt?,isStale,domains[{host,reachable,httpStatus?,latencyMs?,"
        "tls{issuer,notAfter,daysLeft}?,dnsStatus:resolves|unresolved|unknown,error?,checkedAt}],"
        "uptime24h?,latencyP50Ms?,latencyP95Ms?},"
        "runtime{desiredReplicas?,runningReplicas?,instances[{state,since?,message?}],checkedAt}?,syncedAt?}"
    )


def test_everything_that_is_known_of_an_applications_health(api: Api, acme: Fill, stop: Any) -> None:
    acme.app.status = "deployed"
    acme.app.save()
    EdgeStatistics.objects.update(latency_p50_ms=10, latency_p95_ms=90)
    assert api("get_app_health", applicationId=acme.app.id) == {
        "applicationId": acme.app.id,
        "name": "acme app",
        "status": "deployed",
        "health": "healthy",
        "reasons": ["Running instances: 1 of 1.", "Every domain that was looked at answered."],
        "lastDeployment": {
            "id": acme.deployment.id,
            "status": "succeeded",
            "title": "acme deploys",
            "commitSha": None,
            "createdAt": "2026-03-01T12:00:00.000Z",
            "finishedAt": None,
            "errorMessage": None,
        },
        "edge": {
            "status": "up",
            "checkedAt": "2026-03-01T12:00:00.000Z",
            "isStale": False,
            "domains": [
                {
                    "host": "acme.example.com",
                    "reachable": True,
                    "httpStatus": 200,
                    "latencyMs": 12,
                    "tls": {"issuer": "Test CA", "notAfter": "2036-02-27T12:00:00.000Z", "daysLeft": 3650},
                    "dnsStatus": "resolves",
                    "error": None,
                    "checkedAt": "2026-03-01T12:00:00.000Z",
                }
            ],
            "uptime24h": 0.99,
            "latencyP50Ms": 10,
            "latencyP95Ms": 90,
        },
        "runtime": {
            "desiredReplicas": 1,
            "runningReplicas": 1,
            "instances": [{"state": "running", "since": "2026-03-01T12:00:00.000Z", "message": None}],
            "checkedAt": "2026-03-01T12:00:00.000Z",
        },
        "syncedAt": "2026-03-01T12:00:00.000Z",
    }


def test_without_facts_health_is_unknown_and_says_so(api: Api, acme: Fill) -> None:
    app = make_app(acme.project, "bare", status="deployed")
    make(Deployment, acme.organization, app=app, title="x", status="succeeded")
    answer = api("get_app_health", applicationId=app.id)
    assert (answer["status"], answer["health"], answer["runtime"]) == ("deployed", "unknown", None)
    assert answer["reasons"] == [
        "Nothing recent is stored that tells whether it works; a deploy status is not health.",
        "It has no domain to look at.",
    ]
    assert answer["edge"] == {
        "status": "unknown",
        "checkedAt": None,
        "isStale": False,
        "domains": [],
        "uptime24h": None,
        "latencyP50Ms": None,
        "latencyP95Ms": None,
    }


def test_nothing_at_all_is_an_answer_too(api: Api, acme: Fill, rival: Fill) -> None:
    acme.organization.synced_at = None
    acme.organization.save()
    app = make_app(acme.project, "new")
    answer = api("get_app_health", applicationId=app.id)
    assert (answer["lastDeployment"], answer["runtime"], answer["syncedAt"]) == (None, None, None)


def test_the_last_deployment_is_the_newest_that_is_no_previews(api: Api, acme: Fill) -> None:
    for minutes, preview in ((1, None), (2, None), (3, acme.preview)):
        newest = make(
            Deployment, acme.organization, app=acme.app, title="x", status="cancelled", preview=preview,
            is_preview=preview is not None, created_at=START + timedelta(minutes=minutes),
            finished_at=START + timedelta(minutes=9),
        )  # fmt: skip
    last = api("get_app_health", applicationId=acme.app.id)["lastDeployment"]
    assert last["id"] != newest.id
    assert (last["createdAt"], last["finishedAt"]) == ("2026-03-01T12:02:00.000Z", "2026-03-01T12:09:00.000Z")


def test_a_certificate_that_has_expired_has_less_than_no_days_left(api: Api, acme: Fill, stop: Any) -> None:
    domain = acme.domain
    domain.edge.delete()
    make_edge(domain, tls_issuer="CA", tls_not_after=START - timedelta(hours=1), tls_is_valid=False)
    (found,) = api("get_app_health", applicationId=acme.app.id)["edge"]["domains"]
    assert found["tls"] == {"issuer": "CA", "notAfter": "2026-03-01T11:00:00.000Z", "daysLeft": -1}


def test_of_many_domains_20_are_shown_with_those_in_trouble_first(api: Api, acme: Fill) -> None:
    for number in range(25):
        domain = make(Domain, acme.organization, app=acme.app, host=f"{number:02}.example.com", https=True)
        make_edge(domain, reachable=number != 24, http_status=None)
    answer = api("get_app_health", applicationId=acme.app.id)
    hosts = [domain["host"][:2] for domain in answer["edge"]["domains"]]
    assert hosts == ["24", *(f"{number:02}" for number in range(19))]
    assert (answer["health"], answer["edge"]["status"]) == ("degraded", "degraded")
    assert "24.example.com did not answer." in answer["reasons"]


def test_there_are_at_most_20_reasons(api: Api, acme: Fill) -> None:
    for number in range(30):
        domain = make(Domain, acme.organization, app=acme.app, host=f"{number:02}.example.com", https=True)
        make_edge(domain, reachable=False, tls_is_valid=False)
    answer = api("get_app_health", applicationId=acme.app.id)
    assert len(answer["reasons"]) == 20
    assert answer["reasons"][0] == "00.example.com did not answer."


@pytest.mark.parametrize("character", WIDEST)
def test_the_longest_answer_fits(api: Api, acme: Fill, character: str) -> None:
    acme.app.name = character * 200
    acme.app.save()
    for number in range(25):
        domain = make(
            Domain, acme.organization, app=acme.app, host=f"{number:02}".rjust(253, "h"), path="/" + character * 499,
            https=True,
        )  # fmt: skip
        make_edge(
            domain, reachable=False, http_status=599, latency_ms=2**31 - 1, tls_issuer=character * 200,
            tls_not_after=START, tls_is_valid=False, error=character * 300,
        )  # fmt: skip
    instance = {"state": character * 50, "since": "2026-03-01T12:00:00.000Z", "message": character * 300}
    RuntimeFact.objects.filter(app=acme.app).update(instances=[instance] * 20)
    response = api.post("get_app_health", {"applicationId": acme.app.id})
    assert response.status_code == 200
    assert len(response.content) <= 64 * 1024
    answer = response.json()
    assert len(answer["edge"]["domains"]) >= 5
    assert len(answer["runtime"]["instances"]) >= 5
    assert len(answer["reasons"]) >= 3


def test_another_organizations_application_is_not_found(api: Api, acme: Fill, rival: Fill) -> None:
    for id in (rival.app.id, acme.project.id, "app_" + "0" * 26):
        assert api.refused("get_app_health", applicationId=id) == [("applicationId", "not_found")]
