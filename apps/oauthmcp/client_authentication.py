"""Client authentication (RFC 6749 §2.3): a public client by its id, a confidential one also by its secret."""

import base64
from urllib.parse import unquote_plus

from django.utils.crypto import constant_time_compare

from apps.net.encryption import hash_of
from apps.oauthmcp.errors import OAuthError
from apps.oauthmcp.models import Application
from apps.oauthmcp.parameters import Parameters, value_of

CHALLENGE = {"WWW-Authenticate": 'Basic realm="Porthole", charset="UTF-8"'}  # RFC 7617 §2.1


def authenticate(authorization: str, given: Parameters) -> Application:
    """`authorization` is the request's header, "" where there is none. Raises OAuthError."""
    client_id, secret = value_of(given, "client_id"), value_of(given, "client_secret")
    basic = _basic(authorization)
    if basic is not None:
        if secret is not None:
            raise OAuthError("invalid_request", "Send client_secret in the header or in the body, not in both.")
        if client_id not in (None, basic[0]):
            raise OAuthError("invalid_request", "client_id in the body is not the one in the header.")
        client_id, secret = basic
    challenge = CHALLENGE if basic else {}
    if not client_id:
        raise _invalid_client("Say which client asks: client_id is missing.", challenge)
    client = Application.objects.filter(client_id=client_id).first()
    if client is None or not client.is_usable(None):
        raise _invalid_client("There is no client with this client_id. It has to register again.", challenge)
    if not _is_authenticated(client, secret):
        raise _invalid_client("client_secret is not this client's.", challenge)
    return client


def _basic(authorization: str) -> tuple[str, str | None] | None:
    """Id and secret of HTTP Basic, each URL-encoded before (§2.3.1). None: some other scheme."""
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        text = base64.b64decode(credentials.strip(), validate=True).decode()
        client_id, secret = (unquote_plus(part, errors="strict") for part in text.split(":", 1))
    except ValueError:  # not base64, not UTF-8, or no colon
        raise _invalid_client("The Authorization header cannot be read.", CHALLENGE) from None
    if "\0" in client_id:
        raise _invalid_client("The Authorization header cannot be read.", CHALLENGE)
    return client_id, secret or None  # §2.3.1: an empty secret is the same as none


def _is_authenticated(client: Application, secret: str | None) -> bool:
    if client.client_type == Application.CLIENT_PUBLIC:
        return secret is None  # it has no secret, so one that is sent is another client's
    return bool(secret and client.client_secret) and constant_time_compare(hash_of(str(secret)), client.client_secret)


def _invalid_client(description: str, challenge: dict[str, str]) -> OAuthError:
    return OAuthError("invalid_client", description, 401, challenge)
