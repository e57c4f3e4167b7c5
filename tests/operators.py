"""What tests of the admin share: addresses, rows like those there are, and what forms send."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from django.contrib.admin.utils import quote
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    Environment,
    EnvVarName,
    Invitation,
    Membership,
    Organization,
    OrgSecretName,
    Platform,
    Preview,
    Project,
    SourceConnection,
    Template,
    User,
)
from tests.factories import Fill

OWNED = [SourceConnection, Project, Environment, App, Preview, Domain, Deployment, EnvVarName, OrgSecretName, Template]
LISTED = [*OWNED, Organization, Membership, Platform, User, Invitation]
NO_ROWS_TO_ADD = [model for model in [*OWNED, Platform] if model is not Template]
LIMITS = ("project_limit", "app_limit", "domain_limit", "preview_limit")


def client_of(user: User) -> Client:
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return client


def staff_who_may(*permissions: str) -> User:
    user = User.objects.create_user("staff@example.com", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


def list_of(model: Any) -> str:
    return reverse(f"admin:orgs_{model._meta.model_name}_changelist")


def page_of(row: Any, page: str = "change") -> str:
    return reverse(f"admin:orgs_{row._meta.model_name}_{page}", args=[quote(row.pk)])


def rows_of(answer: Any) -> list[Any]:
    return list(answer.context["cl"].result_list)


def queries_of(call: Callable[[], Any]) -> list[dict[str, str]]:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert call().status_code == 200
    return captured.captured_queries


def plan_of(sql: str, without: Sequence[str] = ("sort",)) -> str:
    """How the database would find the rows, were the tables large; and how without these ways."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            return "\n".join(row[3] for row in cursor.fetchall()) + "\n"
        # The tests' tables are too small for an index to pay, and sorting few rows may cost as much as not to.
        plans = []
        for way in ("seqscan", "bitmapscan", *without):
            cursor.execute(f"SET LOCAL enable_{way} = off")
            cursor.execute("EXPLAIN " + sql.replace("%", "%%"))
            plans.append("\n".join(row[0] for row in cursor.fetchall()))
        return "\n".join(plans[1:])


def analyze(model: Any) -> None:
    """Tells the database how many rows there are, as it finds out by itself after a while."""
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {model._meta.db_table}")


def add_more(model: Any, acme: Fill, number: int) -> None:
    """Rows like the one that acme has."""
    for count in range(number):
        if model is Organization:
            Organization.objects.create(slug=f"acme-{count}", name="Acme")
        elif model is User:
            User.objects.create(email=f"somebody-{count}@example.com")
        elif model is Membership:
            user = User.objects.create(email=f"somebody-{count}@example.com")
            Membership.objects.create(organization=acme.organization, user=user)
        elif model is Invitation:
            email = f"somebody-{count}@example.com"
            Invitation.objects.create(organization=acme.organization, email=email, token_hash=str(count))
        elif model is Platform:
            Platform.objects.create(organization=acme.organization, kind="manifest", name=f"more-{count}")
        else:
            copy_of(model.objects.filter(organization=acme.organization).first())


def copy_of(row: Any, **changes: Any) -> Any:
    row = copy.copy(row)
    row._state = copy.copy(row._state)
    row.pk, row._state.adding = row._meta.pk.get_default(), True
    for column, value in changes.items():
        setattr(row, column, value)
    row.save()
    return row


def synced_copy(model: Any, acme: Fill) -> Any:
    row = model.objects.filter(organization=acme.organization).first()
    return copy_of(row, platform=acme.platform, external_id="from-the-platform")


def values_of(row: Any) -> dict[str, Any]:
    return type(row).objects.filter(pk=row.pk).values().get()


def organization_form(acme: Fill, **changes: Any) -> dict[str, Any]:
    """What the organization's form sends when nothing but `changes` is typed in."""
    data = {"name": acme.organization.name, "plan": "team", "default_connection": "", "allows_script_tokens": "on"}
    data |= dict.fromkeys(LIMITS, "")
    return data | no_rows("memberships") | no_rows("memberships-2") | changes


def no_rows(prefix: str) -> dict[str, str]:
    return {f"{prefix}-TOTAL_FORMS": "0", f"{prefix}-INITIAL_FORMS": "0"}


def template_form(**changes: str) -> dict[str, str]:
    return {"name": "Shop", "description": "A shop.", "tags": "", "_save": "Save"} | changes
