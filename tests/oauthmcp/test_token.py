"""The token endpoint: codes and refresh tokens go in, tokens come out."""

from typing import Any

import pytest
from django.test import Client

from apps.oauthmcp.models import AccessToken, Authorization, RefreshToken
from tests.factories import Fill
from tests.oauthmcp.grants import ALL_SCOPES, REDIRECT_URI, VERIFIER, make_client, make_code, make_member


def post(**fields: str) -> Any:
    from urllib.parse import urlencode

    return Client(headers={"host": "localhost"}).post(
        "/api/auth/mcp/token", urlencode(fields), content_type="application/x-www-form-urlencoded"
    )


@pytest.mark.spec("RFC 6749 §4.1.3")
def test_a_code_gives_an_access_token_and_a_refresh_token(acme: Fill) -> None:
    client = make_client()
    code = make_code(client, make_member(acme.organization))
    answer = post(
        grant_type="authorization_code", client_id=client.client_id, code=code, code_verifier=VERIFIER,
        redirect_uri=REDIRECT_URI,
    )  # fmt: skip
    assert answer.status_code == 200, answer.content
    token = answer.json()
    assert set(token) == {"access_token", "token_type", "expires_in", "refresh_token", "scope"}
    assert token["token_type"] == "Bearer"
    assert token["expires_in"] == 3600
    assert token["scope"] == ALL_SCOPES
    assert answer["Cache-Control"] == "no-store"
    refreshed = post(grant_type="refresh_token", client_id=client.client_id, refresh_token=token["refresh_token"])
    assert refreshed.status_code == 200, refreshed.content
    again = post(grant_type="refresh_token", client_id=client.client_id, refresh_token=token["refresh_token"])
    assert again.status_code == 200, again.content
    assert again.json()["refresh_token"] == refreshed.json()["refresh_token"] != token["refresh_token"]
    assert again.json()["access_token"] != refreshed.json()["access_token"]
    assert (Authorization.objects.count(), AccessToken.objects.count(), RefreshToken.objects.count()) == (1, 3, 2)
    wrong = post(grant_type="refresh_token", client_id="nobody", refresh_token=token["refresh_token"])
    assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_client")
