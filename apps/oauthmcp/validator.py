"""What oauthlib asks while it answers: who the client is, what a code or a token is good for, what to keep of it.

Every call of the token endpoint runs in one transaction. It locks the code, or the authorization that a refresh token
belongs to, so two calls with the same one come one after the other.
"""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.crypto import constant_time_compare
from oauth2_provider.models import set_token_value
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError

from apps.oauthmcp.models import (
    AccessToken,
    Application,
    Authorization,
    Grant,
    RefreshToken,
    hash_of,
    idle_expiry,
)
from apps.oauthmcp.parameters import canonical_resource
from apps.tools.base import SCOPES

ACCESS_TOKEN_LIFETIME = timedelta(hours=1)
CODE_LIFETIME = timedelta(seconds=60)
# A browser that sends a form twice, a client that tries again: no thief, so nobody is signed out for it.
HONEST_RETRY = timedelta(seconds=10)
# Answers get lost. Whoever presents the same refresh token again within this time gets the same successor again.
GRACE = timedelta(seconds=30)


class Validator(OAuth2Validator):
    # Clients

    def _check_secret(self, provided_secret: str, stored_secret: str) -> bool:
        return bool(stored_secret) and constant_time_compare(hash_of(provided_secret), stored_secret)

    # Scopes

    def validate_scopes(
        self, client_id: str, scopes: list[str], client: Any, request: Request, *a: Any, **k: Any
    ) -> bool:
        """Drops what is unknown here, such as openid; there must be something left."""
        request.scopes = [scope for scope in SCOPES if scope in scopes]
        return bool(request.scopes)

    # Codes

    def _create_authorization_code(self, request: Request, code: dict[str, str], expires: Any = None) -> Grant:
        now = timezone.now()
        Application.objects.filter(pk=request.client.pk, authorized_at=None).update(authorized_at=now)
        return Grant.objects.create(
            application=request.client,
            user=request.membership.user,
            membership=request.membership,
            code=hash_of(code["code"]),
            expires=now + CODE_LIFETIME,
            redirect_uri=request.redirect_uri,
            scope=" ".join(request.scopes),
            code_challenge=request.code_challenge,
            code_challenge_method=request.code_challenge_method,
            resource=[canonical_resource()],
        )

    def validate_code(self, client_id: str, code: str, client: Any, request: Request, *a: Any, **k: Any) -> bool:
        grant = (
            Grant.objects.select_for_update(of=("self",))
            .select_related("membership__user")
            .filter(code=hash_of(code), application=client)
            .first()
        )
        if grant is None:
            return False
        if grant.redeemed_at is not None:
            self._suspect_theft_of_code(grant)
            return False
        user = grant.membership.user
        changed = user.password_changed_at
        if grant.is_expired() or not user.is_active or (changed and changed > grant.created):
            return False
        request.grant = grant
        request.user = user
        request.scopes = grant.scope.split()
        return True

    @staticmethod
    def _suspect_theft_of_code(grant: Grant) -> None:
        """RFC 6749 §4.1.2: what was issued for a code that comes a second time is revoked."""
        if grant.redeemed_at and timezone.now() - grant.redeemed_at > HONEST_RETRY:
            Authorization.objects.filter(pk=grant.authorization_id).revoke()

    def get_code_challenge(self, code: str, request: Request) -> str:
        return str(request.grant.code_challenge)

    def get_code_challenge_method(self, code: str, request: Request) -> str:
        return str(request.grant.code_challenge_method)

    def get_default_redirect_uri(self, client_id: str, request: Request, *a: Any, **k: Any) -> str | None:
        # OAuth 2.1 has no redirect_uri in the token request any more: PKCE does what it was for.
        if (grant := getattr(request, "grant", None)) is not None:
            return str(grant.redirect_uri)
        return request.client.default_redirect_uri

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: Any, *a: Any, **k: Any
    ) -> bool:
        request = a[0]
        if redirect_uri != request.grant.redirect_uri:
            # RFC 6749 §5.2 calls it invalid_grant; False would become oauthlib's invalid_request.
            raise InvalidGrantError("redirect_uri is not the one of the authorization request.", request=request)
        return True

    def invalidate_authorization_code(self, client_id: str, code: str, request: Request, *a: Any, **k: Any) -> None:
        """Kept, and marked, so that a second use is recognized."""
        Grant.objects.filter(pk=request.grant.pk).update(
            redeemed_at=timezone.now(), authorization=request.authorization
        )

    # Refresh tokens

    def validate_refresh_token(self, refresh_token: str, client: Any, request: Request, *a: Any, **k: Any) -> bool:
        token = (
            RefreshToken.objects.filter(token_checksum=hash_of(refresh_token), application=client)
            .only("pk", "authorization_id")
            .first()
        )
        if token is None:
            return False
        authorizations = Authorization.objects.filter(pk=token.authorization_id)
        authorizations.select_for_update().first()  # whoever else refreshes this family waits here
        authorization = authorizations.alive().select_related("membership__user").first()
        if authorization is None:
            return False
        token = RefreshToken.objects.get(pk=token.pk)  # what the one before us left of it
        if token.revoked is not None and timezone.now() - token.revoked > GRACE:
            authorizations.revoke()  # RFC 9700 §4.14.2: two hold the same token, and one of them stole it
            return False
        request.authorization = authorization
        request.refresh_token_instance = token
        request.refresh_token = refresh_token
        request.user = authorization.membership.user
        return True

    def get_original_scopes(self, refresh_token: str, request: Request, *a: Any, **k: Any) -> list[str]:
        return str(request.authorization.scope).split()

    # Tokens

    def _save_bearer_token(self, token: dict[str, Any], request: Request, *a: Any, **k: Any) -> None:
        expires = timezone.now() + ACCESS_TOKEN_LIFETIME
        may_refresh = "refresh_token" in request.client.grant_types
        presented = getattr(request, "refresh_token_instance", None)
        if presented is None:
            request.authorization = Authorization.objects.create(
                application=request.client,
                membership=request.grant.membership,
                scope=token["scope"],
                expires_at=idle_expiry() if may_refresh else expires,
            )
        else:
            Authorization.objects.filter(pk=request.authorization.pk).update(expires_at=idle_expiry())
        self._create_access_token(expires, request, token)
        if may_refresh:
            self._create_refresh_token(request, token["refresh_token"], presented)
        else:
            del token["refresh_token"]

    def _create_access_token(self, expires: Any, request: Request, token: dict[str, Any]) -> None:
        row = AccessToken(
            user=request.user,
            application=request.client,
            authorization=request.authorization,
            scope=token["scope"],
            expires=expires,
            resource=[canonical_resource()],
        )
        set_token_value(row, token["access_token"])
        row.save()

    def _create_refresh_token(self, request: Request, raw_token: str, presented: RefreshToken | None) -> None:
        """Also of a token that was rotated within the grace: then its successor is there already."""
        if presented is not None and presented.revoked is None:
            RefreshToken.objects.filter(pk=presented.pk).update(revoked=timezone.now())
        if presented is not None and RefreshToken.objects.filter(token_checksum=hash_of(raw_token)).exists():
            return
        row = RefreshToken(
            user=request.user,
            application=request.client,
            authorization=request.authorization,
            resource=[canonical_resource()],
        )
        set_token_value(row, raw_token)
        row.save()

    def revoke_token(self, token: str, token_type_hint: str | None, request: Request, *a: Any, **k: Any) -> None:
        """RFC 7009 §2.1: a refresh token takes its whole family along; so does an access token, which MAY."""
        for model in (RefreshToken, AccessToken):
            found = model.objects.filter(token_checksum=hash_of(token), application=request.client)
            Authorization.objects.filter(pk__in=found.values("authorization_id")).revoke()
