"""Clients that others wrote, against /mcp: from a 401 to an answer of each tool, with nothing but an address."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator

from apps.oauthmcp.models import AccessToken
from apps.orgs.callers import SCOPES
from apps.tools.registry import TOOLS
from tests.mcp_clients.client import Failed
from tests.mcp_clients.kinds import KINDS
from tests.mcp_clients.wire import Wire
from tests.oauthmcp.clients.server import Person, Server

NARROW = "account:read docs:read"
# What one program does in every run; its other revisions and ways to choose one are for make soak, and so is the
# Inspector, which starts a program for each call.
EVERY_RUN = {"mcp-auto", "sdk", "mcp-remote-auto"}


def each_client(*also: str, without: tuple[str, ...] = ()) -> pytest.MarkDecorator:
    """`also`: kinds that are in every run too."""
    marks = {kind: [pytest.mark.soak] for kind in KINDS if kind not in EVERY_RUN.union(also)}
    marks["mcp-auto"] = [pytest.mark.both_databases]
    kinds = [kind for kind in KINDS if not kind.startswith(without)]
    return pytest.mark.parametrize("kind", [pytest.param(kind, marks=marks.get(kind, [])) for kind in kinds])


def check_answer(tool: dict[str, Any], result: dict[str, Any]) -> None:
    """What is promised of each answer that is no failure."""
    assert not result.get("isError"), result
    block, *links = result["content"]
    assert block["type"] == "text"
    assert {link["type"] for link in links} <= {"resource_link"}
    assert json.loads(block["text"]) == result["structuredContent"]
    Draft202012Validator(tool["outputSchema"]).validate(result["structuredContent"])


@pytest.mark.spec("MCP 2026-07-28 Authorization", "RFC 9728 §5", "RFC 8414 §3", "RFC 7591 §3", "RFC 8707 §2")
@each_client("mcp-legacy")
def test_it_finds_its_way_in_and_calls_the_tools(server: Server, wire: Wire, tmp_path: Path, kind: str) -> None:
    person = Person(server)
    with KINDS[kind].connected(person, tmp_path) as client:
        tools = {tool["name"]: tool for tool in client.tools()}
        answers = {name: client.call(name, TOOLS[name].example.input) for name in TOOLS}
    assert list(tools) == list(TOOLS)
    for name, result in answers.items():
        check_answer(tools[name], result)
        promised = TOOLS[name].example.output
        assert bool(result["structuredContent"].get("items")) == bool(promised.get("items"))
    assert answers["get_account"]["structuredContent"]["viewer"]["email"] == server.email
    assert set(answers["get_account"]["structuredContent"]["scopes"]) == set(SCOPES)
    assert wire.revisions() == {KINDS[kind].revision}
    assert [exchange.has_token for exchange in wire.refused(401)] == [False]
    (asked,) = person.asked
    assert parse_qs(urlsplit(asked).query)["resource"] == [server.mcp]


@pytest.mark.soak
@each_client(without=("mcp-remote", "inspector"))
def test_it_reads_pages_of_the_documentation_as_resources(
    server: Server, wire: Wire, tmp_path: Path, kind: str
) -> None:
    with KINDS[kind].connected(Person(server), tmp_path) as client:
        found = client.call("search_docs", {"query": "paging", "limit": 1})
        listed = {resource["uri"]: resource for resource in client.resources()}
        whole = client.read(f"{server.url}/docs/paging")
        section = client.read(found["content"][1]["uri"])
    assert listed[f"{server.url}/docs/paging"]["title"] == "Paging"
    assert whole.startswith("# Paging\n")
    assert section in whole
    assert found["content"][1]["uri"] == found["structuredContent"]["items"][0]["url"]


@pytest.mark.spec("RFC 6749 §6", "OAuth 2.1 §4.3.1")
@each_client()
def test_it_gets_a_new_token_without_asking_anybody(server: Server, wire: Wire, tmp_path: Path, kind: str) -> None:
    person = Person(server)
    with KINDS[kind].connected(person, tmp_path) as client:
        client.tools()
        for _ in range(2):
            AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
            client.let_time_pass()
            assert not client.call("get_account", {}).get("isError")
    assert len(person.asked) == 1
    assert AccessToken.objects.count() == 3


@pytest.mark.soak
@pytest.mark.spec("RFC 6749 §6")
def test_mcp_remote_started_again_goes_on_with_what_it_has_stored(server: Server, wire: Wire, tmp_path: Path) -> None:
    person = Person(server)
    for _ in range(2):
        with KINDS["mcp-remote-auto"].connected(person, tmp_path) as client:
            assert not client.call("get_account", {}).get("isError")
        AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert len(person.asked) == 1
    assert AccessToken.objects.count() == 2


def of_scopes(scopes: str) -> list[str]:
    return [name for name, tool in TOOLS.items() if tool.scope in scopes.split()]


@pytest.mark.soak
@pytest.mark.spec("MCP 2026-07-28 Authorization, Step-Up Authorization Flow", "RFC 6750 §3.1")
@each_client(without=("sdk", "inspector"))
def test_it_asks_again_for_what_the_user_left_out(server: Server, wire: Wire, tmp_path: Path, kind: str) -> None:
    person = Person(server, [NARROW, None])
    with KINDS[kind].connected(person, tmp_path) as client:
        assert [tool["name"] for tool in client.tools()] == of_scopes(NARROW)
        assert client.call("list_apps", {})["structuredContent"]["items"]
        scopes = client.call("get_account", {})["structuredContent"]["scopes"]
        assert {*NARROW.split(), "apps:read"} <= set(scopes)
        assert [tool["name"] for tool in client.tools()] == of_scopes(" ".join(scopes))
    assert len(person.asked) == 2
    assert [exchange.method for exchange in wire.refused(403)] == ["tools/call"]


# On a 403 it exchanges its refresh token, which cannot give more than the user allowed, and asks nobody.
@pytest.mark.soak
@pytest.mark.spec("RFC 6749 §6", "RFC 6750 §3.1")
def test_the_sdk_of_1x_gives_up_on_what_the_user_left_out_and_goes_on(
    server: Server, wire: Wire, tmp_path: Path
) -> None:
    person = Person(server, [NARROW])
    with KINDS["sdk"].connected(person, tmp_path) as client:
        assert [tool["name"] for tool in client.tools()] == of_scopes(NARROW)
        with pytest.raises(Failed, match="403"):
            client.call("list_apps", {})
        assert client.call("get_account", {})["structuredContent"]["scopes"] == NARROW.split()
    assert len(wire.refused(403)) == 2


@pytest.mark.soak
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("inspector")])
def test_the_inspector_calls_only_what_is_listed(server: Server, wire: Wire, tmp_path: Path, kind: str) -> None:
    person = Person(server, [NARROW])
    with KINDS[kind].connected(person, tmp_path) as client:
        assert [tool["name"] for tool in client.tools()] == of_scopes(NARROW)
        with pytest.raises(Failed, match="list_apps"):
            client.call("list_apps", {})
    assert "tools/call" not in {exchange.method for exchange in wire.exchanges}
