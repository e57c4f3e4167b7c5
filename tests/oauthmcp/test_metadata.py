"""What a client reads to learn how to get a token for a door."""

from typing import Any

import pytest
from django.test import Client

from apps.orgs.callers import SCOPES

ORIGIN = "https://porthole.example.com"
RESOURCE, SERVER = "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"
OPENID, KEYS = "/.well-known/openid-configuration", "/.well-known/jwks.json"
RESOURCES = [RESOURCE, f"{RESOURCE}/mcp", f"{RESOURCE}/api/v1", f"/api/auth{RESOURCE}"]
SERVERS = [SERVER, f"/api/auth{SERVER}", OPENID]
DOCUMENTS = [*RESOURCES, *SERVERS, KEYS]


@pytest.fixture
def public(settings: Any) -> Client:
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = ORIGIN, ["porthole.example.com"]
    return Client(headers={"host": "porthole.example.com"})


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


@pytest.mark.spec("RFC 9728 §2")
@pytest.mark.parametrize("path", RESOURCES)
def test_every_door_names_the_authorization_server_as_it_names_itself(public: Client, path: str) -> None:
    servers = public.get(path).json()["authorization_servers"]
    assert servers == [ORIGIN] == [public.get(SERVER).json()["issuer"]]


def test_the_other_spelling_is_the_origins_document(public: Client) -> None:
    assert public.get(f"/api/auth{RESOURCE}").content == public.get(RESOURCE).content
    assert public.get(f"/api/auth{SERVER}").content == public.get(SERVER).content


@pytest.mark.spec("RFC 8414 §2")
@pytest.mark.parametrize("path", SERVERS)
def test_the_authorization_server_says_what_it_can_do(public: Client, path: str) -> None:
    document = public.get(path).json()
    assert document["issuer"] == ORIGIN
    assert document["authorization_endpoint"] == f"{ORIGIN}/api/auth/mcp/authorize"
    assert document["token_endpoint"] == f"{ORIGIN}/api/auth/mcp/token"
    assert document["registration_endpoint"] == f"{ORIGIN}/api/auth/mcp/register"
    assert document["revocation_endpoint"] == f"{ORIGIN}/api/auth/mcp/revoke"
    assert document["scopes_supported"] == [*SCOPES, "offline_access"]
    assert document["response_types_supported"] == ["code"]
    assert document["response_modes_supported"] == ["query"]
    assert document["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert document["code_challenge_methods_supported"] == ["S256"]
    assert document["authorization_response_iss_parameter_supported"] is True
    methods = ["none", "client_secret_basic", "client_secret_post"]
    assert document["token_endpoint_auth_methods_supported"] == methods
    assert document["revocation_endpoint_auth_methods_supported"] == methods
    assert document["protected_resources"] == [public.get(path).json()["resource"] for path in RESOURCES[:3]]
    assert "client_id_metadata_document_supported" not in document
    assert None not in document.values()


@pytest.mark.spec("RFC 8414 §3.2")
def test_what_is_named_is_there(public: Client, db: None) -> None:
    """The consent page has tests of its own."""
    document = public.get(OPENID).json()
    for name in ("token", "registration", "revocation"):
        assert public.post(document[f"{name}_endpoint"].removeprefix(ORIGIN)).status_code in (400, 401)
    assert public.get(document["jwks_uri"].removeprefix(ORIGIN)).json() == {"keys": []}
    assert public.get(document["service_documentation"].removeprefix(ORIGIN)).status_code == 200
    assert not [name for name, value in public.get(SERVER).json().items() if value == []]


@pytest.mark.spec("OpenID Connect Discovery 1.0 §3")
def test_clients_that_insist_on_openid_find_its_required_members(public: Client) -> None:
    document, plain = public.get(OPENID).json(), public.get(SERVER).json()
    assert {name: document[name] for name in plain} == plain
    assert document["subject_types_supported"] == ["public"]
    assert document["id_token_signing_alg_values_supported"] == []
    assert "openid" not in document["scopes_supported"]


@pytest.mark.parametrize("path", DOCUMENTS)
def test_every_site_may_read_it_without_credentials(public: Client, path: str) -> None:
    for response in (
        public.get(path, headers={"origin": "https://anywhere.example"}),
        public.options(path, headers={"origin": "https://anywhere.example"}),
    ):
        assert response.status_code in (200, 204)
        assert response["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in response


@pytest.mark.parametrize("path", DOCUMENTS)
def test_it_is_only_read(public: Client, path: str) -> None:
    head, get = public.head(path), public.get(path)
    assert (head.status_code, head.content, head["ETag"]) == (200, b"", get["ETag"])
    assert get["Content-Type"] == "application/json"
    assert get["Cache-Control"] == "public, max-age=300"
    for method in ("POST", "PUT", "DELETE", "TRACE"):
        refused = public.generic(method, path)
        assert (refused.status_code, refused["Allow"]) == (405, "GET, HEAD, OPTIONS")
        assert refused.json()["error"] == "invalid_request"
        assert refused["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", DOCUMENTS)
def test_whoever_has_it_need_not_read_it_again(public: Client, settings: Any, path: str) -> None:
    etag = public.get(path)["ETag"]
    unchanged = public.get(path, headers={"if-none-match": etag})
    assert (unchanged.status_code, unchanged.content, unchanged["ETag"]) == (304, b"", etag)
    assert unchanged["Cache-Control"] == "public, max-age=300"
    assert public.get(path, headers={"if-none-match": '"other"'}).status_code == 200


def test_another_address_is_another_document(public: Client, settings: Any) -> None:
    etag = public.get(SERVER)["ETag"]
    settings.PUBLIC_URL = "https://other.example.com"
    changed = public.get(SERVER, headers={"if-none-match": etag})
    assert (changed.status_code, changed.json()["issuer"]) == (200, "https://other.example.com")


@pytest.mark.parametrize("path", DOCUMENTS)
def test_it_tells_nothing_at_an_unknown_host(public: Client, path: str) -> None:
    response = public.get(path, headers={"host": "evil.example"})
    assert response.status_code == 400
    assert b"issuer" not in response.content
    assert b"resource" not in response.content


@pytest.mark.parametrize(
    "path",
    [
        f"{SERVER}/mcp", f"{SERVER}/api/v1", f"{SERVER}/", f"{OPENID}/mcp", f"/mcp{SERVER}", f"/mcp{OPENID}",
        f"/api/v1{SERVER}", f"/api/auth{OPENID}", f"/api/auth{SERVER}/x", f"/api/auth/mcp{SERVER}", "/.well-known/",
        "/.well-known/%00", "/api/auth/", "/api/auth/mcp/", "/api/auth/mcp/register/", "/api/auth/mcp/token/x",
        "/api/auth/mcp/%ff", "/api/auth/.well-known/..%2f", f"{SERVER}%0a",
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_where_clients_only_probe_there_is_nothing(public: Client, method: str, path: str) -> None:
    for host, status in (("porthole.example.com", 404), ("evil.example", 400)):
        response = public.generic(method, path, headers={"host": host})
        assert response.status_code == status
        assert response["X-Request-Id"]
