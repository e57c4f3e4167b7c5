"""The token endpoint (RFC 6749 §3.2): a code or a refresh token goes in, an access token comes out."""

from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from apps.oauthmcp import parameters
from apps.oauthmcp.errors import endpoint
from apps.oauthmcp.server import backend


@endpoint
def token(request: HttpRequest) -> HttpResponse:
    request.oauth_parameters = parameters.of_body(request)  # type: ignore[attr-defined]
    parameters.check_resource(request.oauth_parameters)  # type: ignore[attr-defined]
    with transaction.atomic():
        _uri, headers, body, status = backend().create_token_response(request)
    return _response(headers, body, status)


def _response(headers: dict[str, Any], body: str, status: int) -> HttpResponse:
    return HttpResponse(body, status=status, headers=headers)
