"""Authlib's client: every way to authenticate that the metadata offers, from registration to revocation."""

from typing import Any

import pytest
import requests
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session

from tests.oauthmcp.clients.server import REDIRECT_URI, Server
from tests.oauthmcp.grants import VERIFIER
from tests.patience import patience

METHODS = [
    "none",
    pytest.param("client_secret_basic", marks=pytest.mark.both_databases),
    "client_secret_post",
]
SCOPE = "account:read apps:read"


def connect(server: Server, method: str) -> tuple[OAuth2Session, dict[str, Any]]:
    metadata = requests.get(f"{server.url}/.well-known/oauth-authorization-server", timeout=patience()).json()
    assert method in metadata["token_endpoint_auth_methods_supported"]
    registration = {"redirect_uris": [REDIRECT_URI], "client_name": "Authlib", "token_endpoint_auth_method": method}
    registered = requests.post(metadata["registration_endpoint"], json=registration, timeout=patience()).json()
    session = OAuth2Session(
        registered["client_id"],
        registered.get("client_secret"),
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        scope=SCOPE,
        redirect_uri=REDIRECT_URI,
        code_challenge_method="S256",
    )
    return session, metadata


def let_in(server: Server, session: OAuth2Session, metadata: dict[str, Any]) -> dict[str, Any]:
    url, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=VERIFIER, resource=f"{server.url}/api/v1"
    )
    answer = server.allow(url)
    token: dict[str, Any] = session.fetch_token(
        metadata["token_endpoint"], authorization_response=answer, state=state, code_verifier=VERIFIER
    )
    return token


@pytest.mark.spec("RFC 6749 §4.1", "RFC 6749 §2.3.1", "RFC 7636 §4")
@pytest.mark.parametrize("method", METHODS)
def test_it_gets_in_refreshes_and_gives_back(server: Server, method: str) -> None:
    session, metadata = connect(server, method)
    with session:
        first = dict(let_in(server, session, metadata))
        assert first["token_type"] == "Bearer"
        assert first["scope"] == SCOPE
        assert session.post(server.tool("get_account"), json={}).json()["organization"]["slug"] == "acme"
        assert session.post(server.tool("list_env_vars"), json={}).status_code == 403

        second = dict(session.refresh_token(metadata["token_endpoint"]))
        assert second["access_token"] != first["access_token"]
        assert second["refresh_token"] != first["refresh_token"]
        assert session.post(server.tool("get_account"), json={}).status_code == 200

        given_back = session.revoke_token(
            metadata["revocation_endpoint"], token=second["refresh_token"], token_type_hint="refresh_token"
        )
        assert given_back.status_code == 200
        assert session.post(server.tool("get_account"), json={}).status_code == 401
        with pytest.raises(OAuthError, match="invalid_grant"):
            session.refresh_token(metadata["token_endpoint"], refresh_token=second["refresh_token"])


@pytest.mark.spec("RFC 6749 §5.2")
@pytest.mark.parametrize("method", METHODS[1:])
def test_a_wrong_secret_is_told_as_invalid_client(server: Server, method: str) -> None:
    session, metadata = connect(server, method)
    with session:
        session.client_secret = "not-the-secret"
        with pytest.raises(OAuthError, match="invalid_client"):
            let_in(server, session, metadata)
