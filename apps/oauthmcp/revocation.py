"""Token revocation (RFC 7009)."""

from django.http import HttpRequest, HttpResponse

from apps.net.encryption import hash_of
from apps.oauthmcp import limits, parameters
from apps.oauthmcp.client_authentication import authenticate
from apps.oauthmcp.errors import OAuthError, endpoint
from apps.oauthmcp.models import AccessToken, Application, Authorization, RefreshToken
from apps.web.render import json_response


@endpoint
def revoke(request: HttpRequest) -> HttpResponse:
    """200 whether or not there was such a token: nobody learns which ones exist (§2.2)."""
    limits.take(limits.TOKENS, request)
    given = parameters.of_body(request)
    client = authenticate(request.META.get("HTTP_AUTHORIZATION", ""), given)
    token = parameters.value_of(given, "token")
    if token is None:
        raise OAuthError("invalid_request", "token is missing.")
    revoke_family_of(token, client)
    return json_response({})  # §2.2: clients ignore the body; those that parse every response get something to parse


def revoke_family_of(token: str, client: Application) -> None:
    """§2.1: a refresh token takes its whole family along; so does an access token, which MAY. token_type_hint is
    left unread: looking in both places is cheaper than to go wrong by it."""
    for model in (RefreshToken, AccessToken):
        found = model.objects.filter(token_checksum=hash_of(token), application=client)
        Authorization.objects.filter(pk__in=found.values("authorization_id")).revoke()
