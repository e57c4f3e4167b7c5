"""oauthlib's request validator: authenticates clients, validates codes and refresh tokens, stores what is issued.

Every call of the token endpoint runs in one transaction. It locks the code, or the authorization that a refresh token
belongs to, so two calls with the same one come one after the other.
"""

from collections.abc import Container
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone
from oauth2_provider.models import set_token_value
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749.errors import InvalidGrantError, InvalidScopeError, UnauthorizedClientError
from oauthlib.oauth2.rfc6749.grant_types.authorization_code import code_challenge_method_s256

from apps.net.encryption import hash_of
from apps.oauthmcp.client_authentication import authenticate
from apps.oauthmcp.models import (
    CODE_LIFETIME,
    AccessToken,
    Application,
    Authorization,
    Grant,
    RefreshToken,
    idle_expiry,
)
from apps.oauthmcp.parameters import canonical_resource
from apps.oauthmcp.server import successors_of
from apps.orgs.callers import SCOPES

# A code replayed within this time is taken for a retry, so its tokens are not revoked.
RETRY_WINDOW = timedelta(seconds=10)
# Responses get lost. Within this time a rotated refresh token can be used again, for the same successor.
ROTATION_GRACE = timedelta(seconds=30)
# One description for all reasons, so that whoever holds a stolen one does not learn which it was.
BAD_CODE = "The code is unknown, expired, used, or was not given out for this client, redirect_uri and code_verifier."
BAD_REFRESH_TOKEN = "The refresh token is unknown, expired, used, revoked, or another client's."  # noqa: S105


