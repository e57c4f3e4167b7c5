"""Revocation (RFC 7009): a client gives back what it was let in with."""

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from apps.oauthmcp import parameters
from apps.oauthmcp.errors import endpoint
from apps.oauthmcp.server import backend


@endpoint
def revoke(request: HttpRequest) -> HttpResponse:
    """200 whether or not there was such a token: nobody learns which ones exist (§2.2)."""
    request.oauth_parameters = parameters.of_body(request)  # type: ignore[attr-defined]
    with transaction.atomic():
        _uri, headers, body, status = backend().create_revocation_response(request)
    return HttpResponse(body, status=status, headers=headers)
