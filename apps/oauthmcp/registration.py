"""Dynamic client registration (RFC 7591)."""

import secrets
from typing import Any

from django.http import HttpRequest, HttpResponse

from apps.net.encryption import hash_of
from apps.oauthmcp import client_metadata, limits, parameters, unused_clients
from apps.oauthmcp.errors import OAuthError, endpoint
from apps.oauthmcp.models import Application
from apps.oauthmcp.unused_clients import Origin
from apps.web.render import json_response

INVALID = "invalid_client_metadata"
# What has a column of its own; the rest of what is registered is in Application.metadata.
COLUMNS = ("redirect_uris", "client_name", "token_endpoint_auth_method")


@endpoint
def register(request: HttpRequest) -> HttpResponse:
    """§3.1, §3.2."""
    limits.take(limits.REGISTRATIONS, request)
    registered = client_metadata.read(_read(request))
    origin = unused_clients.origin_of(request.client_address)  # type: ignore[attr-defined]
    unused_clients.quota.take(origin)
    is_public = registered["token_endpoint_auth_method"] == Application.AuthMethod.NONE
    secret = "" if is_public else secrets.token_urlsafe(32)
    client = _create(registered, secret, origin)
    answer = {"client_id": client.client_id, "client_id_issued_at": int(client.created.timestamp())}
    if secret:
        answer |= {"client_secret": secret, "client_secret_expires_at": 0}  # §3.2.1: 0 means never
    return json_response(answer | registered, 201)


def _read(request: HttpRequest) -> dict[str, Any]:
    if request.content_type != "application/json":
        raise OAuthError(INVALID, "Send the metadata as application/json.")
    return parameters.parse_json(parameters.read_body(request, INVALID), INVALID)


def _create(registered: dict[str, Any], secret: str, origin: Origin) -> Application:
    return Application.objects.create(
        name=registered.get("client_name", ""),
        redirect_uris=" ".join(registered["redirect_uris"]),
        token_endpoint_auth_method=registered["token_endpoint_auth_method"],
        client_type=Application.CLIENT_CONFIDENTIAL if secret else Application.CLIENT_PUBLIC,
        client_secret=hash_of(secret) if secret else "",
        metadata={name: value for name, value in registered.items() if name not in COLUMNS},
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        registration_source=Application.RegistrationSource.DCR,
        registrant_address=origin.address,
        registrant_network=origin.network,
    )
