"""A program registers as a client: what it may say of itself, what it is answered, and how many may."""

import json
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from apps.net.encryption import hash_of
from apps.oauthmcp.models import BUILT_IN, Application
from apps.orgs.callers import SCOPES
from tests.factories import Fill
from tests.oauthmcp.grants import VERIFIER, make_code, make_member

PATH = "/api/auth/mcp/register"
URI = "http://127.0.0.1:8123/callback"
PROVIDED = {"token_endpoint_auth_method", "grant_types", "response_types"}
ANSWER = {"client_id", "client_id_issued_at", "redirect_uris"} | PROVIDED
pytestmark = pytest.mark.django_db


def send(body: Any, content_type: str = "application/json", **headers: str) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body)
    return Client(raise_request_exception=False).generic("POST", PATH, raw, content_type, headers=headers)


def register(**said: Any) -> dict[str, Any]:
    """What is answered; public unless something else is said."""
    answer = send({"redirect_uris": [URI], "token_endpoint_auth_method": "none"} | said)
    assert answer.status_code == 201, answer.content
    assert answer["Content-Type"] == "application/json"
    assert (answer["Cache-Control"], answer["Pragma"]) == ("no-store", "no-cache")
    body = answer.json()
    assert None not in body.values()
    return body


def refusal(body: Any, **how: Any) -> str:
    """The sentence of an RFC-shaped 400, as `error: description`."""
    answer = send(body, **how)
    assert answer.status_code == 400, answer.content
    assert answer["Cache-Control"] == "no-store"
    assert set(answer.json()) == {"error", "error_description"}
    assert not Application.objects.exclude(client_id__in=BUILT_IN).exists()
    return "{error}: {error_description}".format(**answer.json())


@pytest.mark.spec("RFC 7591 §3.2.1")
def test_a_public_client_gets_an_id_and_no_secret() -> None:
    before = int(timezone.now().timestamp())
    answer = register()
    assert set(answer) == ANSWER
    assert before <= answer["client_id_issued_at"] <= before + 60
    client = Application.objects.get(client_id=answer["client_id"])
    assert (client.client_type, client.client_secret, client.token_endpoint_auth_method) == ("public", "", "none")
    assert (client.registration_source, client.authorization_grant_type) == ("dcr", "authorization-code")
    assert client.redirect_uri_allowed("http://127.0.0.1:9/callback")
    assert client.authorized_at is None
    assert not client.skip_authorization


@pytest.mark.spec("RFC 7591 §2")
@pytest.mark.parametrize("method", [None, "client_secret_basic", "client_secret_post"])
def test_any_other_client_gets_a_secret_that_is_kept_as_a_hash(method: str | None) -> None:
    answer = register(token_endpoint_auth_method=method)
    assert set(answer) == ANSWER | {"client_secret", "client_secret_expires_at"}
    assert answer["token_endpoint_auth_method"] == (method or "client_secret_basic")
    assert answer["client_secret_expires_at"] == 0
    assert len(answer["client_secret"]) == 43
    client = Application.objects.get(client_id=answer["client_id"])
    assert client.client_secret == hash_of(answer["client_secret"])
    assert (client.client_type, client.token_endpoint_auth_method) == (
        "confidential",
        answer["token_endpoint_auth_method"],
    )


def test_no_two_get_the_same() -> None:
    first, second = (register(token_endpoint_auth_method="client_secret_post") for _ in range(2))
    assert first["client_id"] != second["client_id"]
    assert first["client_secret"] != second["client_secret"]


FULL = {
    "redirect_uris": [URI, "https://example.com/cb", "cursor://anysphere.cursor-retrieval/cb", "com.example.app:/cb"],
    "client_name": "Ada's agent 🤖",
    "token_endpoint_auth_method": "client_secret_post",
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "scope": "apps:read docs:read",
    "client_uri": "https://example.com/#/about",
    "logo_uri": "https://example.com/logo.png",
    "tos_uri": "https://example.com/tos",
    "policy_uri": "https://example.com/policy",
    "software_id": "4NRB1-0XZABZI9E6-5SM3R",
    "software_version": "1.2.3-beta",
    "application_type": "native",
}


@pytest.mark.spec("RFC 7591 §3.2.1")
def test_all_that_is_registered_is_answered_and_kept() -> None:
    answer = register(**FULL)
    assert {name: answer[name] for name in FULL} == FULL
    client = Application.objects.get(client_id=answer["client_id"])
    assert client.name == FULL["client_name"]
    assert client.allowed_redirect_uris == FULL["redirect_uris"]
    assert client.grant_types == FULL["grant_types"]
    columns = {"redirect_uris", "client_name", "token_endpoint_auth_method"}
    assert client.metadata == {name: value for name, value in FULL.items() if name not in columns}


