"""Everything that the authorization server and the bearer check refuse, each with the section that says so."""

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from apps.oauthmcp.models import BUILT_IN, AccessToken, Application, Authorization, Grant, RefreshToken
from apps.orgs.models import Membership
from tests.accounts.visitors import visitor
from tests.factories import Fill
from tests.oauthmcp.grants import (
    CHALLENGE,
    REDIRECT_URI,
    VERIFIER,
    make_access_token,
    make_authorization,
    make_client,
    make_code,
    make_member,
    make_refresh_token,
)

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
LONG = "x" * 5_000
DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
Change = dict[str, Any]  # of a good request; None leaves the parameter out


def rows(*table: tuple[Any, ...]) -> Any:
    """Marks each row with its section, and names it by that and what it changes."""
    return [
        pytest.param(*row[1:], id=f"{row[0]}: {_in_words(row[1])}", marks=pytest.mark.spec(row[0])) for row in table
    ]


def _in_words(first: Any) -> str:
    words = getattr(first, "__name__", None) or repr(first)
    return str(words[:60].encode("ascii", "backslashreplace").decode())


def changed(good: Change, change: Change) -> Change:
    return {name: value for name, value in {**good, **change}.items() if value is not None}


def post(path: str, body: Any, content_type: str = FORM, **headers: str) -> Any:
    sent = body if isinstance(body, str | bytes) else urlencode(body) if content_type == FORM else json.dumps(body)
    return Client(headers={"host": "localhost"}).post(f"/api/auth/mcp/{path}", sent, content_type, headers=headers)


def is_refused(answer: Any, status: int, error: str) -> bool:
    assert (answer.status_code, answer.json().get("error")) == (status, error), answer.content
    assert set(answer.json()) == {"error", "error_description"}
    assert answer["Cache-Control"] == "no-store"
    assert answer["Content-Type"].startswith("application/json")
    return True


def nothing_was_issued() -> bool:
    return not (AccessToken.objects.exists() or RefreshToken.objects.exists() or Authorization.objects.exists())


# Registration


