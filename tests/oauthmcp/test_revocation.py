"""Revocation: what a client gives back, what goes with it, and what nobody learns by it."""

import pytest

from apps.net.encryption import hash_of
from apps.oauthmcp.models import AccessToken, Application, Authorization, RefreshToken
from tests.factories import Fill
from tests.oauthmcp.grants import (
    make_access_token,
    make_authorization,
    make_client,
    make_code,
    make_member,
    make_refresh_token,
)
from tests.oauthmcp.programs import ask, redeem, refresh, refusal, revoke


@pytest.fixture
def authorization(acme: Fill) -> Authorization:
    return make_authorization(make_client(), make_member(acme.organization))


@pytest.fixture
def client(authorization: Authorization) -> Application:
    return authorization.application


def is_active(authorization: Authorization) -> bool:
    return Authorization.objects.active().filter(pk=authorization.pk).exists()


@pytest.mark.spec("RFC 7009 §2.1")
@pytest.mark.parametrize("make", [make_access_token, make_refresh_token])
@pytest.mark.parametrize("hint", [None, "access_token", "refresh_token", "id_token", "x" * 4000])
def test_either_token_ends_the_whole_family_whatever_the_hint(
    client: Application, authorization: Authorization, make: object, hint: str | None
) -> None:
    token, other = make(authorization), make_refresh_token(authorization)  # type: ignore[operator]
    answer = revoke(client, token, token_type_hint=hint)
    assert (answer.status_code, answer.json()) == (200, {})
    assert not is_active(authorization)
    assert refusal(refresh(client, other)) == (400, "invalid_grant")


@pytest.mark.spec("RFC 7009 §2.1")
def test_a_rotated_refresh_token_still_ends_its_family(client: Application, authorization: Authorization) -> None:
    first = make_refresh_token(authorization)
    refresh(client, first)
    assert revoke(client, first).status_code == 200
    assert not is_active(authorization)


@pytest.mark.spec("RFC 7009 §2.2")
def test_an_unknown_token_is_as_good_as_revoked(client: Application, authorization: Authorization) -> None:
    token = make_access_token(authorization)
    code = make_code(client, authorization.membership)
    for wrong in ("made-up", hash_of(token), token + "x", "Ä\u2028" * 9, code, "x" * 4096):
        assert revoke(client, wrong).status_code == 200
    assert is_active(authorization)
    assert redeem(client, code).status_code == 200


@pytest.mark.spec("RFC 7009 §2.2")
def test_a_token_may_be_revoked_twice(client: Application, authorization: Authorization) -> None:
    token = make_access_token(authorization)
    revoke(client, token)
    revoked_at = Authorization.objects.get().revoked_at
    assert revoke(client, token).status_code == 200
    assert Authorization.objects.get().revoked_at == revoked_at


@pytest.mark.spec("RFC 7009 §2.1")
def test_a_client_cannot_revoke_what_another_holds(client: Application, authorization: Authorization) -> None:
    other = make_client("Other")
    for token in (make_access_token(authorization), make_refresh_token(authorization)):
        assert revoke(other, token).status_code == 200
    assert is_active(authorization)


@pytest.mark.spec("RFC 7009 §2.1")
def test_another_authorization_of_the_same_user_and_client_lives_on(
    client: Application, authorization: Authorization
) -> None:
    other = make_authorization(client, authorization.membership)
    revoke(client, make_refresh_token(authorization))
    assert is_active(other)


@pytest.mark.spec("RFC 7009 §2.1")
@pytest.mark.parametrize("token", [None, ""])
def test_without_a_token_it_is_an_invalid_request(client: Application, token: str | None) -> None:
    assert refusal(ask("revoke", client_id=client.client_id, token=token)) == (400, "invalid_request")


@pytest.mark.spec("RFC 7009 §2.1")
def test_revoking_keeps_the_rows_so_that_a_second_use_is_still_recognized(
    client: Application, authorization: Authorization
) -> None:
    make_access_token(authorization)
    revoke(client, make_refresh_token(authorization))
    assert (AccessToken.objects.count(), RefreshToken.objects.count()) == (1, 1)
