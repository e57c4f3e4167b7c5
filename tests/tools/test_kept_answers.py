"""Answers that are kept: who asks after a write is told what is there now, and nobody is told what is another's."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.oauthmcp import bearer
from apps.orgs import versions
from apps.orgs.callers import SCOPES, Caller
from apps.orgs.models import App, DataVersion, Deployment, Domain, EdgeFact, EdgeStatistics, Template
from apps.orgs.scope import scope_by_slug
from apps.orgs.versions import Versions
from apps.platforms.edge.rounds import probe_round
from apps.platforms.edge.targets import Outcome
from apps.platforms.snapshot.apply import apply, apply_catalogue
from apps.platforms.snapshot.base import Snapshot
from apps.tools import answers, calls
from apps.tools.base import ListTool
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import START, Fill, make, make_app
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member
from tests.operators import client_of
from tests.orgs.test_versions import WRITES
from tests.platforms.snapshots import rich
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


# What is written is seen


def ask(acme: Fill) -> dict[str, Any]:
    """What each tool answers to acme, as both doors get it."""
    scope = scope_by_slug("acme")
    assert scope
    caller = Caller(scope, None, frozenset(SCOPES), None, "tests", None)
    inputs = {"get_app_health": {"applicationId": acme.app.pk}, "list_env_vars": {"applicationId": acme.app.pk}}
    told = {name: outcome(caller, name, inputs.get(name, {})) for name in KEPT}
    return told | {"unhealthy": outcome(caller, "list_apps", {"health": "unhealthy"})}


def outcome(caller: Caller, name: str, inputs: dict[str, Any]) -> Any:
    try:
        told = json.loads(calls.answer(caller, TOOLS[name], inputs))
    except Exception as refused:
        return repr(refused)
    return {field: value for field, value in told.items() if field != "version"}


def seeing(**fields: Any) -> Any:
    told = {"reachable": True, "http_status": 200, "latency_ms": 20, "dns_status": "resolves"} | fields
    return lambda targets: [Outcome(target.key, **told) for target in targets]


def edit(acme: Fill) -> None:
    user = make_member(acme.organization).user
    user.is_staff = user.is_superuser = True
    user.save()
    template = make(Template, acme.organization, name="By hand", description="Old.")
    ask(acme)
    page = f"/admin/orgs/template/{template.pk}/change/"
    browser: Client = client_of(user)
    values = {"name": "In the admin", "description": "New.", "tags": ",", "organization": acme.organization.pk}
    assert browser.post(page, values).status_code in (200, 302)


MORE: dict[str, Callable[[Fill], object]] = {
    "a sync brings rows": lambda acme: apply(acme.platform, rich()),
    "a sync takes rows away": lambda acme: apply(acme.platform, Snapshot(), allow_deletions=True),
    "a catalogue is synced": lambda acme: apply_catalogue(Snapshot(templates=rich().templates)),
    "an operator saves a form": edit,
    "a domain is checked": lambda acme: probe_round(timezone.now(), seeing()),
    "rows are hidden": lambda acme: App.objects.filter(pk=acme.app.pk).update(hidden_at=timezone.now()),
    "health becomes another": lambda acme: EdgeFact.objects.filter(domain=acme.domain).update(http_status=503),
    "statistics change": lambda acme: EdgeStatistics.objects.filter(app=acme.app).update(uptime_24h=0.1),
    "a template is everybody's": lambda acme: Template.objects.create(name="Ours", description="Ours."),
    "much is created": lambda acme: Deployment.objects.bulk_create(
        [Deployment(organization=acme.organization, app=acme.app, title="bulk")]
    ),
    "a manifest grows old": lambda acme: apply(acme.platform, Snapshot(), allow_deletions=True, age=(START, 60)),
}  # fmt: skip


# No list of rows tells these, or nothing is another thing through them.
UNSEEN = {
    "somebody joins", "it is said by hand", "it is renamed itself", "one column is saved",
    "a platform's last sync fails",
}  # fmt: skip


@pytest.mark.parametrize("what", [*WRITES, *MORE])
def test_the_next_answer_tells_it_when(what: str, acme: Fill) -> None:
    make(Domain, acme.organization, app=make_app(acme.project, "it"), host="site.example.com", https=True)
    before = ask(acme)
    (WRITES | MORE)[what](acme)
    after = ask(acme)
    answers.cache.clear()
    assert after == ask(acme)
    assert after != before or what in UNSEEN


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


# Nobody is told what is another's


def test_organizations_and_inputs_share_nothing(api: Api, acme: Fill, rival: Fill, settings: Any) -> None:
    make_app(acme.project, "acme b")
    every = [{}, {"limit": 1}, {"query": "b"}, {"cursor": api("list_apps", limit=1)["nextCursor"]}]

    def told() -> list[Any]:
        return [[app["id"] for app in api("list_apps", **inputs)["items"]] for inputs in every[: 3 if is_rival else 4]]

    is_rival = False
    acmes = told()
    settings.LOCAL_DEV_ORG, is_rival = "rival", True
    rivals = told()
    assert not {id for ids in acmes for id in ids} & {id for ids in rivals for id in ids}
    settings.LOCAL_DEV_ORG, is_rival = "acme", False
    assert told() == acmes
    assert len({json.dumps(ids) for ids in acmes}) == 3  # the second page is what the search finds


def test_who_lacks_the_scope_is_refused_what_is_kept(api: Api, acme: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    api("list_apps")
    monkeypatch.setattr(bearer, "ALL_SCOPES", frozenset({"docs:read"}))
    assert api.post("list_apps").status_code == 403


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
    inputs = input_for(name, acme)
    monkeypatch.setattr(versions, "versions_now", lambda _: Versions(1, 0, 1))
    monkeypatch.setattr(Versions, "from_text", lambda _: Versions(1, 0, 1))
    told = api(name, **inputs)
    assert queries(api, name, **inputs) > 1
    monkeypatch.undo()
    if "version" in told:
        App.objects.filter(pk=acme.app.pk).update(status="error")  # which the replica learns at last
        assert not api(name, ifVersion=told["version"])["isUnchanged"]


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