@pytest.mark.parametrize(
    ("change", "error"),
    rows(
        ("RFC 7591 §2", {"redirect_uris": None}, "invalid_redirect_uri"),
        ("RFC 7591 §2", {"redirect_uris": []}, "invalid_redirect_uri"),
        ("RFC 7591 §3.2.2", {"redirect_uris": "https://app.example.com/cb"}, "invalid_client_metadata"),
        ("RFC 7591 §3.2.2", {"redirect_uris": [7]}, "invalid_client_metadata"),
        ("RFC 7591 §3.2.2", {"redirect_uris": [""]}, "invalid_redirect_uri"),
        ("RFC 7591 §5", {"redirect_uris": [f"https://app.example.com/{n}" for n in range(11)]}, "invalid_redirect_uri"),
        ("RFC 7591 §5", {"redirect_uris": ["https://app.example.com/" + "x" * 2000]}, "invalid_redirect_uri"),
        ("RFC 6749 §3.1.2", {"redirect_uris": ["https://app.example.com/cb#part"]}, "invalid_redirect_uri"),
        ("RFC 6749 §3.1.2", {"redirect_uris": ["/callback"]}, "invalid_redirect_uri"),
        ("RFC 8252 §7.3", {"redirect_uris": ["http://app.example.com/cb"]}, "invalid_redirect_uri"),
        ("RFC 8252 §7.3", {"redirect_uris": ["http://127.0.0.1.example.com/cb"]}, "invalid_redirect_uri"),
        ("RFC 8252 §7.1", {"redirect_uris": ["someapp://callback"]}, "invalid_redirect_uri"),
        ("RFC 9700 §2.1", {"redirect_uris": ["https://user:pass@app.example.com/cb"]}, "invalid_redirect_uri"),
        ("RFC 9700 §2.1", {"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ("RFC 9700 §2.1", {"redirect_uris": ["data:text/html,x"]}, "invalid_redirect_uri"),
        ("RFC 9700 §2.1", {"redirect_uris": ["file:///etc/passwd"]}, "invalid_redirect_uri"),
        ("RFC 9700 §2.1", {"redirect_uris": ["https://app.example.com\\@evil.example/"]}, "invalid_redirect_uri"),
        ("RFC 7591 §2", {"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ("RFC 7591 §2", {"grant_types": ["password"]}, "invalid_client_metadata"),
        ("RFC 7591 §2", {"response_types": ["token"]}, "invalid_client_metadata"),
        ("RFC 7591 §2", {"client_name": 7}, "invalid_client_metadata"),
        ("RFC 7591 §5", {"client_name": "x" * 101}, "invalid_client_metadata"),
        ("RFC 7591 §2", {"client_uri": "http://app.example.com"}, "invalid_client_metadata"),
        ("RFC 7591 §2", {"logo_uri": "javascript:alert(1)"}, "invalid_client_metadata"),
        ("RFC 7591 §3.2.2", {"client_name": "nul \0"}, "invalid_client_metadata"),
    ),
)
def test_a_registration_that_cannot_be_taken(change: Change, error: str, db: None) -> None:
    before = Application.objects.count()
    answer = post("register", changed({"redirect_uris": [REDIRECT_URI]}, change), JSON)
    assert is_refused(answer, 400, error)
    assert Application.objects.count() == before


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    rows(
        ("RFC 7591 §3.1", "[]", JSON, 400),
        ("RFC 7591 §3.1", "{", JSON, 400),
        ("RFC 7591 §3.1", "", JSON, 400),
        ("RFC 7591 §3.1", b"\xff{}", JSON, 400),
        ("RFC 8259 §4", '{"redirect_uris": [], "redirect_uris": []}', JSON, 400),
        ("RFC 8259 §9", "[" * 5_000, JSON, 400),
        ("RFC 7591 §3.1", "redirect_uris=https://app.example.com", FORM, 400),
        ("RFC 7591 §5", json.dumps({"redirect_uris": [REDIRECT_URI], "x": "x" * 17_000}), JSON, 413),
    ),
)
def test_a_registration_that_cannot_be_read(body: Any, content_type: str, status: int, db: None) -> None:
    assert is_refused(post("register", body, content_type), status, "invalid_client_metadata")


# The authorization endpoint


def authorize(membership: Membership, client: Application, change: Change) -> Any:
    good = {
        "response_type": "code", "client_id": client.client_id, "redirect_uri": REDIRECT_URI, "state": "of the client",
        "code_challenge": CHALLENGE, "code_challenge_method": "S256", "scope": "apps:read",
    }  # fmt: skip
    query = urlencode(changed(good, change), doseq=True)
    return visitor(membership.user).get(f"/api/auth/mcp/authorize?{query}")


@pytest.fixture
def membership(acme: Fill) -> Membership:
    return make_member(acme.organization)


@pytest.mark.parametrize(
    "change",
    rows(
        ("RFC 6749 §4.1.2.1", {"client_id": None}),
        ("RFC 6749 §4.1.2.1", {"client_id": "nobody"}),
        ("RFC 6749 §4.1.2.1", {"client_id": "nul\0"}),
        ("RFC 6749 §4.1.2.1", {"client_id": LONG}),
        ("RFC 6749 §3.1", {"client_id": ["one", "two"]}),
        ("RFC 6749 §3.1", {"state": ["one", "two"]}),
        ("RFC 6749 §4.1.2.1", {"redirect_uri": "http://127.0.0.1:8123/elsewhere"}),
        ("RFC 6749 §4.1.2.1", {"redirect_uri": "http://localhost:8123/callback"}),
        ("RFC 6749 §4.1.2.1", {"redirect_uri": "https://evil.example/callback"}),
        ("RFC 6749 §4.1.2.1", {"redirect_uri": "javascript:alert(1)"}),
        ("RFC 9700 §4.1.3", {"redirect_uri": f"{REDIRECT_URI}?next=https://evil.example"}),
        ("RFC 9700 §4.1.3", {"redirect_uri": "http://127.0.0.1:8123/callback/../x"}),
        ("RFC 9700 §4.1.3", {"redirect_uri": f"{REDIRECT_URI}#"}),
        ("RFC 9700 §4.1.3", {"redirect_uri": "http://user@127.0.0.1:8123/callback"}),
        ("RFC 9700 §4.1.3", {"redirect_uri": "http://127.0.0.1:8123/callback\r\nSet-Cookie: a=b"}),
        ("RFC 9700 §4.1.3", {"redirect_uri": "http://[::1/callback"}),
    ),
)
def test_an_authorization_request_that_nobody_may_be_sent_anywhere_for(change: Change, membership: Membership) -> None:
    answer = authorize(membership, make_client(), change)
    assert answer.status_code == 400
    assert "Location" not in answer
    assert answer["Content-Type"].startswith("text/html")
    assert not Grant.objects.exists()


@pytest.mark.parametrize(
    ("change", "error"),
    rows(
        ("RFC 6749 §4.1.2.1", {"response_type": None}, "invalid_request"),
        ("RFC 6749 §3.1.1", {"response_type": "token"}, "unsupported_response_type"),
        ("RFC 6749 §3.1.1", {"response_type": "code token"}, "unsupported_response_type"),
        ("RFC 6749 §3.3", {"scope": "openid profile"}, "invalid_scope"),
        ("RFC 7636 §4.4.1", {"code_challenge": None}, "invalid_request"),
        ("RFC 7636 §4.4.1", {"code_challenge": "short"}, "invalid_request"),
        ("RFC 7636 §4.4.1", {"code_challenge": CHALLENGE + "="}, "invalid_request"),
        ("RFC 9700 §2.1.1", {"code_challenge_method": "plain"}, "invalid_request"),
        ("RFC 7636 §4.3", {"code_challenge_method": None}, "invalid_request"),
        ("RFC 7636 §4.4.1", {"code_challenge_method": "S512"}, "invalid_request"),
        ("RFC 8707 §2", {"resource": "https://elsewhere.example"}, "invalid_target"),
        ("RFC 8707 §2", {"resource": ["http://localhost:8000/mcp", "https://elsewhere.example"]}, "invalid_target"),
        ("RFC 8707 §2", {"resource": "http://localhost:8000/mcp#part"}, "invalid_target"),
        ("OpenID Connect Core §3.1.2.6", {"prompt": "none"}, "consent_required"),
    ),
)
def test_an_authorization_request_that_the_client_is_told_of(
    change: Change, error: str, membership: Membership
) -> None:
    answer = authorize(membership, make_client(), change)
    assert answer.status_code == 303
    assert answer["Location"].startswith(REDIRECT_URI + "?")
    told = parse_qs(urlsplit(answer["Location"]).query)
    assert told["error"] == [error], told
    assert told["state"] == ["of the client"]
    assert told["iss"] == [settings.PUBLIC_URL]  # RFC 9207 §2
    assert not Grant.objects.exists()


# The token endpoint, with a code


@pytest.mark.parametrize(
    ("change", "status", "error"),
    rows(
        ("RFC 6749 §5.2", {"grant_type": None}, 400, "invalid_request"),
        ("RFC 6749 §5.2", {"grant_type": "password"}, 400, "unsupported_grant_type"),
        ("RFC 6749 §5.2", {"grant_type": "client_credentials"}, 400, "unsupported_grant_type"),
        (
            "RFC 8628 §3.4",
            {"grant_type": "urn:ietf:params:oauth:grant-type:device_code"},
            400,
            "unsupported_grant_type",
        ),
        ("RFC 6749 §4.1.3", {"code": None}, 400, "invalid_request"),
        ("RFC 6749 §5.2", {"code": "guessed"}, 400, "invalid_grant"),
        ("RFC 6749 §5.2", {"code": "nul\0"}, 400, "invalid_request"),
        ("RFC 6749 §5.2", {"code": LONG}, 400, "invalid_request"),
        ("RFC 6749 §5.2", {"client_id": None}, 401, "invalid_client"),
        ("RFC 6749 §5.2", {"client_id": "nobody"}, 401, "invalid_client"),
        ("RFC 6749 §5.2", {"client_secret": "made up"}, 401, "invalid_client"),
        ("RFC 6749 §5.2", {"redirect_uri": "http://127.0.0.1:9/callback"}, 400, "invalid_grant"),
        ("RFC 7636 §4.5", {"code_verifier": None}, 400, "invalid_request"),
        ("RFC 7636 §4.6", {"code_verifier": VERIFIER[::-1]}, 400, "invalid_grant"),
        ("RFC 7636 §4.6", {"code_verifier": CHALLENGE}, 400, "invalid_grant"),
        ("RFC 8707 §2.2", {"resource": "https://elsewhere.example"}, 400, "invalid_target"),
    ),
)
def test_a_code_that_is_not_redeemed(change: Change, status: int, error: str, membership: Membership) -> None:
    client = make_client()
    good = {
        "grant_type": "authorization_code", "client_id": client.client_id, "code": make_code(client, membership),
        "code_verifier": VERIFIER, "redirect_uri": REDIRECT_URI,
    }  # fmt: skip
    assert is_refused(post("token", changed(good, change)), status, error)
    assert nothing_was_issued()


def expire(membership: Membership) -> None:
    Grant.objects.update(expires=timezone.now() - timedelta(seconds=1))


def deactivate(membership: Membership) -> None:
    membership.user.is_active = False
    membership.user.save()


def change_password(membership: Membership) -> None:
    membership.user.set_password("another-long-password")
    membership.user.save()


def leave(membership: Membership) -> None:
    membership.delete()


def forget_client(membership: Membership) -> None:
    Application.objects.exclude(client_id__in=BUILT_IN).delete()


def revoke(membership: Membership) -> None:
    Authorization.objects.all().revoke()


def rest_for_a_month(membership: Membership) -> None:
    Authorization.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("happens", "status", "error"),
    rows(
        ("RFC 6749 §4.1.2", expire, 400, "invalid_grant"),
        ("RFC 6749 §5.2", deactivate, 400, "invalid_grant"),
        ("RFC 6749 §5.2", change_password, 400, "invalid_grant"),
        ("RFC 6749 §5.2", leave, 400, "invalid_grant"),
        ("RFC 6749 §5.2", forget_client, 401, "invalid_client"),
    ),
)
def test_a_code_that_something_came_between(
    happens: Callable[[Membership], None], status: int, error: str, membership: Membership
) -> None:
    client = make_client()
    code = make_code(client, membership)
    happens(membership)
    body = {
        "grant_type": "authorization_code", "client_id": client.client_id, "code": code, "code_verifier": VERIFIER,
    }  # fmt: skip
    assert is_refused(post("token", body), status, error)
    assert nothing_was_issued()


@pytest.mark.spec("RFC 6749 §4.1.3")
def test_a_code_of_another_client_is_not_redeemed(membership: Membership) -> None:
    code = make_code(make_client(), membership)
    body = {
        "grant_type": "authorization_code", "client_id": make_client("Thief").client_id, "code": code,
        "code_verifier": VERIFIER,
    }  # fmt: skip
    assert is_refused(post("token", body), 400, "invalid_grant")


# The token endpoint, with a refresh token


@pytest.mark.parametrize(
    ("change", "status", "error"),
    rows(
        ("RFC 6749 §6", {"refresh_token": None}, 400, "invalid_request"),
        ("RFC 6749 §5.2", {"refresh_token": "guessed"}, 400, "invalid_grant"),
        ("RFC 6749 §5.2", {"refresh_token": "nul\0"}, 400, "invalid_request"),
        ("RFC 6749 §6", {"scope": "apps:read files:read"}, 400, "invalid_scope"),
        ("RFC 6749 §6", {"client_id": "nobody"}, 401, "invalid_client"),
        ("RFC 8707 §2.2", {"resource": "https://elsewhere.example"}, 400, "invalid_target"),
    ),
)
def test_a_refresh_that_is_refused(change: Change, status: int, error: str, membership: Membership) -> None:
    client = make_client()
    token = make_refresh_token(make_authorization(client, membership, "apps:read"))
    good = {"grant_type": "refresh_token", "client_id": client.client_id, "refresh_token": token}
    assert is_refused(post("token", changed(good, change)), status, error)
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize(
    ("happens", "status", "error"),
    rows(
        ("RFC 6749 §10.4", revoke, 400, "invalid_grant"),
        ("RFC 9700 §4.14.2", rest_for_a_month, 400, "invalid_grant"),
        ("RFC 9700 §4.14.2", deactivate, 400, "invalid_grant"),
        ("RFC 9700 §4.14.2", change_password, 400, "invalid_grant"),
        ("RFC 6749 §5.2", leave, 400, "invalid_grant"),
        ("RFC 6749 §5.2", forget_client, 401, "invalid_client"),
    ),
)
def test_a_refresh_that_something_came_between(
    happens: Callable[[Membership], None], status: int, error: str, membership: Membership
) -> None:
    client = make_client()
    token = make_refresh_token(make_authorization(client, membership))
    happens(membership)
    body = {"grant_type": "refresh_token", "client_id": client.client_id, "refresh_token": token}
    assert is_refused(post("token", body), status, error)
    assert not AccessToken.objects.exists()


# Clients that have a secret


def basic(client_id: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()


@pytest.mark.parametrize(
    ("authorization", "change", "status", "error"),
    rows(
        ("RFC 6749 §2.3.1", basic("ID", "wrong"), {}, 401, "invalid_client"),
        ("RFC 6749 §2.3.1", basic("ID", ""), {}, 401, "invalid_client"),
        ("RFC 6749 §2.3.1", basic("nobody", "secret"), {"client_id": None}, 401, "invalid_client"),
        ("RFC 6749 §2.3.1", "Basic not-base64!", {}, 401, "invalid_client"),
        ("RFC 6749 §2.3.1", "Basic " + base64.b64encode(b"\xff\xfe:x").decode(), {}, 401, "invalid_client"),
        ("RFC 6749 §2.3.1", "Basic " + base64.b64encode(b"no-colon").decode(), {}, 401, "invalid_client"),
        ("RFC 6749 §2.3", "", {}, 401, "invalid_client"),
        ("RFC 6749 §2.3", "", {"client_secret": "wrong"}, 401, "invalid_client"),
        ("RFC 6749 §2.3", basic("ID", "secret"), {"client_secret": "secret"}, 400, "invalid_request"),
    ),
)
def test_a_client_that_does_not_show_its_secret(
    authorization: str, change: Change, status: int, error: str, membership: Membership
) -> None:
    client = make_client(secret="secret")
    if authorization.startswith("Basic "):
        try:
            name, _, secret = base64.b64decode(authorization[6:], validate=True).decode().partition(":")
            authorization = basic(client.client_id, secret) if name == "ID" else authorization
        except ValueError:
            pass  # it is meant to be unreadable
    good = {
        "grant_type": "authorization_code", "client_id": client.client_id, "code": make_code(client, membership),
        "code_verifier": VERIFIER,
    }  # fmt: skip
    headers = {"authorization": authorization} if authorization else {}
    answer = post("token", changed(good, change), **headers)
    assert is_refused(answer, status, error)
    if status == 401 and authorization:
        assert answer["WWW-Authenticate"].startswith("Basic ")
    assert nothing_was_issued()


# How requests are sent


@pytest.mark.parametrize("path", ["token", "revoke"])
@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    rows(
        ("RFC 6749 §3.2", "grant_type=a&grant_type=b&token=x&token=y", FORM, 400),
        ("RFC 6749 §3.2", "<xml/>", "application/xml", 400),
        ("RFC 6749 §3.2", b"token=\xff", FORM, 400),
        ("RFC 6749 §3.2", "token=%FF", FORM, 400),
        ("RFC 8259 §4", '{"token": {"a": 1}}', JSON, 400),
        ("RFC 8259 §9", "[" * 5_000, JSON, 400),
        ("RFC 6749 §3.2", "&".join(f"p{n}=1" for n in range(200)), FORM, 400),
        ("RFC 6749 §3.2", "token=" + "x" * 20_000, FORM, 413),
    ),
)
def test_parameters_that_cannot_be_read(body: Any, content_type: str, status: int, path: str, db: None) -> None:
    assert is_refused(post(path, body, content_type), status, "invalid_request")


@pytest.mark.parametrize("path", ["register", "token", "revoke"])
@pytest.mark.parametrize("method", ["get", "put", "delete", "patch", "head"])
@pytest.mark.spec("RFC 6749 §3.2")
def test_only_post_is_answered(method: str, path: str, db: None) -> None:
    answer = getattr(Client(headers={"host": "localhost"}), method)(f"/api/auth/mcp/{path}")
    assert answer.status_code == 405
    assert "POST" in answer["Allow"]


@pytest.mark.spec("RFC 6749 §2.3.1")
def test_secrets_in_the_query_are_refused(db: None) -> None:
    assert is_refused(post("token?client_secret=x", {"grant_type": "refresh_token"}), 400, "invalid_request")


@pytest.mark.spec("RFC 7009 §2.1")
def test_a_revocation_without_a_token_or_by_a_stranger_is_refused(membership: Membership) -> None:
    client = make_client()
    assert is_refused(post("revoke", {"client_id": client.client_id}), 400, "invalid_request")
    assert is_refused(post("revoke", {"client_id": "nobody", "token": "x"}), 401, "invalid_client")


# The bearer


def outdate(membership: Membership) -> None:
    AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))


