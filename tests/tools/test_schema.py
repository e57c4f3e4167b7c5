"""What openapi.json promises as a document, and how it is served."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import Client

from apps.orgs.callers import SCOPES
from apps.tools.registry import TOOLS
from apps.tools.schema import build
from config import openapi
from tests.api import PREFIX, published


def schemas_in(part: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema under `part` with its path; examples are data, not schemas."""
    if isinstance(part, dict):
        if "type" in part or "$ref" in part:
            yield path, part
        for name, value in part.items():
            if name not in ("example", "examples"):
                yield from schemas_in(value, f"{path}/{name}")
    elif isinstance(part, list):
        for number, value in enumerate(part):
            yield from schemas_in(value, f"{path}/{number}")


def types_of(part: dict[str, Any]) -> list[str]:
    types = part.get("type", [])
    return types if isinstance(types, list) else [types]


def test_the_published_file_is_what_the_code_publishes():
    assert json.loads(openapi.render("http://localhost:8000")) == published()


def test_every_tool_has_a_path_and_an_operation_of_its_name():
    operations = {
        path: item["post"]["operationId"] for path, item in published()["paths"].items() if path.startswith(PREFIX)
    }
    assert operations == {PREFIX + name: name for name in TOOLS}


def test_every_oauth_endpoint_has_a_path():
    operations = {
        (path, method): operation["operationId"]
        for path, item in published()["paths"].items()
        for method, operation in item.items()
        if not path.startswith(PREFIX)
    }
    assert operations == {
        ("/api/auth/mcp/register", "post"): "register_client",
        ("/api/auth/mcp/authorize", "get"): "authorize",
        ("/api/auth/mcp/token", "post"): "issue_token",
        ("/api/auth/mcp/revoke", "post"): "revoke_token",
    }


@pytest.mark.spec("RFC 6749 §4.1")
def test_the_way_to_a_token_is_told_with_the_installations_addresses():
    document = json.loads(openapi.render("https://porthole.example.com"))
    assert document["components"]["securitySchemes"]["bearer"] == {"type": "http", "scheme": "bearer"}
    assert document["components"]["securitySchemes"]["oauth2"]["flows"] == {
        "authorizationCode": {
            "authorizationUrl": "https://porthole.example.com/api/auth/mcp/authorize",
            "tokenUrl": "https://porthole.example.com/api/auth/mcp/token",
            "refreshUrl": "https://porthole.example.com/api/auth/mcp/token",
            "scopes": SCOPES,
        }
    }
    assert b"localhost:8000" not in openapi.render("https://porthole.example.com")


@pytest.mark.parametrize("name", ["register", "token", "revoke"])
def test_an_oauth_endpoint_needs_no_token_and_tells_its_errors(name: str):
    operation = published()["paths"][f"/api/auth/mcp/{name}"]["post"]
    assert operation["security"] == []
    assert {"400", "405", "411", "413", "429", "500", "503"} <= set(operation["responses"])
    assert "Retry-After" in operation["responses"]["429"]["headers"]


@pytest.mark.parametrize("name", ["token", "revoke"])
def test_tokens_are_asked_for_with_a_form_or_with_json(name: str):
    body = published()["paths"][f"/api/auth/mcp/{name}"]["post"]["requestBody"]
    assert set(body["content"]) == {"application/x-www-form-urlencoded", "application/json"}


@pytest.mark.parametrize("name", TOOLS)
def test_a_path_tells_everything_that_can_be_answered(name: str):
    operation = published()["paths"][PREFIX + name]["post"]
    statuses = ["200", "400", "401", "403", "404", "405", "411", "413", "415", "422", "429", "500", "503"]
    assert sorted(operation["responses"]) == statuses
    assert operation["security"] == [{"bearer": []}, {"oauth2": [TOOLS[name].scope]}]
    assert TOOLS[name].scope in operation["description"]


def test_every_string_has_a_greatest_length():
    boundless = [
        path
        for path, part in schemas_in(published()["components"]["schemas"])
        if "string" in types_of(part) and not {"maxLength", "enum"} & set(part)
    ]
    assert boundless == []


def test_every_object_is_closed_but_those_that_clients_may_add_to():
    is_open = {
        path.rpartition("/")[2]
        for path, part in schemas_in(published())
        if "object" in types_of(part) and part.get("additionalProperties") is not False
    }
    # RFC 6749 §3.2, RFC 7591 §2: what is unknown in a request is ignored.
    assert is_open == {"ClientRegistration", "TokenRequest", "RevocationRequest"}


def test_inputs_carry_no_default():
    # Clients made by openapi-typescript would have to send what has a default.
    assert [path for path, part in schemas_in(published()) if "default" in part] == []


def test_no_output_can_carry_the_value_of_a_variable_or_secret():
    named = {
        property
        for path, part in schemas_in(published()["components"]["schemas"])
        for property in part.get("properties", {})
    }
    assert not [property for property in named if "value" in property.lower() or "password" in property.lower()]


def test_it_is_served_with_a_strong_etag_and_not_sent_twice():
    client = Client(headers={"host": "localhost"})
    first = client.get("/api/v1/openapi.json")
    assert first.status_code == 200
    assert first["ETag"].startswith('"')
    assert json.loads(first.content)["servers"] == [{"url": "http://localhost:8000"}]
    again = client.get("/api/v1/openapi.json", headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    changed = client.get("/api/v1/openapi.json", headers={"if-none-match": '"another"'})
    assert changed.content == first.content


def test_it_names_the_address_of_the_installation(settings: Any):
    settings.PUBLIC_URL = "https://porthole.example.com"
    document = json.loads(openapi.document()[0])
    assert document["servers"] == [{"url": "https://porthole.example.com"}]
    flow = document["components"]["securitySchemes"]["oauth2"]["flows"]["authorizationCode"]
    assert flow["tokenUrl"] == "https://porthole.example.com/api/auth/mcp/token"


@pytest.mark.parametrize("path", ["/api/v1/openapi.json", "/api/v1/docs", "/api/v1/docs/signed-in"])
def test_it_is_only_read(path: str):
    response = Client(headers={"host": "localhost"}).post(path)
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert response.json()["code"] == "method_not_allowed"


def test_two_who_ask_at_once_get_the_same_document() -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: build(), range(2))
    assert first == second == build()
