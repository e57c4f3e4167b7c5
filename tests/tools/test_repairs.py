"""Every error message that a caller of tools can see, with the repair that it names: tried here, and it works.

A message without a row fails, and so does a row without a message (messages.py reads them from the code). Rows of tools
are tried at both doors, which say the same.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from apps.oauthmcp import bearer
from apps.orgs.models import Environment, Preview, Project
from apps.tools.registry import NO_SUCH_TOOL
from tests.api import Api
from tests.factories import START, Fill, make, make_app
from tests.tools.catalog.conftest import Checkout
from tests.tools.mcp.speaking import HANDSHAKE, MODERN, REQUEST, meta
from tests.tools.messages import HOLE, declared, raised
from tests.tools.provoking import (
    FINE,
    LIST_APPS,
    NOBODYS,
    World,
    a_cursor,
    at_plain_http,
    at_private_repository,
    away,
    body,
    cut_off,
    damaged,
    failing,
    first_page,
    get,
    in_a_clone,
    later,
    modern,
    named,
    narrowed,
    of_a_branch_that_is_gone,
    of_a_lost_commit,
    one_from_a_list,
    one_that_has_one,
    rpc,
    too_often,
    too_slow,
    tool,
    wide,
    with_a_commit,
    with_bearer,
    with_scope,
    without_a_commit,
    without_checkout,
    without_repository,
)

# They are about the way here, before anybody is known, or about nothing that a caller could change.
NO_REPAIR = {
    "This host name is not served here.",
    "The request cannot be read.",
    "The body is too large: ask for less at once.",
    "Pages of this site may not ask here.",
    "Something went wrong here. Quote the request id when you report it.",
    "Ask {…}: over plain http, others can read what is sent here.",
    "There is nothing at this path. See /api/v1/openapi.json.",
    "Too many searches. {…}",  # on a page, which people read
}


@dataclass
class Row:
    """`message` has holes; `wrong` provokes it; `right` does what it says, given what stands in the holes."""

    message: str
    wrong: Callable[[World], Any]
    right: Callable[..., Any]


# A row is a line.
# ruff: noqa: E501
# fmt: off
ROWS = [
    # What inputs say for themselves
    Row("This tool takes no such input: it takes {…}.", tool("list_apps", colour="red"), lambda w, names: w.call("list_apps", **dict.fromkeys({"query"} & {*names.split(", ")}, "a"))),
    Row("This is required.", tool("get_file"), get()),
    Row("This is required: list_apps tells ids.", tool("get_app_health"), lambda w: w.call("get_app_health", applicationId=w.api("list_apps")["items"][0]["id"])),
    Row("Null is not accepted: leave this out.", tool("list_apps", limit=None), LIST_APPS),
    Row("Null is not accepted: write what is asked for.", get(path=None), get()),
    Row("Write text, in quotes.", get(path=7), get(path="7")),
    Row("Write at least one character.", get(path=""), get(path="7")),
    Row("Write at most {…} characters.", tool("list_apps", query="x" * 201), lambda w, most: w.call("list_apps", query="x" * int(most))),
    Row("Write a whole number, without quotes.", tool("list_apps", limit="7"), tool("list_apps", limit=7)),
    Row("Write {…} or less.", tool("list_apps", limit=101), lambda w, most: w.call("list_apps", limit=int(most))),
    Row("Write {…} or more.", tool("list_apps", limit=0), lambda w, least: w.call("list_apps", limit=int(least))),
    Row("{…} is none of these: {…}.", tool("list_apps", status="broken"), lambda w, _, words: w.call("list_apps", status=words.split(", ")[-1])),
    Row("Write a time with its offset, such as 2026-01-31T12:00:00Z.", lambda w: w.call("list_deployments", applicationId=w.app, since="yesterday"), lambda w: w.call("list_deployments", applicationId=w.app, since="2026-01-31T12:00:00Z")),
    Row("until lies before since: exchange them.", lambda w: w.call("list_deployments", applicationId=w.app, since="2026-01-31T12:00:00Z", until="2026-01-01T12:00:00Z"), lambda w: w.call("list_deployments", applicationId=w.app, until="2026-01-31T12:00:00Z", since="2026-01-01T12:00:00Z")),
    Row("Give offset, or startLine and lines, not both: leave offset out to read by lines.", get(offset=0, lines=1), get(lines=1)),
    Row("Write 7 to 64 hexadecimal digits.", tool("list_deployments", commitSha="not a sha"), tool("list_deployments", commitSha="0a1b2c3")),
    # Ids and cursors
    Row("There is no such {…}: {…} tells ids.", tool("list_apps", projectId="prj_" + NOBODYS), lambda w, _, teller: w.call("list_apps", projectId=w.api(teller)["items"][0]["id"])),
    Row("There is no such {…}: {…} tells ids. The one of this name is {…}.", named, lambda w, _kind, _teller, found: w.call("get_app_health", applicationId=found)),
    Row("This cursor belongs to another call: pass nextCursor with the inputs that it came of, or leave cursor out.", lambda w: w.call("list_files", path="src", cursor=a_cursor(w)), lambda w: w.call("list_files", limit=1, cursor=a_cursor(w))),
    Row("The commit that this list was reading is no longer there: leave cursor out to start again.", of_a_lost_commit, tool("list_files")),
    # Repositories
    Row("This application has no repository that can be read here: list_apps tells source.repository of those that have one.", without_repository, one_that_has_one),
    Row("This application's repository is private or gone, and Porthole has no credentials that its host takes for it; an operator can connect the host: list_apps tells source.repository of those that have one.", at_private_repository, one_that_has_one),
    Row("This application's repository has no https address that can be read here: list_apps tells source.repository of those that have one.", at_plain_http, one_that_has_one),
    Row("This application's repository is the server's own checkout, and there is none: list_apps tells source.repository of those that have one.", without_checkout, one_that_has_one),
    Row("There is no such branch, tag or commit in the repository: leave ref out for {…}.", get(ref="nowhere"), get()),
    Row('The application\'s branch "{…}" is not in the repository: pass another as ref, or HEAD.', of_a_branch_that_is_gone, get(ref="HEAD")),
    Row("The repository has no commits yet: ask again when it has some.", without_a_commit, with_a_commit),
    Row("A path goes from the root, with one / between names, none of them . or .. or .git: list_files gives paths.", get(path="/README.md"), one_from_a_list),
    Row('There is nothing at this path: list_files with path "{…}" tells what is there.', get(path="src/lib/app.py"), lambda w, path: get(path=w.call("list_files", path=path).json()["items"][0]["path"])(w)),
    Row("There is nothing at this path: list_files without path tells what is.", get(path="readme.md"), tool("list_files")),
    Row("This is a directory: list_files lists it.", get(path="src"), tool("list_files", path="src")),
    Row("This is a file: get_file reads it, without a / at the end.", get(path="README.md/"), get()),
    Row("This is a symbolic link, which is not followed: get_file tells where it leads.", tool("list_files", path="link"), get(path="link")),
    Row("This is a submodule, another repository, which is not read: .gitmodules tells which.", get(path="vendored"), get(path=".gitmodules")),
    Row("Files of this kind hold secrets, and are not answered: list_env_vars tells names of variables.", get(path=".env"), lambda w: w.call("list_env_vars", applicationId=w.app)),
    Row("The file has 1 MiB or more, which is too large to answer: read it in a clone of your own.", get(path="big"), in_a_clone("big")),
    Row("To search this file for credentials takes too long, so it is not answered: read it in a clone of your own.", too_slow, in_a_clone("README.md")),
    Row("The directory is too large to answer: read it in a clone of your own.", wide, in_a_clone("wide")),
    Row("The file has {…} bytes: offset is at most that.", get(offset=99), lambda w, most: get(offset=int(most))(w)),
    Row("The offset is inside a character: pass {…}, where that starts.", get(offset=2), lambda w, start: get(offset=int(start))(w)),
    Row("The file's last line is {…}: startLine is at most that.", get(startLine=3), lambda w, last: get(startLine=int(last))(w)),
    Row("This file is no text, so it has no lines: read it by offset.", get(path="logo.png", lines=1), get(path="logo.png", offset=0)),
    # What cannot be reached
    Row("The database cannot be reached. {…}", failing(OperationalError("hunter2")), LIST_APPS),
    Row("The application's repository cannot be read at the moment.", damaged, get()),
    Row("The documentation index is being rebuilt.", away("The documentation index is being rebuilt."), tool("search_docs", query="x")),
    Row("The documentation index cannot be built at the moment.", away("The documentation index cannot be built at the moment."), tool("search_docs", query="x")),
    # Before a tool is called
    Row("Send a token: Authorization: Bearer …", with_bearer(None), FINE),
    Row("The bearer token is not valid here: get another.", with_bearer("wrong"), FINE),
    Row(NO_SUCH_TOOL, lambda w: w.api.post("list_app"), LIST_APPS),
    Row("Call a tool with POST.", lambda w: w.api.post("list_apps", method="PUT"), FINE),
    Row("Too many calls. {…}", too_often, later),
    Row("This tool needs the scope {…}: get a token that has it.", narrowed, with_scope),
    Row("Send the input as application/json.", body(b"{}", content_type="text/plain"), FINE),
    Row("Send the body with a Content-Length, not in chunks.", body(b"{}", transfer_encoding="chunked"), FINE),
    Row("Content-Length must be a number.", body(b"{}", content_length="x"), FINE),
    Row("The body may have at most 65536 bytes.", body(b" " * 65537), body(b" " * 65534 + b"{}")),
    Row("The body ended too early: send all of it.", cut_off, FINE),
    Row("The body must be a JSON object, such as {}.", body(b"[]"), FINE),
    Row("The body is not UTF-8: send it so.", body(b'{"query": "\xe9"}'), body('{"query": "é"}'.encode())),
    Row("The body is not JSON: correct line {…}, column {…}.", body(b"{,}"), FINE),
    Row("The JSON is nested too deeply: at most 32 levels are read.", body(b"[" * 99 + b"]" * 99), FINE),
    Row("A number in the JSON is too long: write a smaller one.", body(b'{"limit": ' + b"9" * 5000 + b"}"), body(b'{"limit": 9}')),
    Row("A number in the JSON is too large: write a smaller one.", body(b'{"limit": 9e999}'), body(b'{"limit": 9}')),
    Row("An object has the same key twice: leave one out.", body(b'{"limit": 9, "limit": 9}'), body(b'{"limit": 9}')),
    Row("NaN and Infinity are not JSON: write a number, or leave it out.", body(b'{"limit": NaN}'), FINE),
    Row("Text may not contain {…}: leave that out.", body(b'{"query": "\\u0000"}'), body(b'{"query": ""}')),
    # Messages at /mcp
    Row("Send messages with POST.", lambda w: w.handshake.post(REQUEST, method="PUT"), rpc()),
    Row("Send one message at a time: batches are not supported.", lambda w: w.handshake.post([REQUEST]), rpc()),
    Row("The body must be a JSON-RPC message.", lambda w: w.handshake.post("x"), rpc()),
    Row("id must be a string or a whole number of at most 64 bits.", rpc(id=1.5), rpc(id="1")),
    Row('jsonrpc must be "2.0".', rpc("jsonrpc"), rpc(jsonrpc="2.0")),
    Row("method must be a string.", rpc(method=7), rpc()),
    Row("params must be an object.", rpc(params=[]), rpc(params={})),
    Row("params._meta must be an object.", rpc(params={"_meta": 7}), rpc(params={"_meta": {}})),
    Row("There is no such method. There are {…}.", rpc(method="tools/lists"), lambda w, names: w.rpc(method=names.split(", ")[-2])),
    Row("There is no tool of this name. There are {…}.", rpc(method="tools/call", params={"name": "x"}), lambda w, names: w.rpc(method="tools/call", params={"name": names.split(", ")[0]})),
    Row("arguments must be an object.", rpc(method="tools/call", params={"name": "get_account", "arguments": 7}), rpc(method="tools/call", params={"name": "get_account", "arguments": {}})),
    Row("There is one page of tools, and no cursor leads on: leave cursor out.", rpc(params={"cursor": "x"}), rpc(params={})),
    Row("cursor must be a string.", rpc(method="resources/list", params={"cursor": 7}), rpc(method="resources/list")),
    Row("Pass nextCursor of resources/list as cursor, or none to begin.", rpc(method="resources/list", params={"cursor": "x"}), rpc(method="resources/list")),
    Row("params.uri must be a string.", rpc(method="resources/read"), first_page),
    Row("There is no such page. See resources/list, or search_docs.", rpc(method="resources/read", params={"uri": "x"}), first_page),
    Row("params.protocolVersion must be a string.", rpc(method="initialize", params={"capabilities": {}}), rpc(method="initialize", params={"protocolVersion": HANDSHAKE[0]})),
    Row("params._meta must have io.modelcontextprotocol/protocolVersion.", modern(params={"_meta": {}}), modern()),
    Row("params._meta must have io.modelcontextprotocol/clientCapabilities.", modern(params={"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}), modern(params={"_meta": meta()})),
    Row("The header {…} is missing.", modern(mcp_method=None), lambda w, name: w.mcp.send("tools/list", **{name: "tools/list"})),
    Row("The header {…} does not say what the body says.", modern(mcp_method="ping"), lambda w, name: w.mcp.send("tools/list", **{name: "tools/list"})),
    Row("This protocol version is not supported. Supported are {…}.", lambda w: w.handshake.post(REQUEST, mcp_protocol_version="1"), lambda w, versions: w.handshake.post(REQUEST, mcp_protocol_version=versions.split(", ")[-1])),
]
# fmt: on
AGAIN = r"(?: Try again in \d+ seconds?\.)?"


def pattern(message: str) -> re.Pattern[str]:
    return re.compile("(.+)".join(map(re.escape, message.split(HOLE))) + AGAIN)


def message_of(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return str(answer["error"]["message"])
    if isinstance(answer["detail"], str):
        return answer["detail"]
    (problem,) = answer["detail"]
    return str(problem["msg"])


@pytest.fixture
def world(
    api: Api,
    acme: Fill,
    rival: Fill,
    checkout: Checkout,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> World:
    return World(api, acme, rival, checkout, monkeypatch, settings)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.message[:50])
def test_what_a_message_says_to_do_works(world: World, row: Row) -> None:
    refused = row.wrong(world)
    found = pattern(row.message).fullmatch(message_of(refused.json()))
    assert found, refused.json()
    assert "hunter2" not in refused.content.decode()
    repaired = row.right(world, *found.groups())
    answer = repaired.json()
    assert repaired.status_code == 200, answer
    assert "error" not in answer


def test_every_message_has_a_row() -> None:
    assert {row.message for row in ROWS} == (raised() | declared()) - NO_REPAIR
    assert raised() >= NO_REPAIR


def told(api: Api, tool: str, **inputs: Any) -> str:
    return message_of(api.post(tool, inputs).json())  # type: ignore[attr-defined]


@pytest.mark.both_databases
def test_a_name_tells_an_id_where_one_thing_has_it(api: Api, acme: Fill, rival: Fill) -> None:
    one = make_app(acme.project, "Web Shop", slug="shop")
    for name in ("shop", "web shop", "WEB SHOP"):
        assert told(api, "get_app_health", applicationId=name).endswith(f" The one of this name is {one.id}.")
    assert told(api, "list_apps", projectId="ACME project").endswith(f"{acme.project.id}.")
    assert told(api, "list_apps", environmentId="production").endswith(f"{acme.environment.id}.")
    preview = {"applicationId": acme.app.id, "previewId": "acme-branch"}
    assert told(api, "list_deployments", **preview).endswith(f"{acme.preview.id}.")
    make(Environment, acme.organization, project=make(Project, acme.organization, name="other"), name="production")
    assert told(api, "list_apps", environmentId="production").endswith("tells ids.")
    both = {"projectId": acme.project.id, "environmentId": "production"}
    assert told(api, "list_apps", **both).endswith(f"{acme.environment.id}.")
    make_app(acme.project, "shop", slug="another")
    assert told(api, "get_app_health", applicationId="shop").endswith("tells ids.")


def test_a_name_tells_nothing_of_what_is_not_to_be_seen(
    api: Api, acme: Fill, rival: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = make_app(acme.project, "hidden", hidden_at=START)
    make(Preview, acme.organization, app=hidden, branch="of-hidden")
    for tool_, field, name in (
        ("get_app_health", "applicationId", "rival app"),
        ("get_app_health", "applicationId", rival.app.slug),
        ("get_app_health", "applicationId", "hidden"),
        ("list_apps", "projectId", "rival project"),
    ):
        assert told(api, tool_, **{field: name}).endswith("tells ids."), name
    for name in ("rival-branch", "of-hidden"):
        assert told(api, "list_deployments", applicationId=acme.app.id, previewId=name).endswith("tells ids.")
    monkeypatch.setattr(bearer, "ALL_SCOPES", frozenset({"config:read"}))
    assert told(api, "list_env_vars", applicationId="acme app").endswith("tells ids.")


def test_a_name_costs_one_query_and_a_good_id_none(api: Api, acme: Fill) -> None:
    def queries(**inputs: Any) -> int:
        with CaptureQueriesContext(connection) as found:
            api.post("get_app_health", inputs)
        return len(found)

    found = queries(applicationId="nothing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("apps.orgs.scope.id_called", lambda *_: None)
        assert queries(applicationId="nothing") == found - 1


def test_a_message_names_a_directory_only_as_far_as_it_fits(world: World) -> None:
    name = "d" * 250
    assert world.commit
    world.checkout.commit({name: {name: {name: {"f": ""}}}})
    message = message_of(world.call("list_files", path=f"{name}/{name}/{name}/x").json())
    assert f'"{name}/{name}"' in message
    assert len(message) < 1000
