"""The rows that are asked for: an organization with 50 applications, among others like it, and a token for it."""

import secrets
from datetime import timedelta

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from apps.net.encryption import hash_of
from apps.oauthmcp.models import AccessToken, Application, Authorization, idle_expiry
from apps.orgs import timetables
from apps.orgs.callers import SCOPES
from apps.orgs.models import App, Deployment, Environment, Membership, Organization, Platform, Project, User

APPS = 50
OTHERS = 20  # organizations, so that an index is worth having
SLUG = "bench"
EMAIL = "bench@example.com"
CLIENT = "bench"
REGISTERED = "bench registers"


def fill() -> None:
    """Makes the tables, and the organizations anew. Their applications' health is what their last deployment says."""
    call_command("migrate", verbosity=0)
    slugs = [SLUG, *(f"{SLUG}-{number}" for number in range(OTHERS))]
    Organization.objects.filter(slug__in=slugs).delete()
    for slug in slugs:
        _organization(slug)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _organization(slug: str) -> None:
    now = timezone.now()
    organization = Organization.objects.create(slug=slug, name=slug.title(), synced_at=now)
    project = Project.objects.create(organization=organization, name="Harbour")
    environment = Environment.objects.create(organization=organization, project=project, name="production")
    Platform.objects.create(organization=organization, kind="dokploy", name="default", last_sync_at=now)
    apps = App.objects.bulk_create(
        App(
            organization=organization, project=project, environment=environment, name=f"Application {number}",
            external_id=f"app-{number}", slug=f"application-{number}", description="Serves something.",
            status="deployed", upstream_status="done", source_type="github", repository="acme/something",
            branch="main", primary_url=f"https://app-{number}.example.com/", last_deployed_at=now,
        )
        for number in range(APPS)
    )  # fmt: skip
    Deployment.objects.bulk_create(
        Deployment(
            organization=organization, app=app, title="Deploy", status="failed" if number % 5 else "succeeded",
            external_id=f"dep-{number}", created_at=now, started_at=now, finished_at=now,
        )
        for number, app in enumerate(apps)
    )  # fmt: skip
    timetables.refresh([app.pk for app in apps])


def issue_token() -> str:
    """An access token for the benchmark's organization, as the token endpoint would store it."""
    scope, token = " ".join(SCOPES), f"porthole_at_{secrets.token_urlsafe(32)}"
    forget()
    user = User.objects.create_user(EMAIL)
    membership = Membership.objects.create(organization=Organization.objects.get(slug=SLUG), user=user)
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
