"""Answers that are kept: what asking again costs, what is never kept, and what was read has to be of its versions."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.orgs.callers import Caller
from apps.orgs.models import App, DataVersion
from apps.orgs.versions import versions_now
from apps.tools import answers
from apps.tools.base import ListTool
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import Fill, make_app
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member
from tests.tools.test_every_tool import input_for

KEPT = [name for name, tool in TOOLS.items() if tool.versions]
LISTS = [name for name in KEPT if isinstance(TOOLS[name], ListTool)]


def test_what_reads_something_else_than_rows_is_not_kept() -> None:
    assert set(TOOLS) - set(KEPT) == {"get_account", "get_file", "list_files", "search_docs"}
    assert not any(tool.versions and tool.depends_on_caller for tool in TOOLS.values())


def queries(api: Api, name: str, **inputs: Any) -> int:
    with CaptureQueriesContext(connection) as captured:
        api(name, **inputs)
    return len(captured)


@pytest.mark.parametrize("name", KEPT)
def test_who_asks_again_costs_no_query_but_the_bearers(api: Api, acme: Fill, name: str) -> None:
    inputs = input_for(name, acme)
    first = api(name, **inputs)
    assert queries(api, name, **inputs) == 1
    assert api(name, **inputs) == first


def test_what_sql_wrote_is_told_after_it_was_said(api: Api, acme: Fill) -> None:
    def write(table: str, value: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"UPDATE {table} SET description = %s", [value])

    def told(name: str) -> Any:
        return {item["description"] for item in api(name)["items"]}

    for table, name, argument in (
        ("orgs_app", "list_apps", "acme"),
        ("orgs_template", "list_templates", "--catalogue"),
    ):
        old = told(name)
        write(table, "By hand.")
        assert told(name) == old
        call_command("invalidate", argument, stdout=StringIO())
        assert told(name) == {"By hand."}


def test_an_account_is_told_to_each_token_by_itself(api: Api, acme: Fill) -> None:
    members = [make_member(acme.organization, email) for email in ("ada@example.com", "bob@example.com")]
    tokens = [make_access_token(make_authorization(make_client(), member)) for member in members]
    told = [Api(bearer=token)("get_account")["viewer"]["email"] for token in (*tokens, *tokens)]
    assert told == ["ada@example.com", "bob@example.com"] * 2


def test_an_organization_whose_id_comes_again_is_told_anew(api: Api, acme: Fill) -> None:
    """As the demo's does: its ids follow from its name."""
    row = App.objects.filter(pk=acme.app.pk)
    for status in ("error", "idle"):
        DataVersion.objects.filter(organization=acme.organization).delete()
        row.update(status=status)
        assert api("list_apps")["items"][0]["status"] == status


def test_refusals_are_not_kept(api: Api, acme: Fill) -> None:
    id = "app_" + "7" * 26
    assert api.refused("get_app_health", applicationId=id) == [("applicationId", "not_found")]
    make_app(acme.project, "late", id=id)
    assert api("get_app_health", applicationId=id)["name"] == "late"


def test_how_old_it_is_is_told_anew(api: Api, acme: Fill) -> None:
    before = api("list_apps")
    type(acme.organization).objects.update(synced_at=None)
    with CaptureQueriesContext(connection) as captured:
        assert api("list_apps") == before | {"syncedAt": None}
    assert len(captured) == 1


# What was read has to be of the versions that the bearer check saw


@pytest.mark.parametrize("name", KEPT)
def test_the_last_statement_of_a_call_tells_of_which_versions_it_is(api: Api, acme: Fill, name: str) -> None:
    api(name, **input_for(name, acme))  # after that an organization's platforms are remembered
    answers.cache.clear()
    with CaptureQueriesContext(connection) as captured:
        api(name, **input_for(name, acme))
    are_told = ["checks_version" in query["sql"] for query in captured]
    assert are_told[-1]
    assert not any(are_told[1:-1])  # or what the last one reads would be taken for what an earlier one saw


def test_where_no_row_tells_it_the_versions_are_asked(api: Api, acme: Fill) -> None:
    with CaptureQueriesContext(connection) as captured:
        told = api("list_deployments", branch="none")
        assert told["items"] == []
    assert captured[-1]["sql"].startswith("SELECT v.data_version")
    assert queries(api, "list_deployments", branch="none") == 1


@pytest.mark.parametrize("name", ["list_apps", "get_app_health"])
def test_what_a_replica_tells_that_is_behind_is_not_kept(
    api: Api, acme: Fill, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    inputs, tool, behind = input_for(name, acme), TOOLS[name], []

    def ahead(caller: Caller, asked: dict[str, Any]) -> Any:
        behind.append((versions_now(acme.organization.pk), type(tool).call(tool, caller, asked)))
        return behind[0][1]

    def lagging(caller: Caller, asked: dict[str, Any]) -> Any:
        caller.org.reading.saw(behind[0][0])
        return behind[0][1]

    monkeypatch.setattr(tool, "call", ahead)
    api(name, **inputs)
    App.objects.filter(pk=acme.app.pk).update(status="error")
    monkeypatch.setattr(tool, "call", lagging)
    stale = api(name, **inputs)
    monkeypatch.undo()
    assert '"status": "error"' not in json.dumps(stale)
    if "version" in stale:
        assert not api(name, **inputs, ifVersion=stale["version"])["isUnchanged"]
    assert '"status": "error"' in json.dumps(api(name, **inputs))


def test_a_write_between_the_bearers_check_and_the_end_of_the_reading_is_noticed(
    api: Api, acme: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = type(TOOLS["list_apps"]).run

    def run_and_write(*args: Any, **kwargs: Any) -> Any:
        told = run(*args, **kwargs)
        App.objects.filter(pk=acme.app.pk).update(status="error")
        return told

    monkeypatch.setattr(type(TOOLS["list_apps"]), "run", run_and_write)
    stale = api("list_apps")
    monkeypatch.setattr(type(TOOLS["list_apps"]), "run", run)
    now = api("list_apps", ifVersion=stale["version"])
    assert (now["isUnchanged"], now["items"][0]["status"]) == (False, "error")
