"""An application that is hidden does not exist for any tool, nor does anything that belongs to it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from apps.orgs.models import App, Deployment
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import Fill, make, make_app

OF_AN_APP = [name for name, tool in TOOLS.items() if "applicationId" in tool.input.fields]
OTHERS = [name for name in TOOLS if name not in OF_AN_APP]


@pytest.fixture
def hidden(acme: Fill) -> Fill:
    """Acme, whose one application is hidden."""
    acme.app.hidden_at, acme.app.source_type, acme.app.repository = timezone.now(), "git", "local:checkout"
    acme.app.save()
    make(Deployment, acme.organization, app=acme.app, preview=acme.preview, is_preview=True, title="acme previews")
    return acme


def inputs(name: str, fill: Fill) -> Iterator[dict[str, Any]]:
    """What the tool needs; that with each single further input; and with all that name a row."""
    ids = {
        "applicationId": fill.app.id, "projectId": fill.project.id, "environmentId": fill.environment.id,
        "previewId": fill.preview.id,
    }  # fmt: skip
    fields, example = TOOLS[name].input.fields, TOOLS[name].example.input
    words = ids | {"query": "acme"}
    needed = {field: words.get(field, example.get(field)) for field in fields if fields[field].required}
    if "applicationId" in fields:
        needed["applicationId"] = fill.app.id
    yield needed
    yield needed | {field: id for field, id in ids.items() if field in fields}
    for field, kind in fields.items():
        for value in getattr(kind, "choices", [words[field]] if field in words else []):
            yield needed | {field: value}


def names_something_of(fill: Fill, answer: str) -> list[str]:
    gone = [row.id for row in (fill.app, fill.preview, fill.domain, fill.deployment, fill.variable)]
    words = [fill.app.name, fill.domain.host, fill.deployment.title, fill.preview.branch, fill.variable.name]
    return [word for word in (*gone, *words) if word in answer]


@pytest.mark.parametrize("name", OF_AN_APP)
def test_it_is_not_found(api: Api, hidden: Fill, name: str) -> None:
    nobodys = {"applicationId": "app_" + "0" * 26}
    for sent in inputs(name, hidden):
        response = api.post(name, sent)
        assert response.status_code == 422
        assert response.json()["detail"] == api.post(name, sent | nobodys).json()["detail"]


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_of_it_is_in_any_answer(api: Api, hidden: Fill, name: str) -> None:
    for sent in inputs(name, hidden):
        response = api.post(name, sent)
        assert response.status_code == 200, sent
        assert names_something_of(hidden, json.dumps(response.json())) == []


@pytest.mark.parametrize("name", [name for name in OF_AN_APP if "previewId" in TOOLS[name].input.fields])
def test_its_previews_are_not_found_with_another_application(api: Api, hidden: Fill, name: str) -> None:
    other = make_app(hidden.project, "other")
    theirs = {"applicationId": other.id, "previewId": hidden.preview.id}
    assert api.refused(name, **theirs) == [("previewId", "not_found")]


def test_it_is_not_counted(api: Api, hidden: Fill) -> None:
    resources = api("get_account")["resources"]
    assert (resources["apps"]["total"], sum(resources["apps"]["byStatus"].values())) == (0, 0)
    assert (resources["domains"], resources["previews"], resources["deploymentsLast30Days"]) == (0, 0, 0)
    assert (resources["projects"], api("list_projects")["items"][0]["appCount"]) == (1, 0)


def test_a_walk_goes_on_without_it(api: Api, acme: Fill) -> None:
    later = [make_app(acme.project, f"b{number}") for number in range(3)]
    first = api("list_apps", limit=1)
    App.objects.filter(pk__in=[acme.app.pk, later[0].pk]).update(hidden_at=timezone.now())
    rest = api("list_apps", limit=100, cursor=first["nextCursor"])["items"]
    assert [app["id"] for app in rest] == [later[1].id, later[2].id]


@pytest.mark.parametrize("name", ["list_domains", "list_previews", "list_deployments", "list_env_vars", "list_apps"])
def test_all_of_it_is_there_again_when_it_returns(api: Api, hidden: Fill, name: str) -> None:
    App.objects.filter(pk=hidden.app.pk).update(hidden_at=None)
    assert names_something_of(hidden, json.dumps(api(name, **next(inputs(name, hidden))))) != []