@pytest.mark.spec("RFC 7591 §2")
def test_what_is_not_used_is_accepted_and_forgotten() -> None:
    answer = register(
        contacts=["ada@example.com"], jwks={"keys": []}, jwks_uri="http://example.com/jwks", software_statement="eyJ",
        metadata={"deep": [{"er": 1}]}, client_id="mine", client_secret="mine", registration_source="manual",
        skip_authorization=True, authorized_at="2026-01-01", client_id_issued_at=1, **{"client_name#de": "Name"},
    )  # fmt: skip
    assert set(answer) == ANSWER
    assert answer["client_id"] != "mine"
    client = Application.objects.get(client_id=answer["client_id"])
    assert (client.registration_source, client.skip_authorization, client.authorized_at) == ("dcr", False, None)
    assert set(client.metadata) == {"grant_types", "response_types"}


LONG = "https://example.com/" + "x" * 2000
OPTIONAL = sorted(set(FULL) - {"redirect_uris"})


def test_null_counts_as_left_out() -> None:
    assert set(register(**dict.fromkeys(OPTIONAL))) == ANSWER | {"client_secret", "client_secret_expires_at"}


def test_empty_text_does_so_too_where_it_says_nothing() -> None:
    """The MCP SDK for TypeScript lets clients send empty addresses."""
    empty = set(OPTIONAL) - PROVIDED - {"application_type"}
    assert set(register(**dict.fromkeys(empty, ""))) == ANSWER


@pytest.mark.parametrize("name", sorted(FULL))
@pytest.mark.parametrize("value", [7, 1.5, True, {}, {"a": 1}, [7], [None], [["x"]]], ids=repr)
def test_a_value_of_the_wrong_type_is_refused_by_name(name: str, value: Any) -> None:
    assert refusal({"redirect_uris": [URI], name: value}).startswith(f"invalid_client_metadata: {name} must be ")


@pytest.mark.parametrize("name", ["redirect_uris", "grant_types", "response_types"])
def test_a_list_is_not_written_as_text(name: str) -> None:
    said = refusal({"redirect_uris": [URI], name: "authorization_code code"})
    assert said == f"invalid_client_metadata: {name} must be a list of strings."


# Redirect URIs


@pytest.mark.parametrize("uris", [None, [], ["https://example.com/cb"] * 11], ids=["none", "empty", "eleven"])
def test_there_are_one_to_ten_redirect_uris(uris: Any) -> None:
    assert refusal({"redirect_uris": uris}).startswith("invalid_redirect_uri: redirect_uris must be a list of 1 to 10")
    assert refusal({}).startswith("invalid_redirect_uri: ")


@pytest.mark.spec("RFC 7591 §3.2.2")
@pytest.mark.parametrize(
    "uri",
    [
        "http://evil.example/cb", "https://example.com/#x", "javascript:alert(1)", "", "https://a@example.com/",
        "https://example.com/ https://evil.example/", "https://example.com/" + "x" * 2000, "unknown://x",
    ],
)  # fmt: skip
def test_one_bad_redirect_uri_among_good_ones_is_refused(uri: str) -> None:
    assert refusal({"redirect_uris": [URI, uri]}).startswith("invalid_redirect_uri: ")


def test_ten_long_redirect_uris_of_which_some_are_the_same() -> None:
    uris = [f"https://example.com/{number % 8}{'x' * 1400}" for number in range(10)]
    assert register(redirect_uris=uris)["redirect_uris"] == uris[:8]


# Names and scopes


def test_a_name_has_at_most_100_characters() -> None:
    assert register(client_name="é" * 100)["client_name"] == "é" * 100
    Application.objects.exclude(client_id__in=BUILT_IN).delete()
    assert "client_name" in refusal({"redirect_uris": [URI], "client_name": "é" * 101})


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Clau\u200bde", "Claude"), ("\u202eedualC", "edualC"), ("a\u2066b\u2069\ufeff", "ab"),
        ("a\r\nb\x1b[2J\t", "a b[2J"), ("a\u2028b\u2029c", "a b c"), ("  a b  ", "a b"), ("<b>&amp;", "<b>&amp;"),
    ],
)  # fmt: skip
def test_a_name_loses_what_cannot_be_seen(name: str, kept: str) -> None:
    answer = register(client_name=name)
    assert answer["client_name"] == kept
    assert Application.objects.get(client_id=answer["client_id"]).name == kept


def test_a_name_of_nothing_that_can_be_seen_is_none() -> None:
    answer = register(client_name="\u200b \u202e")
    assert "client_name" not in answer
    assert Application.objects.get(client_id=answer["client_id"]).name == ""


@pytest.mark.spec("RFC 7591 §2")
@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("docs:read apps:read", "apps:read docs:read"),
        ("openid offline_access apps:read", "apps:read"),
        (" apps:read  apps:read ", "apps:read"),
        ("openid profile email", " ".join(SCOPES)),
        ("  ", " ".join(SCOPES)),
    ],
)
def test_scopes_are_narrowed_to_ours_and_never_to_nothing(asked: str, kept: str) -> None:
    assert register(scope=asked)["scope"] == kept


# Grants and ways to authenticate


