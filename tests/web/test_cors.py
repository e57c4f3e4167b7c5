"""Which other sites' pages may read answers."""

from typing import Any

import pytest
from django.test import Client

from tests.api import Api

TOOL = "/api/v1/tools/list_apps"
APP, EVIL, LOCAL = "https://app.example.com", "https://evil.example", "http://localhost:3000"


@pytest.fixture
def public(settings: Any) -> Client:
    """Porthole in production, where one other site is allowed."""
    settings.PORTHOLE_ENV, settings.IS_LOCAL = "production", False
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = "https://porthole.example.com", ["porthole.example.com"]
    settings.ALLOWED_ORIGINS = ["https://porthole.example.com", APP]
    return Client(headers={"host": "porthole.example.com"})


def preflight(client: Client, path: str, origin: str, method: str = "POST") -> Any:
    headers = {
        "origin": origin, "access-control-request-method": method,
        "access-control-request-headers": "authorization,content-type",
    }  # fmt: skip
    return client.options(path, headers=headers)


@pytest.mark.parametrize("path", [TOOL, "/api/v1/tools/no_such_tool", "/api/v1/nothing", "/mcp"])
def test_an_allowed_site_may_ask(public: Client, path: str) -> None:
    response = preflight(public, path, APP)
    assert (response.status_code, response.content) == (204, b"")
    assert response["Access-Control-Allow-Origin"] == APP
    assert "POST" in response["Access-Control-Allow-Methods"]
    assert {"authorization", "content-type"} <= set(response["Access-Control-Allow-Headers"].lower().split(", "))
    assert "Access-Control-Allow-Credentials" not in response
    assert "Origin" in response["Vary"]


def test_our_own_pages_may_ask(public: Client) -> None:
    assert preflight(public, TOOL, "https://porthole.example.com")["Access-Control-Allow-Origin"]


@pytest.mark.parametrize(
    "origin",
    [
        EVIL, LOCAL, "null", "", "*", "http://app.example.com", "https://app.example.com:8443", "https://app.example.com.evil",
        "https://APP.example.com", "https://evilapp.example.com", "https://app.example.com/", "https://a@app.example.com",
    ],
)  # fmt: skip
def test_another_site_is_told_nothing(public: Client, origin: str) -> None:
    response = preflight(public, TOOL, origin)
    assert response.status_code == 204
    assert not [name for name in response.headers if name.startswith("Access-Control-")]
    assert "Origin" in response["Vary"]


def test_a_preflight_needs_no_token_and_no_database(public: Client) -> None:
    """No database mark: a query would fail this test."""
    assert preflight(public, TOOL, APP).status_code == 204
    assert public.options(TOOL).status_code == 204
    assert public.options(TOOL, headers={"authorization": "Bearer wrong"}).status_code == 204


def test_a_preflight_has_an_id_and_no_body(public: Client) -> None:
    response = preflight(public, TOOL, APP)
    assert response["X-Request-Id"]
    assert "Content-Length" not in response
    assert "Content-Type" not in response


@pytest.mark.parametrize("origin", [APP, EVIL])
def test_answers_and_errors_have_the_same_headers(public: Client, db: None, origin: str) -> None:
    for path in (TOOL, "/api/v1/tools/no_such_tool", "/api/v1/nothing"):
        response = public.post(path, headers={"origin": origin})
        assert response.status_code in (401, 404)
        assert response.get("Access-Control-Allow-Origin") == (APP if origin == APP else None)
        assert "Origin" in response["Vary"]


def test_what_a_page_needs_to_go_on_is_exposed(public: Client, db: None) -> None:
    exposed = public.post(TOOL, headers={"origin": APP})["Access-Control-Expose-Headers"].lower().split(", ")
    assert {"www-authenticate", "retry-after", "x-request-id"} <= set(exposed)


@pytest.mark.parametrize("origin", [LOCAL, "http://127.0.0.1:5173", "http://[::1]:8080", "https://localhost"])
def test_in_local_every_loopback_page_may_ask(api: Api, origin: str) -> None:
    assert preflight(api.client, TOOL, origin)["Access-Control-Allow-Origin"] == origin
    response = api.post("list_apps", origin=origin)
    assert response.status_code == 200
    assert response["Access-Control-Allow-Origin"] == origin


@pytest.mark.parametrize("origin", [EVIL, "null", "http://localhost.evil.example", "file://localhost", "localhost"])
def test_in_local_other_pages_may_not(api: Api, origin: str) -> None:
    assert "Access-Control-Allow-Origin" not in preflight(api.client, TOOL, origin)
    assert "Access-Control-Allow-Origin" not in api.post("list_apps", origin=origin)


@pytest.mark.parametrize("path", ["/api/v1/openapi.json", "/.well-known/oauth-protected-resource"])
def test_public_documents_are_open_to_every_site(public: Client, path: str) -> None:
    for origin in (APP, EVIL, "null"):
        response = public.get(path, headers={"origin": origin})
        assert response.status_code == 200
        assert response["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in response


OPEN = ["register", "token", "revoke"]


@pytest.mark.spec("RFC 9700 §2.6")
@pytest.mark.parametrize("path", OPEN)
@pytest.mark.parametrize("origin", [APP, EVIL, "null"])
def test_a_client_in_any_browser_may_be_let_in(public: Client, path: str, origin: str, db: None) -> None:
    preflighted = preflight(public, f"/api/auth/mcp/{path}", origin)
    assert (preflighted.status_code, preflighted.content) == (204, b"")
    assert "POST" in preflighted["Access-Control-Allow-Methods"]
    assert "content-type" in preflighted["Access-Control-Allow-Headers"].lower()
    answered = public.post(f"/api/auth/mcp/{path}", headers={"origin": origin})
    assert answered.status_code in (400, 401)
    for response in (preflighted, answered):
        assert response["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in response
        assert "WWW-Authenticate" in response["Access-Control-Expose-Headers"]


@pytest.mark.parametrize("path", OPEN)
def test_a_preflight_comes_before_everything_else(public: Client, path: str, settings: Any) -> None:
    """No database mark: a query would fail this test. And it is not counted."""
    settings.RATE_LIMITS = True
    assert {preflight(public, f"/api/auth/mcp/{path}", EVIL).status_code for _ in range(400)} == {204}


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_where_users_are_asked_other_sites_read_nothing(public: Client, db: None, method: str) -> None:
    response = public.generic(method, "/api/auth/mcp/authorize", headers={"origin": EVIL})
    assert not [name for name in response.headers if name.startswith("Access-Control-")]


def test_a_document_that_was_not_changed_may_be_read_too(public: Client) -> None:
    etag = public.get("/api/v1/openapi.json")["ETag"]
    response = public.get("/api/v1/openapi.json", headers={"origin": EVIL, "if-none-match": etag})
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (304, "*")
    assert "Content-Length" not in response


@pytest.mark.parametrize("path", ["/", "/admin/login/", "/api/v1/docs"])
def test_pages_are_not_read_by_other_sites(public: Client, db: None, path: str) -> None:
    response = public.get(path, headers={"origin": EVIL})
    assert "Access-Control-Allow-Origin" not in response


def test_a_bad_host_comes_before_a_preflight(public: Client) -> None:
    response = public.options(TOOL, headers={"host": "evil.example", "origin": APP})
    assert (response.status_code, response.json()["code"]) == (400, "bad_host")
