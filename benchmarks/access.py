"""What letting in costs: one registration of a client, and the check of one access token."""

import secrets
import time
from collections.abc import Callable
from datetime import timedelta
from statistics import median

from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.net.encryption import hash_of
from apps.oauthmcp.models import AccessToken, Application, Authorization, idle_expiry
from apps.oauthmcp.tokens import authenticate_access_token
from apps.orgs.callers import SCOPES
from apps.orgs.models import Membership, Organization, User

EMAIL = "bench@example.com"
CLIENT = "bench"
REGISTERED = "bench registers"


def issue_token() -> str:
    """An access token for the benchmark's organization, as the token endpoint would store it."""
    scope, token = " ".join(SCOPES), f"porthole_at_{secrets.token_urlsafe(32)}"
    forget()
    user = User.objects.create_user(EMAIL)
    membership = Membership.objects.create(organization=Organization.objects.get(slug="bench"), user=user)
    client = Application.objects.create(
        client_id=CLIENT, name="Bench", client_type="public", authorization_grant_type="authorization-code"
    )
    authorization = Authorization.objects.create(
        application=client, membership=membership, scope=scope, expires_at=idle_expiry()
    )
    AccessToken.objects.create(
        user=user, application=client, authorization=authorization, scope=scope, token_checksum=hash_of(token),
        expires=timezone.now() + timedelta(hours=1), resource=[settings.PUBLIC_URL],
    )  # fmt: skip
    return token


def forget() -> None:
    """Takes away what this and the registrations of another run left."""
    User.objects.filter(email=EMAIL).delete()
    Application.objects.filter(client_id=CLIENT).delete()
    Application.objects.filter(name=REGISTERED).delete()


def measure(register: Callable[[], bytes], token: str, batches: int) -> None:
    """Prints the CPU of one registration and of one check, and how many queries a check asks."""
    assert authenticate_access_token(token) is not None
    with CaptureQueriesContext(connection) as queries:
        authenticate_access_token(token)
    number = len(queries)  # now: a request empties the log
    assert number == 1, queries.captured_queries
    for _ in range(20):
        register()
        authenticate_access_token(token)
    registrations, checks = [], []
    for _ in range(batches):
        registrations.append(_cpu(register, 5))
        checks.append(_cpu(lambda: authenticate_access_token(token), 50))
    forget()
    print(f"registration of a client: {median(registrations) * 1e3:.2f} ms of CPU")
    print(f"check of an access token: {median(checks) * 1e3:.3f} ms of CPU, {number} query")


def _cpu(call: Callable[[], object], size: int) -> float:
    before = time.process_time()
    for _ in range(size):
        call()
    return (time.process_time() - before) / size
