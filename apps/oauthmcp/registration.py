"""Dynamic client registration (RFC 7591)."""

import secrets
import time
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from apps.net.encryption import hash_of
from apps.oauthmcp import client_metadata, limits, parameters
from apps.oauthmcp.errors import OAuthError, endpoint
from apps.oauthmcp.models import Application
from apps.web.render import json_response

INVALID = "invalid_client_metadata"
# What has a column of its own; the rest of what is registered is in Application.metadata.
COLUMNS = ("redirect_uris", "client_name", "token_endpoint_auth_method")
# Registration is open, so clients that were never authorized are kept within bounds.
MAX_UNUSED = 10_000
MAX_UNUSED_TOTAL = 100_000
MIN_AGE = timedelta(hours=24)  # of a client that may be deleted: somebody may be about to authorize it
CHECK_EVERY_N = 50  # registrations in one process: counting costs more than registering
RETRY_AFTER = 60  # seconds


@endpoint
def register(request: HttpRequest) -> HttpResponse:
    """§3.1, §3.2."""
    limits.take(limits.REGISTRATIONS, request)
    registered = client_metadata.read(_read(request))
    unused_clients.take()
    is_public = registered["token_endpoint_auth_method"] == Application.AuthMethod.NONE
    secret = "" if is_public else secrets.token_urlsafe(32)
    client = _create(registered, secret)
    answer = {"client_id": client.client_id, "client_id_issued_at": int(client.created.timestamp())}
    if secret:
        answer |= {"client_secret": secret, "client_secret_expires_at": 0}  # §3.2.1: 0 means never
    return json_response(answer | registered, 201)


def _read(request: HttpRequest) -> dict[str, Any]:
    if request.content_type != "application/json":
        raise OAuthError(INVALID, "Send the metadata as application/json.")
    return parameters.parse_json(parameters.read_body(request, INVALID), INVALID)


def _create(registered: dict[str, Any], secret: str) -> Application:
    return Application.objects.create(
        name=registered.get("client_name", ""),
        redirect_uris=" ".join(registered["redirect_uris"]),
        token_endpoint_auth_method=registered["token_endpoint_auth_method"],
        client_type=Application.CLIENT_CONFIDENTIAL if secret else Application.CLIENT_PUBLIC,
        client_secret=hash_of(secret) if secret else "",
        metadata={name: value for name, value in registered.items() if name not in COLUMNS},
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        registration_source=Application.RegistrationSource.DCR,
    )


class UnusedClientQuota:
    """How many more clients may register without being authorized. Each process counts them once in a while."""

    def __init__(self) -> None:
        self.left = 0  # registrations until the next count
        self.full_until = 0.0

    def take(self) -> None:
        """Counts one registration. Raises OAuthError, 503, when there is no quota left."""
        now = time.monotonic()
        if now >= self.full_until and self.left <= 0:
            if self._has_capacity():
                self.left = CHECK_EVERY_N
            else:
                self.full_until = now + RETRY_AFTER
        if now < self.full_until:
            headers = {"Retry-After": str(RETRY_AFTER)}
            raise OAuthError("temporarily_unavailable", "Too many clients registered at once.", 503, headers)
        self.left -= 1

    @staticmethod
    def _has_capacity() -> bool:
        unused = _unused()[:MAX_UNUSED_TOTAL].count()
        if unused >= MAX_UNUSED:
            # More than registered since the last count: it shrinks back to its bound.
            unused -= _delete_oldest(min(unused - MAX_UNUSED + 1, 2 * CHECK_EVERY_N))
        return unused < MAX_UNUSED_TOTAL


unused_clients = UnusedClientQuota()


def _unused() -> QuerySet[Application]:
    # Never the ones that operators registered, nor our own.
    return Application.objects.filter(authorized_at=None, registration_source=Application.RegistrationSource.DCR)


def _delete_oldest(number: int) -> int:
    """Deletes the oldest unused ones, while nobody can be authorizing them, and returns how many."""
    with transaction.atomic():
        old = _unused().filter(created__lt=timezone.now() - MIN_AGE).order_by("created")
        locked = list(old.select_for_update(skip_locked=True).values_list("pk", flat=True)[:number])
        Application.objects.filter(pk__in=locked).delete()
    return len(locked)
