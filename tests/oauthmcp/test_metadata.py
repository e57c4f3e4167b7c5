"""What a client reads to learn how to get a token for a door."""

from typing import Any

import pytest
from django.test import Client

from apps.tools.base import SCOPES


@pytest.mark.spec("RFC 9728 §3.1")
@pytest.mark.parametrize("door", ["", "/mcp", "/api/v1"])
def test_every_door_has_its_document(client: Client, settings: Any, door: str) -> None:
    settings.PUBLIC_URL = "https://porthole.example.com"
    response = client.get(f"/.well-known/oauth-protected-resource{door}")
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    document = response.json()
    assert document["resource"] == f"https://porthole.example.com{door}"
    assert document["scopes_supported"] == list(SCOPES)
    assert document["bearer_methods_supported"] == ["header"]


def test_a_refused_call_names_a_document_that_is_there(client: Client, db: None, settings: Any) -> None:
    challenge = client.post("/api/v1/tools/list_apps")["WWW-Authenticate"]
    address = challenge.split('resource_metadata="')[1].split('"')[0]
    assert address.startswith(settings.PUBLIC_URL)
    document = client.get(address.removeprefix(settings.PUBLIC_URL)).json()
    assert document["resource"] == f"{settings.PUBLIC_URL}/api/v1"


@pytest.mark.parametrize("path", ["/", "/nothing", "/mcp/", "/api/v1/", "/api/v1/tools", "x"])
def test_other_doors_have_none(client: Client, path: str) -> None:
    assert client.get(f"/.well-known/oauth-protected-resource{path}").status_code == 404


@pytest.mark.parametrize("path", ["", "/mcp", "/api/v1"])
def test_every_site_may_read_it_without_credentials(client: Client, path: str) -> None:
    headers = {"origin": "https://anywhere.example"}
    for response in (
        client.get(f"/.well-known/oauth-protected-resource{path}", headers=headers),
        client.options(f"/.well-known/oauth-protected-resource{path}", headers=headers),
    ):
        assert response.status_code in (200, 204)
        assert response["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in response


def test_it_is_only_read(client: Client) -> None:
    assert client.head("/.well-known/oauth-protected-resource").status_code == 200
    assert client.post("/.well-known/oauth-protected-resource").status_code == 405


def test_it_tells_nothing_at_an_unknown_host(client: Client) -> None:
    response = client.get("/.well-known/oauth-protected-resource", headers={"host": "evil.example"})
    assert response.status_code == 400
