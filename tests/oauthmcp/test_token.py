"""The token endpoint with a code: what it gives, to whom, how often, and how it refuses."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError
from django.test import Client
from django.utils import timezone

from apps.net.encryption import hash_of
from apps.oauthmcp import limits
from apps.oauthmcp.models import AccessToken, Application, Authorization, Grant, RefreshToken
from apps.orgs.callers import SCOPES
from apps.orgs.models import Membership
from apps.web.limits import Buckets
from tests.factories import Fill
from tests.oauthmcp.grants import ALL_SCOPES, REDIRECT_URI, VERIFIER, make_client, make_code, make_member
from tests.oauthmcp.programs import ask, checked, redeem, refresh, refusal, send

NO_GRANT = (400, "invalid_grant")


@pytest.fixture
def member(acme: Fill) -> Membership:
    return make_member(acme.organization)


@pytest.fixture
def client(member: Membership) -> Application:
    return make_client()


def redeemed_long_ago(code: str) -> None:
    Grant.objects.filter(code=hash_of(code)).update(redeemed_at=timezone.now() - timedelta(seconds=11))


def is_active() -> bool:
    return Authorization.objects.active().exists()


@pytest.mark.spec("RFC 6749 §5.1")
def test_a_code_gives_an_access_token_and_a_refresh_token(client: Application, member: Membership) -> None:
    answer = redeem(client, make_code(client, member), redirect_uri=REDIRECT_URI)
    assert answer.status_code == 200
    token = answer.json()
    assert set(token) == {"access_token", "token_type", "expires_in", "refresh_token", "scope"}
    assert (token["token_type"], token["expires_in"], token["scope"]) == ("Bearer", 3600, ALL_SCOPES)
    authorization = Authorization.objects.get()
    assert (authorization.application, authorization.membership) == (client, member)
    access, again = AccessToken.objects.get(), RefreshToken.objects.get()
    assert access.token_checksum == hash_of(token["access_token"])
    assert again.token_checksum == hash_of(token["refresh_token"])
    assert access.authorization == again.authorization == authorization
    assert access.resource == again.resource == ["http://localhost:8000"]
    assert timedelta(minutes=59) < access.expires - timezone.now() <= timedelta(hours=1)
    assert timedelta(days=29) < authorization.expires_at - timezone.now() <= timedelta(days=30)


@pytest.mark.spec("RFC 6749 §5.1")
def test_expires_in_is_the_lifetime_that_is_stored(client: Application, member: Membership) -> None:
    before = timezone.now()
    issued = redeem(client, make_code(client, member)).json()
    refreshed = refresh(client, issued["refresh_token"]).json()
    stored = AccessToken.objects.order_by("id").values_list("expires", flat=True)
    for token, expires in zip((issued, refreshed), stored, strict=True):
        assert before <= expires - timedelta(seconds=token["expires_in"]) <= timezone.now()


@pytest.mark.spec("RFC 6749 §3.3")
def test_the_scope_is_that_of_the_consent_and_no_other(client: Application, member: Membership) -> None:
    answer = redeem(client, make_code(client, member, "apps:read"), scope=ALL_SCOPES)
    assert answer.json()["scope"] == AccessToken.objects.get().scope == Authorization.objects.get().scope == "apps:read"


@pytest.mark.spec("RFC 7591 §2")
def test_a_client_that_did_not_register_for_refresh_tokens_gets_none(member: Membership) -> None:
    client = make_client(metadata={"grant_types": ["authorization_code"]})
    token = redeem(client, make_code(client, member)).json()
    assert set(token) == {"access_token", "token_type", "expires_in", "scope"}
    assert RefreshToken.objects.count() == 0
    assert Authorization.objects.get().expires_at == AccessToken.objects.get().expires


@pytest.mark.spec("RFC 6749 §5.2")
def test_a_client_that_did_not_register_for_codes_may_not_redeem_one(member: Membership) -> None:
    client = make_client(metadata={"grant_types": ["refresh_token"]})
    assert refusal(redeem(client, make_code(client, member))) == (400, "unauthorized_client")


@pytest.mark.spec("OAuth 2.1 §4.1.3")
@pytest.mark.parametrize("redirect_uri", [None, REDIRECT_URI])
def test_the_redirect_uri_may_be_left_out(client: Application, member: Membership, redirect_uri: str | None) -> None:
    assert redeem(client, make_code(client, member), redirect_uri=redirect_uri).status_code == 200


@pytest.mark.spec("RFC 6749 §4.1.3")
@pytest.mark.parametrize("redirect_uri", [f"{REDIRECT_URI}/", "https://evil.example/", "http://127.0.0.1:9/callback"])
def test_another_redirect_uri_is_refused(client: Application, member: Membership, redirect_uri: str) -> None:
    code = make_code(client, member)
    assert refusal(redeem(client, code, redirect_uri=redirect_uri)) == NO_GRANT
    assert redeem(client, code).status_code == 200


@pytest.mark.spec("RFC 7636 §4.6")
def test_a_wrong_verifier_is_refused_and_does_not_use_the_code_up(client: Application, member: Membership) -> None:
    code = make_code(client, member)
    assert refusal(redeem(client, code, code_verifier="w" * 43)) == NO_GRANT
    assert redeem(client, code).status_code == 200


@pytest.mark.spec("RFC 7636 §4.1")
@pytest.mark.parametrize("verifier", [None, "", "s" * 42, "l" * 129, "ä" * 43, "=" * 43, " " * 43, "a\n" * 30])
def test_a_missing_or_malformed_verifier_is_an_invalid_request(
    client: Application, member: Membership, verifier: str | None
) -> None:
    assert refusal(redeem(client, make_code(client, member), code_verifier=verifier)) == (400, "invalid_request")


@pytest.mark.spec("RFC 7636 §4.6")
@pytest.mark.parametrize(
    "row", [{"code_challenge": ""}, {"code_challenge": VERIFIER, "code_challenge_method": "plain"}]
)
def test_a_code_without_an_s256_challenge_opens_nothing(
    client: Application, member: Membership, row: dict[str, str]
) -> None:
    assert refusal(redeem(client, make_code(client, member, **row))) == NO_GRANT


@pytest.mark.spec("RFC 6749 §4.1.2")
def test_a_code_lives_a_minute(client: Application, member: Membership) -> None:
    code = make_code(client, member)
    Grant.objects.update(expires=timezone.now())
    assert refusal(redeem(client, code)) == NO_GRANT
    assert refusal(redeem(client, "made-up")) == NO_GRANT


@pytest.mark.spec("RFC 6749 §4.1.3")
def test_a_code_is_for_one_client_only(client: Application, member: Membership) -> None:
    code = make_code(client, member)
    assert refusal(redeem(make_client("Other"), code)) == NO_GRANT
    assert redeem(client, code).status_code == 200


def test_a_code_dies_with_its_user(client: Application, member: Membership) -> None:
    code = make_code(client, member)
    user = member.user
    user.is_active = False
    user.save()
    assert refusal(redeem(client, code)) == NO_GRANT
    user.is_active = True
    user.set_password("another-long-password")
    user.save()
    assert refusal(redeem(client, code)) == NO_GRANT


def test_a_code_dies_with_the_membership(client: Application, member: Membership) -> None:
    code = make_code(client, member)
    member.delete()
    assert refusal(redeem(client, code)) == NO_GRANT


def test_a_password_changed_while_the_code_was_redeemed_ends_what_it_gave(
    client: Application, member: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = make_code(client, member)
    in_time = timezone.now()
    redeem(client, code)
    assert is_active()
    type(member.user).objects.filter(pk=member.user.pk).update(password_changed_at=in_time)
    assert not is_active()


@pytest.mark.spec("RFC 6749 §4.1.2")
def test_a_code_that_comes_twice_at_once_is_refused_and_nobody_is_signed_out(
    client: Application, member: Membership
) -> None:
    code = make_code(client, member)
    token = redeem(client, code).json()
    assert refusal(redeem(client, code)) == NO_GRANT
    assert is_active()
    assert refresh(client, token["refresh_token"]).status_code == 200


@pytest.mark.spec("RFC 6749 §4.1.2")
def test_a_code_that_comes_again_later_revokes_what_it_gave(client: Application, member: Membership) -> None:
    code = make_code(client, member)
    token = redeem(client, code).json()
    redeemed_long_ago(code)
    assert refusal(redeem(client, code)) == NO_GRANT
    assert not is_active()
    assert refusal(refresh(client, token["refresh_token"])) == NO_GRANT


@pytest.mark.spec("RFC 6749 §4.1.2")
def test_a_code_that_comes_again_after_it_expired_revokes_too(client: Application, member: Membership) -> None:
    code = make_code(client, member)
    redeem(client, code)
    redeemed_long_ago(code)
    Grant.objects.update(expires=timezone.now() - timedelta(days=20))
    assert refusal(redeem(client, code)) == NO_GRANT
    assert not is_active()


@pytest.mark.spec("RFC 9700 §4.5")
@pytest.mark.parametrize(
    "fields", [{"code_verifier": "w" * 43}, {"code_verifier": None}, {"redirect_uri": "https://evil.example/"}]
)
def test_who_has_no_more_than_an_old_code_cannot_sign_its_owner_out(
    client: Application, member: Membership, fields: dict[str, str | None]
) -> None:
    code = make_code(client, member)
    redeem(client, code)
    redeemed_long_ago(code)
    assert redeem(client, code, **fields).status_code == 400
    assert redeem(make_client("Other"), code).status_code == 400
    assert is_active()


@pytest.mark.spec("RFC 8707 §2.2")
@pytest.mark.parametrize("path", ["", "/", "/mcp", "/mcp/", "/api/v1", "/api/v1/"])
def test_every_spelling_of_our_doors_is_the_same_resource(client: Application, member: Membership, path: str) -> None:
    answer = redeem(client, make_code(client, member), resource=f"http://localhost:8000{path}")
    assert answer.status_code == 200
    assert AccessToken.objects.get().resource == ["http://localhost:8000"]


@pytest.mark.spec("RFC 8707 §2")
@pytest.mark.parametrize("resource", ["https://evil.example/mcp", "http://localhost:8000/mcpx", "mcp"])
def test_another_resource_is_an_invalid_target(client: Application, member: Membership, resource: str) -> None:
    code = make_code(client, member)
    assert refusal(redeem(client, code, resource=resource)) == (400, "invalid_target")
    two = f"grant_type=authorization_code&resource=http://localhost:8000/mcp&resource={resource}"
    assert refusal(send("token", two)) == (400, "invalid_target")
    assert redeem(client, code).status_code == 200


@pytest.mark.spec("RFC 6749 §5.2")
@pytest.mark.parametrize(
    "grant_type",
    [
        *("password", "implicit", "client_credentials", "openid", "Authorization_Code", "refresh_token ", "x" * 4000),
        "urn:ietf:params:oauth:grant-type:device_code",
    ],
)
def test_other_grant_types_are_unsupported(client: Application, member: Membership, grant_type: str) -> None:
    code = make_code(client, member)
    answer = redeem(client, code, grant_type=grant_type, username="ada@example.com", password="x", device_code="x")
    assert refusal(answer) == (400, "unsupported_grant_type")
    assert AccessToken.objects.count() == 0


@pytest.mark.spec("RFC 6749 §5.2")
@pytest.mark.parametrize("left_out", ["grant_type", "code", "code_verifier"])
def test_a_missing_parameter_is_an_invalid_request(client: Application, member: Membership, left_out: str) -> None:
    fields = {"grant_type": "authorization_code", "code": make_code(client, member), "code_verifier": VERIFIER}
    del fields[left_out]
    assert refusal(ask(client_id=client.client_id, **fields)) == (400, "invalid_request")


@pytest.mark.spec("RFC 6749 §3.2")
@pytest.mark.parametrize(
    "name",
    [
        *("user", "client_type", "grant", "membership", "authorization", "presented", "successor", "scopes", "state"),
        *("extra_credentials", "expires_in", "refresh_token", "token", "claims", "response_type", "request", "body"),
        *("client", "headers", "decoded_body", "_params"),
    ],
)
def test_parameters_that_are_not_expected_change_nothing(client: Application, member: Membership, name: str) -> None:
    for _ in range(2):  # a chosen refresh token would collide the second time
        given = {"grant_type": "authorization_code", "client_id": client.client_id, "code_verifier": VERIFIER}
        answer = send("token", {**given, "code": make_code(client, member, "apps:read"), name: "config:read"})
        assert answer.status_code == 200
        assert answer.json()["scope"] == "apps:read"
        assert answer.json()["expires_in"] == 3600
        assert set(answer.json()) == {"access_token", "token_type", "expires_in", "refresh_token", "scope"}
    assert RefreshToken.objects.count() == 2


@pytest.mark.spec("RFC 6749 §5.2")
def test_an_error_says_nothing_of_parameters_that_are_not_expected(client: Application, db: None) -> None:
    answer = redeem(client, "made-up", state="state", error_uri="https://evil.example")
    assert set(answer.json()) == {"error", "error_description"}


def test_tokens_tell_what_they_are(client: Application, member: Membership) -> None:
    token = redeem(client, make_code(client, member)).json()
    assert token["access_token"].startswith("porthole_at_")
    assert token["refresh_token"].startswith("porthole_rt_")
    assert len(token["access_token"]) == len(token["refresh_token"]) == 12 + 43


def test_the_access_token_opens_the_organization_of_the_consent(
    client: Application, member: Membership, rival: Fill
) -> None:
    make_member(rival.organization)
    redeem(client, make_code(client, member))
    assert AccessToken.objects.get().authorization.membership.organization == member.organization


@pytest.mark.parametrize("path", ["token", "revoke"])
@pytest.mark.parametrize("method", ["get", "head", "put", "patch", "delete", "trace"])
def test_only_post_is_answered(db: None, path: str, method: str) -> None:
    answer = checked_method(path, method)
    assert answer.status_code == 405
    assert answer["Allow"] == "POST, OPTIONS"


def checked_method(path: str, method: str) -> Any:
    answer = Client(headers={"host": "localhost"}).generic(method.upper(), f"/api/auth/mcp/{path}")
    return answer if method == "head" else checked(answer)


@pytest.mark.parametrize("path", ["token", "revoke"])
def test_a_preflight_and_the_answer_are_open_to_every_origin(db: None, path: str) -> None:
    origin = {"origin": "https://somewhere.example"}
    preflight = Client(headers={"host": "localhost", **origin}).options(f"/api/auth/mcp/{path}")
    assert preflight.status_code == 204
    answer = ask(path, origin, grant_type="refresh_token", refresh_token="x", token="x", client_id="nobody")
    assert answer["Access-Control-Allow-Origin"] == preflight["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer


@pytest.mark.parametrize("path", ["token", "revoke"])
def test_an_address_that_asks_too_often_waits(
    db: None, path: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(limits, "TOKENS", Buckets(burst=2, per_second=0.1))
    assert [ask(path).status_code for _ in "12"] == [400] * 2
    answer = ask(path)
    assert refusal(answer) == (429, "temporarily_unavailable")
    assert 1 <= int(answer["Retry-After"]) <= 10


@pytest.mark.parametrize("path", ["token", "revoke"])
def test_a_database_that_is_away_is_503_and_a_bug_is_500_and_neither_tells_anything(
    client: Application, path: str, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.DEBUG = False
    fields = {"grant_type": "refresh_token", "refresh_token": "x", "token": "x", "client_id": client.client_id}

    def fails_with(error: Exception) -> Any:
        def fail(*args: Any, **kwargs: Any) -> None:
            raise error

        monkeypatch.setattr(Application.objects, "filter", fail)
        return ask(path, **fields)

    away = OperationalError("connection to 10.0.0.7 refused")
    away.__cause__ = type("Busy", (Exception,), {"sqlite_errorname": "SQLITE_BUSY"})()
    answer = fails_with(away)
    assert refusal(answer) == (503, "temporarily_unavailable")
    assert answer["Retry-After"] == "5"
    for error in (RuntimeError("the secret is 42"), DatabaseError("no such column: secret")):
        answer = fails_with(error)
        assert refusal(answer) == (500, "server_error")
        assert "secret" not in answer.content.decode()
        assert answer["X-Request-Id"] in answer.json()["error_description"]


def test_what_is_granted_is_listed_in_the_order_of_our_scopes() -> None:
    assert ALL_SCOPES.split() == list(SCOPES)