@pytest.mark.spec("RFC 7591 §2.1")
def test_grants_beyond_ours_are_dropped() -> None:
    answer = register(
        grant_types=["implicit", "refresh_token", "password", "authorization_code"], response_types=["code", "token"]
    )
    assert (answer["grant_types"], answer["response_types"]) == (["authorization_code", "refresh_token"], ["code"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("grant_types", []), ("grant_types", ["refresh_token"]), ("grant_types", ["client_credentials"]),
        ("response_types", []), ("response_types", ["token"]), ("response_types", ["code token"]),
    ],
)  # fmt: skip
def test_a_client_with_nothing_left_to_do_is_refused(name: str, value: list[str]) -> None:
    assert refusal({"redirect_uris": [URI], name: value}).startswith(f"invalid_client_metadata: {name} must have ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("token_endpoint_auth_method", "private_key_jwt"), ("token_endpoint_auth_method", ""),
        ("token_endpoint_auth_method", "NONE"), ("application_type", "browser"),
        *((name, value) for name in ("client_uri", "logo_uri", "tos_uri", "policy_uri")
          for value in ("http://example.com", "javascript:alert(1)", "https://", "/x", LONG)),
        ("software_id", "x" * 256), ("software_version", "x" * 256), ("scope", "x" * 1001),
    ],
)  # fmt: skip
def test_other_values_than_the_allowed_ones_are_refused_by_name(name: str, value: str) -> None:
    assert refusal({"redirect_uris": [URI], name: value}).startswith(f"invalid_client_metadata: {name} m")


def test_who_asks_for_codes_only_gets_no_refresh_token(acme: Fill) -> None:
    answer = register(grant_types=["authorization_code"])
    client = Application.objects.get(client_id=answer["client_id"])
    code = make_code(client, make_member(acme.organization), redirect_uri=URI)
    fields = {
        "grant_type": "authorization_code",
        "client_id": client.client_id,
        "code": code,
        "code_verifier": VERIFIER,
    }
    token = Client().post("/api/auth/mcp/token", fields, content_type="application/json")
    assert (token.status_code, "refresh_token" in token.json()) == (200, False)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_the_secret_that_was_given_out_works(acme: Fill, method: str) -> None:
    answer = register(token_endpoint_auth_method=method)
    client = Application.objects.get(client_id=answer["client_id"])
    member = make_member(acme.organization)
    for secret, status in (("wrong", 401), (answer["client_secret"], 200)):
        fields = {
            "grant_type": "authorization_code", "client_id": client.client_id, "client_secret": secret,
            "code": make_code(client, member, redirect_uri=URI), "code_verifier": VERIFIER,
        }  # fmt: skip
        assert Client().post("/api/auth/mcp/token", fields, content_type="application/json").status_code == status


# Bodies

DEEP = b'{"redirect_uris": ' + b"[" * 5000 + b"]" * 5000 + b"}"


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'"x"', b"7", b"\xff\xfe", DEEP, DEEP[:5000], b'{"client_name": NaN}',
        b'{"redirect_uris": ["https://a.example/"], "redirect_uris": ["https://b.example/"]}',
        b'{"redirect_uris": ["https://a.example/"], "client_name": "\\u0000"}',
        b'{"redirect_uris": ["https://a.example/"], "client_name": "\\ud800"}',
        b'{"redirect_uris": ["https://a.example/"], "unknown": "\\u0000"}',
        b'{"redirect_uris": ["https://a.example/"], "x": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda body: ascii(body)[:40],
)  # fmt: skip
def test_a_body_that_is_no_plain_json_object_is_refused(body: bytes) -> None:
    assert refusal(body).startswith("invalid_client_metadata: ")


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", "application/jsonx", ""])
def test_a_body_of_another_type_is_refused(content_type: str) -> None:
    assert "application/json" in refusal({"redirect_uris": [URI]}, content_type=content_type)


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON", "application/json;x"])
def test_parameters_of_the_type_do_not_matter(content_type: str) -> None:
    assert send({"redirect_uris": [URI]}, content_type=content_type).status_code == 201


def test_a_body_has_at_most_16_kib_and_a_length() -> None:
    body = json.dumps({"redirect_uris": [URI], "x": ""}).encode()
    filled = body.replace(b'""', b'"' + b"x" * (16 * 1024 - len(body)) + b'"')
    assert send(filled).status_code == 201
    too_large = send(filled + b" ")
    assert (too_large.status_code, too_large.json()["error"]) == (413, "invalid_client_metadata")
    chunked = send(body, **{"transfer-encoding": "chunked"})
    assert (chunked.status_code, chunked.json()["error"]) == (411, "invalid_client_metadata")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "TRACE"])
def test_only_post_registers(method: str) -> None:
    answer = Client().generic(method, PATH)
    assert (answer.status_code, answer["Allow"], answer["Content-Type"]) == (405, "POST, OPTIONS", "application/json")


def test_a_database_that_is_away_is_no_bug_of_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**fields: Any) -> None:
        raise OperationalError("secret host") from type("Away", (Exception,), {"sqlite_errorname": "SQLITE_BUSY"})()

    monkeypatch.setattr(Application.objects, "create", away)
    answer = send({"redirect_uris": [URI]})
    assert (answer.status_code, answer.json()["error"]) == (503, "temporarily_unavailable")
    assert "secret" not in answer.content.decode()
