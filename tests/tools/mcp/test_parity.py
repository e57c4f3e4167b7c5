"""Both doors say the same: every tool, every example, every error, and the schemas that they publish."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from jsonschema import Draft202012Validator

from apps.oauthmcp import bearer
from apps.orgs.callers import SCOPES
from apps.sources.git import stamps
from apps.tools.base import ListTool
from apps.tools.registry import TOOLS
from apps.web.exceptions import Unavailable
from tests.api import PREFIX, Api, published
from tests.factories import Fill
from tests.tools.mcp.speaking import VERSIONS, Mcp, failure
from tests.tools.test_every_tool import input_for
from tests.tools.test_examples import DEMO_DAY

NOBODYS = "app_" + "0" * 26
# Of tools/list: agents pay for every byte of it. A tool more may add what a tool costs, until the whole is too long.
MAX_LIST_BYTES, MAX_TOOL_BYTES = 30_000, 2_192


def pair(bearer: str | None) -> tuple[Api, list[Mcp]]:
    """The same token at both doors."""
    return Api(bearer), [Mcp(bearer, version) for version in VERSIONS]


def answers_are_equal(api: Api, mcps: list[Mcp], tool: str, data: Any) -> Any:
    """What HTTP answers, after a look that MCP says the same in every revision."""
    response = api.post(tool, data)
    body = response.json()  # type: ignore[attr-defined]
    for mcp in mcps:
        result = mcp("tools/call", name=tool, arguments=data)
        if response.status_code == 200:
            assert "isError" not in result
            assert result["structuredContent"] == body
            block, *_ = result["content"]
            assert block["type"] == "text"
            assert json.loads(block["text"]) == body
        else:
            waits = {"retryAfterSeconds": int(response["Retry-After"])} if "Retry-After" in response else {}
            assert failure(result) == {"code": body["code"], "detail": body["detail"]} | waits
    return body


@pytest.fixture
def demo(db: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[str]:
    """The bearer of the demo organization, which every example is about."""
    monkeypatch.setattr(timezone, "now", lambda: DEMO_DAY)
    monkeypatch.setattr(stamps, "now", DEMO_DAY.timestamp)  # a checkout is read when it is asked for
    call_command("load_demo", verbosity=0)
    return settings.LOCAL_DEV_BEARER


def test_every_example_is_answered_alike(demo: str) -> None:
    api, mcps = pair(demo)
    listed = {tool["name"]: tool for tool in mcps[0]("tools/list")["tools"]}
    for name, tool in TOOLS.items():
        body = answers_are_equal(api, mcps, name, tool.example.input)
        assert "code" not in body
        Draft202012Validator(listed[name]["inputSchema"]).validate(tool.example.input)
        Draft202012Validator(listed[name]["outputSchema"]).validate(body)


def test_every_page_of_a_list_is_answered_alike(demo: str) -> None:
    api, mcps = pair(demo)
    for name, tool in TOOLS.items():
        if not isinstance(tool, ListTool):
            continue
        data: dict[str, Any] = tool.example.input | {"limit": 1}
        first = answers_are_equal(api, mcps, name, data)
        if first["nextCursor"]:
            second = answers_are_equal(api, mcps, name, data | {"cursor": first["nextCursor"]})
            assert second["items"] != first["items"]


@pytest.fixture
def doors(api: Api) -> tuple[Api, list[Mcp]]:
    return pair(api.bearer)


WRONG: list[Any] = [None, True, "7", 7.5, -1, [], {}, {"a": 1}, 2**70, "x" * 9000]


@pytest.mark.parametrize("name", TOOLS)
def test_every_error_of_an_input_is_told_alike(doors: tuple[Api, list[Mcp]], acme: Fill, name: str) -> None:
    inputs = input_for(name, acme)
    unknown = answers_are_equal(*doors, name, inputs | {"colour": "red"})
    assert [problem["type"] for problem in unknown["detail"]] == ["unknown_key"]
    fields = TOOLS[name].input.fields
    for field in fields:
        for value in WRONG:
            answers_are_equal(*doors, name, inputs | {field: value})
    if any(field.required for field in fields.values()):
        assert answers_are_equal(*doors, name, {})["code"] == "invalid_input"
    if isinstance(TOOLS[name], ListTool):
        told = answers_are_equal(*doors, name, inputs | {"cursor": "made-up"})
        assert told["code"] in ("invalid_input", "unavailable")
        assert name == "list_files" or [problem["type"] for problem in told["detail"]] == ["bad_cursor"]


@pytest.mark.parametrize("name", [name for name in TOOLS if "applicationId" in TOOLS[name].input.fields])
def test_what_is_not_there_is_told_alike(doors: tuple[Api, list[Mcp]], acme: Fill, rival: Fill, name: str) -> None:
    for id in (NOBODYS, rival.app.id, acme.project.id, "x"):
        told = answers_are_equal(*doors, name, input_for(name, acme) | {"applicationId": id})
        assert [problem["type"] for problem in told["detail"]] == ["not_found"]


def test_other_ids_that_name_nothing_are_told_alike(doors: tuple[Api, list[Mcp]], acme: Fill, rival: Fill) -> None:
    for name, data in (
        ("list_apps", {"projectId": rival.project.id}),
        ("list_apps", {"environmentId": rival.environment.id}),
        ("list_org_secrets", {"projectId": rival.project.id}),
        ("list_deployments", {"applicationId": acme.app.id, "previewId": rival.preview.id}),
    ):
        told = answers_are_equal(*doors, name, data)
        assert [problem["type"] for problem in told["detail"]] == ["not_found"]


@pytest.mark.parametrize(
    ("name", "data", "type"),
    [
        ("get_file", {"path": "missing"}, "path_not_found"),
        ("get_file", {"path": "apps"}, "is_directory"),
        ("get_file", {"path": ".env"}, "secret_file"),
        ("get_file", {"path": "README.md", "ref": "nowhere"}, "ref_not_found"),
        ("get_file", {"path": "README.md", "offset": 1000}, "out_of_range"),
        ("list_files", {"path": "missing"}, "path_not_found"),
        ("list_files", {"path": "README.md"}, "not_a_directory"),
        ("list_files", {"cursor": "made-up"}, "bad_cursor"),
    ],
)
def test_files_that_are_not_answered_are_told_alike(
    doors: tuple[Api, list[Mcp]], acme: Fill, checkout: Any, name: str, data: dict[str, Any], type: str
) -> None:
    checkout.commit({"README.md": "# Shop\n", ".env": "SECRET=hunter2", "apps": {"main.py": "print()\n"}})
    told = answers_are_equal(*doors, name, {"applicationId": acme.app.id} | data)
    assert [problem["type"] for problem in told["detail"]] == [type]


@pytest.mark.parametrize("name", ["list_files", "get_file"])
def test_an_application_without_a_repository_is_told_alike(doors: tuple[Api, list[Mcp]], acme: Fill, name: str) -> None:
    told = answers_are_equal(*doors, name, input_for(name, acme))
    assert [problem["type"] for problem in told["detail"]] == ["no_repository"]


@pytest.mark.parametrize("name", TOOLS)
def test_a_source_that_is_away_is_told_alike(
    doors: tuple[Api, list[Mcp]], acme: Fill, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: Any, **__: Any) -> None:
        raise Unavailable("The repository cannot be reached.")

    monkeypatch.setattr(type(TOOLS[name]), "run", run)
    told = answers_are_equal(*doors, name, input_for(name, acme))
    assert (told["code"], told["detail"]) == (
        "unavailable",
        "The repository cannot be reached. Try again in 10 seconds.",
    )


# What is published


def resolved(schema: Any) -> Any:
    """openapi.json's schema with the target of each $ref beside what stands there."""
    if isinstance(schema, list):
        return [resolved(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    whole = dict(schema)
    while "$ref" in whole:
        target: Any = published()
        for step in whole.pop("$ref").removeprefix("#/").split("/"):
            target = target[step]
        whole = target | whole
    return {word: resolved(value) for word, value in whole.items()}


def facts(schema: dict[str, Any], path: str = "answer") -> Iterator[tuple[str, str, Any]]:
    """What a resolved schema says, however it says it: (path, "type" | "words" | "names" | "required", what).

    null is one of the types, as `oneOf` may say, too; an enumeration has the types of its words.
    """
    parts = parts_of(schema)
    types = {type for part in parts for type in types_of(part)}
    yield path, "type", types
    for part in parts:
        if "enum" in part:
            yield path, "words", part["enum"]
        if "object" in types_of(part):
            yield path, "names", set(part["properties"])
            yield path, "required", set(part["required"])
            for name, member in part["properties"].items():
                yield from facts(member, f"{path}.{name}")
        if "array" in types_of(part):
            yield from facts(part["items"], f"{path}[]")


def parts_of(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """A schema, or those that it puts together."""
    inner = [member for word in ("allOf", "anyOf", "oneOf") for member in schema.get(word, [])]
    return [part for member in inner for part in parts_of(member)] or [schema]


def types_of(part: dict[str, Any]) -> list[str]:
    if "type" in part:
        return part["type"] if isinstance(part["type"], list) else [part["type"]]
    return sorted({"null" if word is None else {str: "string", int: "integer"}[type(word)] for word in part["enum"]})


def words_in(schema: Any) -> set[str]:
    """Every keyword that a schema has; names of properties are none."""
    if isinstance(schema, list):
        return set().union(*map(words_in, schema))
    if not isinstance(schema, dict):
        return set()
    inner = [words_in(list(value.values()) if word == "properties" else value) for word, value in schema.items()]
    return set(schema).union(*inner)


def objects_in(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if "properties" in schema or "object" in schema.get("type", []):
            yield schema
        for member in schema.values():
            yield from objects_in(member)
    elif isinstance(schema, list):
        for member in schema:
            yield from objects_in(member)


@pytest.fixture
def entries(modern: Mcp) -> dict[str, Any]:
    return {tool["name"]: tool for tool in modern("tools/list")["tools"]}


def test_schemas_are_those_of_the_openapi_document(entries: dict[str, Any]) -> None:
    for name, entry in entries.items():
        operation = published()["paths"][PREFIX + name]["post"]
        taken = operation["requestBody"]["content"]["application/json"]["schema"]
        given = operation["responses"]["200"]["content"]["application/json"]["schema"]
        assert entry["inputSchema"] == resolved(taken), name
        assert [*facts(entry["outputSchema"])] == [*facts(resolved(given))], name


def test_schemas_of_answers_have_nothing_that_no_client_acts_on(entries: dict[str, Any]) -> None:
    for entry in entries.values():
        assert words_in(entry["outputSchema"]) <= {"type", "properties", "required", "items", "enum"}


def test_schemas_are_whole_and_inputs_closed(entries: dict[str, Any]) -> None:
    for entry in entries.values():
        for schema in (entry["inputSchema"], entry["outputSchema"]):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert "$ref" not in json.dumps(schema)
        taken = objects_in(entry["inputSchema"])
        assert [part for part in taken if part.get("additionalProperties") is not False] == []


def test_a_tool_is_told_with_its_own_words_and_hints(entries: dict[str, Any]) -> None:
    assert [*entries] == [*TOOLS] == sorted(TOOLS)
    for name, entry in entries.items():
        assert set(entry) == {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}
        assert entry["description"] == TOOLS[name].description
        assert entry["title"].lower() == name.replace("_", " ")
        assert entry["annotations"] == {
            "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False,
        }  # fmt: skip


def test_titles_are_spelled_as_people_do(entries: dict[str, Any]) -> None:
    assert entries["list_apps"]["title"] == "List apps"


def test_the_whole_list_stays_small_enough_for_those_who_pay_by_the_word(mcp: Mcp) -> None:
    assert len(mcp.send("tools/list").content) <= min(MAX_LIST_BYTES, MAX_TOOL_BYTES * len(TOOLS))


def test_the_order_is_the_same_each_time(mcp: Mcp) -> None:
    assert mcp.send("tools/list").json()["result"] == mcp.send("tools/list").json()["result"]


@pytest.mark.parametrize("scope", SCOPES)
def test_only_tools_that_the_token_may_call_are_listed(mcp: Mcp, scope: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bearer, "ALL_SCOPES", frozenset({scope}))
    listed = [tool["name"] for tool in mcp("tools/list")["tools"]]
    assert listed == [name for name in TOOLS if TOOLS[name].scope == scope]
    assert listed


@pytest.mark.parametrize("cursor", ["", "x", "made-up", 7, None])
def test_no_cursor_leads_to_more_tools(mcp: Mcp, cursor: Any) -> None:
    assert "nextCursor" not in mcp("tools/list")
    assert mcp.error("tools/list", {"cursor": cursor}) == (200, -32602)
