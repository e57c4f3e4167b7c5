"""What openapi.json says of the OAuth endpoints is what they do."""

import pytest

from tests.api import published
from tests.factories import Fill
from tests.oauthmcp.contract import post_form, post_json, validate_oauth
from tests.oauthmcp.grants import (
    REDIRECT_URI,
    VERIFIER,
    make_access_token,
    make_authorization,
    make_client,
    make_code,
    make_member,
)

posts = pytest.mark.parametrize("post", [post_form, post_json], ids=["form", "json"])


@posts
@pytest.mark.spec("RFC 6749 §5.1")
def test_a_token_is_answered_as_it_is_described(acme: Fill, post) -> None:
    client = make_client()
    code = make_code(client, make_member(acme.organization))
    fields = {"client_id": client.client_id, "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER, "code": code}
    first = post("token", {"grant_type": "authorization_code", **fields})
    assert first.status_code == 200, first.content
    fields = {"client_id": client.client_id, "refresh_token": first.json()["refresh_token"]}
    assert post("token", {"grant_type": "refresh_token", **fields}).status_code == 200


@posts
@pytest.mark.spec("RFC 6749 §5.2")
def test_a_refusal_is_answered_as_it_is_described(db: None, post) -> None:
    client = make_client()
    refresh = {"grant_type": "refresh_token", "refresh_token": "unknown"}
    answers = [
        post("token", refresh | {"client_id": client.client_id}),
        post("token", refresh | {"client_id": "unknown"}),
        post("token", {"grant_type": "password", "client_id": client.client_id}),
        post("token", refresh | {"padding": "x" * 20_000}),
    ]
    assert [answer.status_code for answer in answers] == [400, 401, 400, 413]
    errors = ["invalid_grant", "invalid_client", "unsupported_grant_type", "invalid_request"]
    assert [answer.json()["error"] for answer in answers] == errors


@posts
@pytest.mark.spec("RFC 7009 §2.2")
def test_giving_a_token_back_is_answered_as_it_is_described(acme: Fill, post) -> None:
    client = make_client()
    token = make_access_token(make_authorization(client, make_member(acme.organization)))
    for given in (token, "unknown"):
        answer = post("revoke", {"token": given, "client_id": client.client_id})
        assert (answer.status_code, answer.json()) == (200, {})
    assert post("revoke", {"token": token}).status_code == 401


@pytest.mark.spec("RFC 7591 §3.2.1")
@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post"])
def test_a_registration_is_answered_as_it_is_described(db: None, method: str) -> None:
    document = published()["components"]["schemas"]
    everything = {
        "redirect_uris": [REDIRECT_URI, "https://client.example/callback"],
        "client_name": "Deploy watcher",
        "token_endpoint_auth_method": method,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": "apps:read",
        **dict.fromkeys(("client_uri", "logo_uri", "tos_uri", "policy_uri"), "https://client.example/"),
        "software_id": "watcher",
        "software_version": "1",
        "application_type": "native",
    }
    assert set(everything) == set(document["ClientRegistration"]["properties"])
    for said in (everything, {"redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": method}):
        answer = post_json("register", said)
        assert answer.status_code == 201, answer.content
        assert answer.json().items() >= said.items()
    for problem in ({}, {"redirect_uris": ["http://evil.example/"]}, {**everything, "client_uri": "http://x.example/"}):
        assert post_json("register", problem).status_code == 400


def test_an_answer_that_is_not_described_is_noticed(db: None) -> None:
    answer = post_form("token", {"grant_type": "refresh_token", "client_id": "unknown", "refresh_token": "x"})
    answer.content = b'{"error":"invalid_client","stack":"secret"}'
    with pytest.raises(AssertionError, match="stack"):
        validate_oauth("token", answer)
