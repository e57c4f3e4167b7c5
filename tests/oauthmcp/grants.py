"""Rows for tests of access: clients, codes, authorizations and tokens, as the endpoints would leave them."""

import base64
import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from oauth2_provider.models import set_token_value
from oauthlib.common import Request

from apps.net.encryption import hash_of
from apps.oauthmcp.models import AccessToken, Application, Authorization, Grant, RefreshToken, idle_expiry
from apps.oauthmcp.server import new_access_token, new_refresh_token
from apps.orgs.callers import SCOPES
from apps.orgs.models import Membership, Organization, User
from tests.accounts.visitors import PASSWORD

ALL_SCOPES = " ".join(SCOPES)
REDIRECT_URI = "http://127.0.0.1:8123/callback"
VERIFIER = "a-code-verifier-of-at-least-43-characters-as-RFC-7636-wants"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


def make_member(organization: Organization, email: str = "ada@example.com", **fields: Any) -> Membership:
    user = User.objects.filter(email=email).first() or User.objects.create_user(email, PASSWORD, **fields)
    return Membership.objects.create(organization=organization, user=user)


def make_client(name: str = "Test client", *, secret: str = "", **fields: Any) -> Application:
    """A public client; with a secret, one that presents it by Basic or in the body."""
    return Application.objects.create(
        **{
            "name": name,
            "redirect_uris": REDIRECT_URI,
            "client_type": "confidential" if secret else "public",
            "authorization_grant_type": "authorization-code",
            "client_secret": hash_of(secret) if secret else "",
            "token_endpoint_auth_method": "client_secret_basic" if secret else "none",
            "registration_source": "dcr",
            **fields,
        }
    )


def make_code(client: Application, membership: Membership, scope: str = ALL_SCOPES, **fields: Any) -> str:
    """An authorization code that VERIFIER redeems."""
    code = secrets.token_urlsafe(24)
    Grant.objects.create(
        **{
            "application": client,
            "user": membership.user,
            "membership": membership,
            "code": hash_of(code),
            "expires": timezone.now() + timedelta(seconds=60),
            "redirect_uri": REDIRECT_URI,
            "scope": scope,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "resource": [settings.PUBLIC_URL],
            **fields,
        }
    )
    return code


def make_authorization(
    client: Application, membership: Membership, scope: str = ALL_SCOPES, **fields: Any
) -> Authorization:
    return Authorization.objects.create(
        **{
            "application": client,
            "membership": membership,
            "scope": scope,
            "expires_at": idle_expiry(),
            **fields,
        }
    )


def make_access_token(authorization: Authorization, **fields: Any) -> str:
    return _token(
        AccessToken,
        new_access_token(Request("")),
        authorization,
        {"scope": authorization.scope, "expires": timezone.now() + timedelta(hours=1), **fields},
    )


def make_refresh_token(authorization: Authorization, **fields: Any) -> str:
    return _token(RefreshToken, new_refresh_token(Request("")), authorization, fields)


def _token(model: Any, raw: str, authorization: Authorization, fields: dict[str, Any]) -> str:
    row = model(
        user=authorization.membership.user,
        application=authorization.application,
        authorization=authorization,
        **{"resource": [settings.PUBLIC_URL], **fields},
    )
    set_token_value(row, raw)
    row.save()
    return raw
