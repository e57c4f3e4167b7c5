"""What is deleted once it is of no use: expired codes, tokens, authorizations, and clients nobody ever authorized."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from apps.oauthmcp.models import BUILT_IN, AccessToken, Application, Authorization, Grant, RefreshToken

BATCH = 500  # rows a transaction: others wait for their locks, and SQLite for the whole of it
DAY = timedelta(days=1)
# For so long a replayed code or refresh token is still recognized, and its family revoked.
RETENTION = timedelta(days=30)


def prune(now: datetime) -> Iterator[tuple[str, int]]:
    """What it was, and how many rows are gone. Safe at any time, and where another one does it too."""
    for name, rows, by in expired_rows(now):
        yield name, delete(rows, by)


def expired_rows(now: datetime) -> Iterator[tuple[str, QuerySet[Any], str]]:
    """What it is, the rows, and the indexed column to walk them by. Children first, so no cascade is ever large."""
    codes = Grant.objects.all()
    yield "codes that were not redeemed", codes.filter(redeemed_at=None, expires__lt=now - DAY), "expires"
    yield "codes that were redeemed", codes.filter(redeemed_at__isnull=False, expires__lt=now - RETENTION), "expires"
    yield "access tokens", AccessToken.objects.filter(expires__lt=now - DAY), "expires"
    yield "refresh tokens", RefreshToken.objects.filter(revoked__lt=now - RETENTION), "revoked"
    yield "expired authorizations", Authorization.objects.filter(expires_at__lt=now - RETENTION), "expires_at"
    yield "revoked authorizations", Authorization.objects.filter(revoked_at__lt=now - RETENTION), "expires_at"
    yield "clients that were never authorized", never_authorized().filter(created__lt=now - RETENTION), "created"


def never_authorized() -> QuerySet[Application]:
    """A client whose id vanishes breaks it for all its users, so `authorized_at` alone is not believed."""
    clients = Application.objects.filter(
        authorized_at=None, registration_source=Application.RegistrationSource.DCR
    ).exclude(client_id__in=BUILT_IN)
    has_codes = Exists(Grant.objects.filter(application=OuterRef("pk")))
    has_authorizations = Exists(Authorization.objects.filter(application=OuterRef("pk")))
    return clients.exclude(has_codes).exclude(has_authorizations)


def delete(rows: Any, by: str) -> int:
    """Batch by batch, each its own transaction, walking the index forwards: rows that stay are passed once only."""
    deleted, page = 0, rows
    while True:
        with transaction.atomic():
            batch = list(page.order_by(by).select_for_update(of=("self",)).values_list("pk", by)[:BATCH])
            if not batch:
                return deleted
            _, by_model = rows.filter(pk__in=[key for key, _ in batch]).delete()
        deleted += by_model.get(rows.model._meta.label, 0)
        page = rows.filter(**{f"{by}__gte": batch[-1][1]})
