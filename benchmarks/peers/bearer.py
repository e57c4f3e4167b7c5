"""The bearer of the peers on Django: one joined query by the token's hash."""

from datetime import datetime
from hashlib import sha256
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from benchmarks.peers.models import AccessToken, Organization

PATH = "authorization__membership__organization"


def _valid(authorization: str) -> Any:
    now = timezone.now()
    return AccessToken.objects.filter(
        token_checksum=sha256(authorization.removeprefix("Bearer ").encode()).hexdigest(),
        expires__gt=now,
        authorization__revoked_at=None,
        authorization__expires_at__gt=now,
        authorization__membership__user__is_active=True,
    )


def columns_of(request: HttpRequest) -> tuple[str, datetime | None] | None:
    """The organization's id and when it was synced; None where the token is not valid. Without making models."""
    found = _valid(request.META.get("HTTP_AUTHORIZATION", ""))
    try:
        row: tuple[str, datetime | None] = found.values_list(f"{PATH}_id", f"{PATH}__synced_at").get()
    except AccessToken.DoesNotExist:
        return None
    return row


def organization_of(request: HttpRequest) -> Organization | None:
    try:
        token = _valid(request.META.get("HTTP_AUTHORIZATION", "")).select_related(PATH).get()
    except AccessToken.DoesNotExist:
        return None
    organization: Organization = token.authorization.membership.organization
    return organization
