"""Refresh tokens: rotation, the grace for lost answers, what a second use means, and narrower scopes."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.net.encryption import hash_of
from apps.oauthmcp.models import AccessToken, Application, Authorization, RefreshToken
from tests.factories import Fill
from tests.oauthmcp.grants import ALL_SCOPES, make_authorization, make_client, make_member, make_refresh_token
from tests.oauthmcp.programs import redeem, refresh, refusal

NO_GRANT = (400, "invalid_grant")


@pytest.fixture
def authorization(acme: Fill) -> Authorization:
    return make_authorization(make_client(), make_member(acme.organization))


@pytest.fixture
def client(authorization: Authorization) -> Application:
    return authorization.application


@pytest.fixture
def first(authorization: Authorization) -> str:
    return make_refresh_token(authorization)


def rotated_before(token: str, seconds: float) -> None:
    RefreshToken.objects.filter(token_checksum=hash_of(token)).update(
        revoked=timezone.now() - timedelta(seconds=seconds)
    )


def next_of(client: Application, token: str) -> str:
    answer = refresh(client, token)
    assert answer.status_code == 200
    return str(answer.json()["refresh_token"])


def is_active() -> bool:
    return Authorization.objects.active().exists()


@pytest.mark.spec("RFC 6749 §6")
def test_a_refresh_token_gives_an_access_token_and_the_next_refresh_token(
    client: Application, authorization: Authorization, first: str
) -> None:
    answer = refresh(client, first)
    assert answer.status_code == 200
    token = answer.json()
    assert set(token) == {"access_token", "token_type", "expires_in", "refresh_token", "scope"}
    assert (token["token_type"], token["expires_in"], token["scope"]) == ("Bearer", 3600, ALL_SCOPES)
    assert token["refresh_token"] != first
    access = AccessToken.objects.get()
    assert access.authorization == authorization
    assert access.token_checksum == hash_of(token["access_token"])
    assert access.resource == ["http://localhost:8000"]
    assert next_of(client, token["refresh_token"]) not in (first, token["refresh_token"])


@pytest.mark.spec("RFC 9700 §4.14.2")
def test_a_lost_answer_is_cured_by_asking_again(client: Application, first: str) -> None:
    one = refresh(client, first).json()
    rotated_before(first, 29)
    two = refresh(client, first).json()
    assert one["refresh_token"] == two["refresh_token"]
    assert one["access_token"] != two["access_token"]
    assert (AccessToken.objects.count(), RefreshToken.objects.count()) == (2, 2)
    assert is_active()


@pytest.mark.spec("RFC 9700 §4.14.2")
def test_asking_again_does_not_lengthen_the_grace(client: Application, first: str) -> None:
    refresh(client, first)
    rotated_before(first, 20)
    refresh(client, first)
    rotated = RefreshToken.objects.get(token_checksum=hash_of(first)).revoked
    assert rotated is not None
    assert timezone.now() - rotated >= timedelta(seconds=20)


@pytest.mark.spec("RFC 9700 §4.14.2")
def test_a_second_use_after_the_grace_ends_the_whole_family(client: Application, first: str) -> None:
    second = next_of(client, first)
    rotated_before(first, 31)
    assert refusal(refresh(client, first)) == NO_GRANT
    assert not is_active()
    assert refusal(refresh(client, second)) == NO_GRANT


@pytest.mark.spec("RFC 9700 §4.14.2")
def test_another_family_of_the_same_client_and_user_lives_on(
    client: Application, authorization: Authorization, first: str
) -> None:
    other = make_refresh_token(make_authorization(client, authorization.membership))
    next_of(client, first)
    rotated_before(first, 31)
    refresh(client, first)
    assert refresh(client, other).status_code == 200


@pytest.mark.spec("RFC 9700 §4.14.2")
def test_who_asks_again_when_the_successor_was_rotated_too_gets_the_newest(client: Application, first: str) -> None:
    second = next_of(client, first)
    third = next_of(client, second)
    assert next_of(client, first) == next_of(client, second) == third
    fourth = next_of(client, third)
    assert next_of(client, first) == fourth
    for token in (first, second, third):
        rotated_before(token, 3600)
    assert refresh(client, fourth).status_code == 200
    assert RefreshToken.objects.count() == 5


def test_a_new_server_key_between_two_tries_is_no_error(client: Application, first: str, settings: Any) -> None:
    second = next_of(client, first)
    settings.SECRET_KEY = "another-key-that-is-also-long-enough-to-be-one"
    again = next_of(client, first)
    assert again != second
    assert next_of(client, second) not in (first, second, again)
    assert refresh(client, again).status_code == 200
    assert is_active()


OLD, NEW = "the-old-key-" * 5, "the-new-key-" * 5


def served_with(settings: Any, key: str, *fallbacks: str) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = key, list(fallbacks)


@pytest.mark.parametrize(("before", "after"), [(OLD, NEW), (NEW, OLD)])
def test_asking_again_gives_the_same_successor_whichever_key_derived_it(
    client: Application, first: str, settings: Any, before: str, after: str
) -> None:
    served_with(settings, before, after)
    second = next_of(client, first)
    served_with(settings, after, before)
    assert next_of(client, first) == second
    third = next_of(client, second)
    served_with(settings, before, after)
    assert next_of(client, first) == next_of(client, second) == third
    fourth = next_of(client, third)
    served_with(settings, after, before)
    assert next_of(client, first) == fourth
    assert RefreshToken.objects.count() == 4


def test_a_replay_is_noticed_whichever_key_derived_the_successor(
    client: Application, first: str, settings: Any
) -> None:
    served_with(settings, OLD, NEW)
    second = next_of(client, first)
    rotated_before(first, 31)
    served_with(settings, NEW, OLD)
    assert refusal(refresh(client, first)) == NO_GRANT
    assert refusal(refresh(client, second)) == NO_GRANT


@pytest.mark.spec("OAuth 2.1 §4.3.1")
def test_refreshing_keeps_the_authorization_alive_for_thirty_days_more(
    client: Application, authorization: Authorization, first: str
) -> None:
    soon = timezone.now() + timedelta(minutes=1)
    Authorization.objects.update(expires_at=soon)
    refresh(client, first)
    authorization.refresh_from_db()
    assert authorization.expires_at > timezone.now() + timedelta(days=29)


@pytest.mark.spec("OAuth 2.1 §4.3.1")
def test_thirty_idle_days_end_it(client: Application, first: str) -> None:
    Authorization.objects.update(expires_at=timezone.now())
    assert refusal(refresh(client, first)) == NO_GRANT
    assert RefreshToken.objects.get().revoked is None


def test_a_refresh_token_dies_with_its_user(client: Application, authorization: Authorization, first: str) -> None:
    user = authorization.membership.user
    user.is_active = False
    user.save()
    assert refusal(refresh(client, first)) == NO_GRANT
    user.is_active = True
    user.set_password("another-long-password")
    user.save()
    assert refusal(refresh(client, first)) == NO_GRANT


def test_a_refresh_token_dies_with_the_membership(
    client: Application, authorization: Authorization, first: str
) -> None:
    authorization.membership.delete()
    assert refusal(refresh(client, first)) == NO_GRANT


@pytest.mark.spec("RFC 6749 §10.4")
def test_a_refresh_token_is_for_one_client_only_and_another_cannot_end_it(client: Application, first: str) -> None:
    other = make_client("Other")
    assert refusal(refresh(other, first)) == NO_GRANT
    next_of(client, first)
    rotated_before(first, 31)
    assert refusal(refresh(other, first)) == NO_GRANT
    assert is_active()


def test_other_kinds_of_secrets_are_no_refresh_tokens(client: Application, first: str) -> None:
    access_token = refresh(client, first).json()["access_token"]
    for wrong in (access_token, hash_of(first), "made-up"):
        assert refusal(refresh(client, wrong)) == NO_GRANT
    assert refusal(redeem(client, first)) == NO_GRANT
    assert refusal(refresh(client, "")) == (400, "invalid_request")


@pytest.mark.spec("RFC 6749 §6")
def test_a_narrower_scope_is_for_this_access_token_only(
    client: Application, authorization: Authorization, first: str
) -> None:
    token = refresh(client, first, scope="docs:read apps:read apps:read").json()
    assert token["scope"] == AccessToken.objects.get().scope == "apps:read docs:read"
    authorization.refresh_from_db()
    assert authorization.scope == ALL_SCOPES
    assert refresh(client, token["refresh_token"]).json()["scope"] == ALL_SCOPES


@pytest.mark.spec("RFC 6749 §6")
def test_more_than_was_granted_is_an_invalid_scope_and_uses_nothing_up(
    client: Application, authorization: Authorization, first: str
) -> None:
    Authorization.objects.update(scope="apps:read docs:read")
    for scope in ("apps:read config:read", "config:read", "openid", "offline_access openid", "  ", "apps:READ", "x,y"):
        assert refusal(refresh(client, first, scope=scope)) == (400, "invalid_scope")
    assert RefreshToken.objects.get().revoked is None
    assert refresh(client, first).json()["scope"] == "apps:read docs:read"


@pytest.mark.spec("RFC 6749 §3.3")
def test_scopes_that_are_unknown_here_are_dropped(client: Application, first: str) -> None:
    token = refresh(client, first, scope="openid apps:read offline_access").json()
    assert token["scope"] == "apps:read"


@pytest.mark.spec("RFC 8707 §2.2")
def test_a_resource_must_be_ours(client: Application, first: str) -> None:
    assert refusal(refresh(client, first, resource="https://evil.example")) == (400, "invalid_target")
    assert refresh(client, first, resource="http://localhost:8000/mcp/").status_code == 200


@pytest.mark.spec("RFC 6749 §5.2")
def test_a_client_that_did_not_register_for_refresh_tokens_may_not_refresh(client: Application, first: str) -> None:
    client.metadata = {"grant_types": ["authorization_code"]}
    client.save()
    assert refusal(refresh(client, first)) == (400, "unauthorized_client")
    assert is_active()
