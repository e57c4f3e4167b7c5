"""A GitHub App's credentials: it signs who it is with its private key, and is given tokens that expire in an hour."""

import base64
import hashlib
import json
from collections.abc import Hashable
from datetime import datetime, timedelta
from functools import partial

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from apps.sources.hosts import minted
from apps.sources.hosts.answers import login, text, time
from apps.sources.hosts.api import Api
from apps.sources.hosts.credentials import VISIBLE, Credentials
from apps.sources.hosts.host import Forbidden, HostError, NotThere, Unprocessable, bearer
from apps.sources.hosts.minted import MAX_LIFE, Minted, MintedTokens

NAME = "GitHub"
SKEW = timedelta(seconds=60)  # GitHub's clock may be behind ours
LIFE = timedelta(minutes=9)  # of what is signed; GitHub takes ten at most
MAX_TOKEN = 4096
# What a token may do: less than the app itself, so that what leaks in a fetch cannot write.
PERMISSIONS = {"contents": "read", "metadata": "read"}
LACKS_CONTENTS = (
    "GitHub answered 422: the app lacks the permission to read contents. Give it Contents: Read-only in its settings, "
    "under Permissions & events, and accept that where it is installed."
)
NOT_INSTALLED = "GitHub answered 404: this app has no installation with this id."
SUSPENDED = "GitHub answered 403: it gives this installation no tokens. Was the installation suspended?"
tokens = MintedTokens()


def installation_token(base_url: str, api_url: str, credentials: Credentials) -> str:
    """One that reads what the installation can read, good for five minutes at least. Raises HostError."""
    return tokens.get(_key(base_url, credentials), partial(_mint, api_url, credentials))


def forget(base_url: str, credentials: Credentials) -> None:
    """Throws away what was minted, because GitHub refused it. The next token is minted anew."""
    tokens.forget(_key(base_url, credentials))


def installation(api_url: str, credentials: Credentials) -> tuple[str, bool]:
    """Whose account it is installed in, and whether it may change something there. Raises HostError."""
    api = _api(api_url, credentials)
    try:
        told = api.get("the installation", f"app/installations/{credentials.installation_id}").value
    except NotThere:
        raise NotThere(NOT_INSTALLED) from None
    row = told if isinstance(told, dict) else {}
    account, permissions = login(row.get("account"), "login"), row.get("permissions")
    if account is None or not isinstance(permissions, dict):
        raise api.not_understood("the installation")
    return account, any(level in ("write", "admin") for level in permissions.values())


def _api(api_url: str, credentials: Credentials) -> Api:
    """GitHub's API for the app itself, for a few minutes. Raises HostError."""
    authorization = {"Authorization": bearer(signed(credentials, minted.now()))}
    return Api(NAME, api_url, authorization, given="app's id or private key")


def signed(credentials: Credentials, at: datetime) -> str:
    """A JSON Web Token (RFC 7519) with RS256, as GitHub wants apps to tell who they are. Raises HostError."""
    issued = int((at - SKEW).timestamp())
    claims = {"iat": issued, "exp": int((at + LIFE).timestamp()), "iss": credentials.app_id}
    message = f"{_part({'alg': 'RS256', 'typ': 'JWT'})}.{_part(claims)}"
    signature = _private_key(credentials).sign(message.encode(), PKCS1v15(), SHA256())
    return f"{message}.{_base64(signature)}"


def _mint(api_url: str, credentials: Credentials) -> Minted:
    api = _api(api_url, credentials)
    path = f"app/installations/{credentials.installation_id}/access_tokens"
    try:
        answer = api.post("the installation", path, {"permissions": PERMISSIONS})
    except Unprocessable:
        raise Unprocessable(LACKS_CONTENTS) from None
    except Forbidden:
        raise Forbidden(SUSPENDED) from None
    except NotThere:
        raise NotThere(NOT_INSTALLED) from None
    token, expires_at = text(answer.value, "token") or "", time(text(answer.value, "expires_at"))
    if expires_at is not None and len(token) <= MAX_TOKEN and VISIBLE.fullmatch(token):
        return Minted(token, min(expires_at, minted.now() + MAX_LIFE))
    del token  # out of what a traceback shows
    raise api.not_understood("the installation's token")


def _key(base_url: str, credentials: Credentials) -> Hashable:
    digest = hashlib.sha256(credentials.secret.encode()).digest()
    return base_url, credentials.app_id, credentials.installation_id, digest


def _private_key(credentials: Credentials) -> RSAPrivateKey:
    try:
        key = load_pem_private_key(credentials.secret.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, RSAPrivateKey):
        return key
    raise HostError("The private key is none that GitHub made for an app: it must be an RSA key in PEM, unencrypted.")


def _part(value: object) -> str:
    return _base64(json.dumps(value, separators=(",", ":")).encode())


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