def move(membership: Membership) -> None:
    AccessToken.objects.update(resource=["https://elsewhere.example"])


@pytest.mark.parametrize(
    "happens",
    rows(
        ("RFC 6750 §3.1", outdate),
        ("RFC 8707 §2", move),
        ("RFC 7009 §2", revoke),
        ("RFC 6750 §3.1", leave),
        ("RFC 6750 §3.1", deactivate),
        ("RFC 6750 §3.1", change_password),
        ("RFC 6750 §3.1", forget_client),
    ),
)
def test_an_access_token_that_opens_nothing_any_more(
    happens: Callable[[Membership], None], membership: Membership
) -> None:
    token = make_access_token(make_authorization(make_client(), membership))
    call = Client(headers={"host": "localhost", "authorization": f"Bearer {token}"})
    assert call.post("/api/v1/tools/get_account", {}, JSON).status_code == 200
    happens(membership)
    answer = call.post("/api/v1/tools/get_account", {}, JSON)
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer["WWW-Authenticate"]


@pytest.mark.parametrize(
    "header",
    rows(
        ("RFC 6750 §2.1", "Bearer nonsense"),
        ("RFC 6750 §2.1", "Bearer "),
        ("RFC 6750 §2.1", "Bearer two words"),
        ("RFC 6750 §2.1", "Bearer nul\0"),
        ("RFC 6750 §2.1", "Bearer " + LONG),
        ("RFC 6750 §2.1", "Basic YTpi"),
        ("RFC 6750 §2.1", "Token abc"),
    ),
)
def test_a_header_that_is_no_token(header: str, acme: Fill) -> None:
    answer = Client(headers={"host": "localhost", "authorization": header}).post("/api/v1/tools/get_account")
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer ")


@pytest.mark.parametrize("kind", ["refresh", "code", "client_secret"])
@pytest.mark.spec("RFC 6750 §3.1")
def test_no_other_secret_passes_for_an_access_token(kind: str, membership: Membership) -> None:
    client = make_client(secret="porthole_at_secret")
    authorization = make_authorization(client, membership)
    secrets = {
        "refresh": make_refresh_token(authorization),
        "code": make_code(client, membership),
        "client_secret": "porthole_at_secret",
    }
    headers = {"host": "localhost", "authorization": f"Bearer {secrets[kind]}"}
    assert Client(headers=headers).post("/api/v1/tools/get_account").status_code == 401
    query = Client(headers={"host": "localhost"}).post(f"/api/v1/tools/get_account?access_token={secrets[kind]}")
    assert query.status_code == 401


@pytest.mark.parametrize("path", ["register", "token", "revoke"])
@pytest.mark.spec("RFC 6749 §5.2")
def test_an_unknown_host_is_told_so_in_json(path: str) -> None:
    answer = Client(headers={"host": "evil.example"}).post(f"/api/auth/mcp/{path}", {}, JSON)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