class Validator(OAuth2Validator):
    # Clients

    def client_authentication_required(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        return True  # authenticate_client knows what a public client needs

    def authenticate_client(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        """Raises OAuthError, which oauthlib lets pass: its own invalid_client asks for a bearer token."""
        request.client = authenticate(request.headers["Authorization"], request.decoded_body)
        request.client_id = request.client.client_id
        return True

    def validate_grant_type(
        self, client_id: str, grant_type: str, client: Application, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        if grant_type not in client.grant_types:
            raise UnauthorizedClientError(f"This client did not register for {grant_type}.", request=request)
        return True

    # Scopes

    def validate_scopes(
        self, client_id: str, scopes: list[str], client: Application, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        """Drops what is unknown here, such as openid; there must be something left."""
        request.scopes = [scope for scope in SCOPES if scope in scopes]
        return bool(request.scopes)

    # Codes

    def _create_authorization_code(
        self, request: Request, code: dict[str, str], expires: datetime | None = None
    ) -> Grant:
        now = timezone.now()
        Application.objects.filter(pk=request.client.pk, authorized_at=None).update(
            authorized_at=now, registrant_address="", registrant_network=""
        )
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

    def validate_code(
        self, client_id: str, code: str, client: Application, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        grant = (
            Grant.objects.select_for_update(of=("self",))
            .select_related("membership__user")
            .filter(code=hash_of(code), application=client)
            .first()
        )
        if grant is None or not _is_for(request, grant):
            raise InvalidGrantError(BAD_CODE, request=request)
        if grant.redeemed_at is not None:
            _handle_code_replay(grant, grant.redeemed_at)
            raise InvalidGrantError(BAD_CODE, request=request)
        user = grant.membership.user
        changed = user.password_changed_at
        if grant.is_expired() or not user.is_active or (changed and changed > grant.created):
            raise InvalidGrantError(BAD_CODE, request=request)
        request.grant = grant
        request.user = user
        request.scopes = grant.scope.split()
        return True

    def get_code_challenge(self, code: str, request: Request) -> str:
        return str(request.grant.code_challenge)

    def get_code_challenge_method(self, code: str, request: Request) -> str:
        return "S256"  # there are no others: server.require_s256

    def get_default_redirect_uri(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> str | None:
        # vars(): oauthlib would look for a parameter of that name too.
        if grant := vars(request).get("grant"):
            return str(grant.redirect_uri)
        return request.client.default_redirect_uri

    def confirm_redirect_uri(self, *args: Any, **kwargs: Any) -> bool:
        return True  # validate_code did, for the code of a second use too

    def invalidate_authorization_code(
        self, client_id: str, code: str, request: Request, *args: Any, **kwargs: Any
    ) -> None:
        """Kept, and marked, so that a second use is recognized."""
        Grant.objects.filter(pk=request.grant.pk).update(
            redeemed_at=timezone.now(), authorization=request.authorization
        )

    # Refresh tokens

    def validate_refresh_token(
        self, refresh_token: str, client: Application, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        presented = RefreshToken.objects.filter(token_checksum=hash_of(refresh_token), application=client)
        family = Authorization.objects.filter(pk__in=presented.values("authorization_id"))
        family.select_for_update().first()  # whoever else refreshes this family waits here
        authorization = family.active().select_related("membership__user").first()
        token = presented.first()  # as the request before us left it
        if authorization is None or token is None:
            raise InvalidGrantError(BAD_REFRESH_TOKEN, request=request)
        if token.revoked is not None and timezone.now() - token.revoked > ROTATION_GRACE:
            family.revoke()  # RFC 9700 §4.14.2: a replayed refresh token
            raise InvalidGrantError(BAD_REFRESH_TOKEN, request=request)
        request.authorization = authorization
        request.presented = token
        request.successor = _newest_after(refresh_token, token)
        request.user = authorization.membership.user
        return True

    def get_original_scopes(self, refresh_token: str, request: Request, *args: Any, **kwargs: Any) -> list[str]:
        return str(request.authorization.scope).split()

    def is_within_original_scope(
        self, request_scopes: list[str], refresh_token: str, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        """Called when some of them were not granted. Unknown ones are dropped later, as at authorize."""
        if not set(request_scopes).intersection(SCOPES) <= set(request.authorization.scope.split()):
            raise InvalidScopeError("The scope is more than what was granted.", request=request)
        return True

    # Tokens

    def _save_bearer_token(self, token: dict[str, Any], request: Request, *args: Any, **kwargs: Any) -> None:
        expires = timezone.now() + timedelta(seconds=token["expires_in"])
        may_refresh = "refresh_token" in request.client.grant_types
        presented = vars(request).get("presented")
        if presented is None:
            request.authorization = _create_authorization(
                request, token["scope"], idle_expiry() if may_refresh else expires
            )
        else:
            Authorization.objects.filter(pk=request.authorization.pk).update(expires_at=idle_expiry())
        self._create_access_token(expires, request, token)
        if may_refresh:
            self._create_refresh_token(request, token["refresh_token"], presented)
        else:
            del token["refresh_token"]

    def _create_access_token(self, expires: datetime, request: Request, token: dict[str, Any]) -> None:
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
        if presented is not None and presented.revoked is None:
            RefreshToken.objects.filter(pk=presented.pk).update(revoked=timezone.now())
        elif presented is not None and RefreshToken.objects.filter(token_checksum=hash_of(raw_token)).exists():
            return  # stored when it was first issued
        row = RefreshToken(
            user=request.user,
            application=request.client,
            authorization=request.authorization,
            resource=[canonical_resource()],
        )
        set_token_value(row, raw_token)
        row.save()


def _is_for(request: Request, grant: Grant) -> bool:
    # OAuth 2.1 has no redirect_uri in the token request any more: PKCE does what it was for.
    return request.redirect_uri in (None, grant.redirect_uri) and code_challenge_method_s256(
        request.code_verifier, grant.code_challenge
    )


def _handle_code_replay(grant: Grant, redeemed_at: datetime) -> None:
    """RFC 6749 §4.1.2: a replayed code revokes the tokens that were issued for it.

    Only with its code_verifier. Whoever has no more than the code (from a log, from a browser's history) cannot have
    got those tokens, and must not be able to revoke them.
    """
    if timezone.now() - redeemed_at > RETRY_WINDOW:
        Authorization.objects.filter(pk=grant.authorization_id).revoke()


def _create_authorization(request: Request, scope: str, expires_at: datetime) -> Authorization:
    return Authorization.objects.create(
        application=request.client,
        membership=request.grant.membership,
        scope=scope,
        redirect_uri=request.grant.redirect_uri,
        # When consent was given: a password that is changed meanwhile still ends it.
        created=request.grant.created,
        expires_at=expires_at,
    )


def _newest_after(raw_token: str, token: RefreshToken) -> str:
    """The refresh token to issue for this one.

    Normally its successor. If that was rotated too (A went R0, R1, R2 while B's answer to R0 got lost), the one at the
    end of the chain: with R1, B would count as a replay as soon as the grace period of R1 is over. This reveals
    nothing new: R1 was rotated after R0, so B could have walked the chain itself.
    """
    if token.revoked is None:
        return next(successors_of(raw_token))
    since = token.revoked - ROTATION_GRACE  # the clocks of two machines may differ
    family = RefreshToken.objects.filter(authorization_id=token.authorization_id)
    later = family.filter(Q(revoked=None) | Q(revoked__gte=since)).values_list("token_checksum", "revoked")
    rotated = dict(later)
    newest = _successor(raw_token, rotated)
    while rotated.get(hash_of(newest)) is not None:
        newest = _successor(newest, rotated)
    return newest


def _successor(raw_token: str, stored: Container[str]) -> str:
    """The one that was issued, by whichever key it was derived: `stored` has the hashes. Else a new one."""
    issued = (successor for successor in successors_of(raw_token) if hash_of(successor) in stored)
    return next(issued, next(successors_of(raw_token)))
