"""The token endpoint (RFC 6749 §3.2): exchanges a code or a refresh token for an access token."""

import logging

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from apps.oauthmcp import limits, parameters
from apps.oauthmcp.errors import OAuthError, endpoint
from apps.oauthmcp.models import GRANT_TYPES
from apps.oauthmcp.server import backend

log = logging.getLogger("porthole.errors")
# oauthlib keeps whatever comes under other names beside its own and our attributes of the request: `user`, `client`.
EXPECTED = frozenset(
    {"grant_type", "client_id", "client_secret", "code", "code_verifier", "redirect_uri", "refresh_token", "scope"}
)


@endpoint
def token(request: HttpRequest) -> HttpResponse:
    limits.take(limits.TOKENS, request)
    given = parameters.of_body(request)
    parameters.check_resource(given)
    _check_grant_type(parameters.value_of(given, "grant_type"))
    # RFC 6749 §3.2: parameters that are not known are ignored.
    request.oauth_parameters = [(name, value) for name, value in given if name in EXPECTED]  # type: ignore[attr-defined]
    try:
        with transaction.atomic():
            _uri, headers, body, status = backend().create_token_response(request)
    except IntegrityError as error:
        # The member or the client was deleted between our query and our commit.
        log.warning("the grant was deleted meanwhile: %s", type(error).__name__)
        raise OAuthError("invalid_grant", "This is no longer allowed.") from None
    return HttpResponse(body, status=status, headers=headers)


def _check_grant_type(grant_type: str | None) -> None:
    if grant_type is None:
        raise OAuthError("invalid_request", "grant_type is missing.")
    if grant_type not in GRANT_TYPES:
        raise OAuthError("unsupported_grant_type", f"grant_type must be one of: {', '.join(GRANT_TYPES)}.")
