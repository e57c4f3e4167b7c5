"""What earlier releases stored is cleaned by a migration, in batches, and only where there is something to clean."""

from functools import cache
from importlib import import_module
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from apps.oauthmcp.models import Application
from apps.orgs import cleaning
from apps.orgs.models import App, DataVersion, Deployment, EdgeFact, Organization, Preview, Project, RuntimeFact, User
from apps.orgs.text import fold
from tests.factories import Fill

pytestmark = pytest.mark.django_db

BAD = "\u202e\U000e0041\x1b\u200b"
MIGRATIONS = ("orgs", "0011_clean_text"), ("platforms", "0002_clean_text"), ("oauthmcp", "0005_clean_names")


@cache
def models() -> Any:
    """The models as migrations know them: they store whatever they are given."""
    return MigrationLoader(connection).project_state(list(MIGRATIONS)).apps


def store(model: Any, pk: Any, **columns: Any) -> None:
    models().get_model(model._meta.label).objects.filter(pk=pk).update(**columns)


def migrate() -> None:
    for app, name in MIGRATIONS:
        import_module(f"apps.{app}.migrations.{name}").clean(models(), None)


def test_what_nobody_sees_goes_from_every_column(acme: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "BATCH", 2)
    acme.app.save()
    user = User.objects.create_user("ada@example.com")
    client = Application.objects.create(client_id="c", client_type="public", authorization_grant_type="x", name="n")
    entry = LogEntry.objects.create(user=user, object_repr="x", action_flag=CHANGE, change_message="x")
    store(Organization, acme.organization.pk, name=f"Ac{BAD}me", plan=BAD)
    store(User, user.pk, name=f"A{BAD}da")
    store(Project, acme.project.pk, name=BAD, description=f"a\r\n{BAD}b")
    store(
        App, acme.app.pk, name=f"Sh{BAD}op", slug="sh\u202eop", branch=f"ma{BAD}in", external_id=f"k{BAD}",
        primary_url=f"https://example.com/{BAD}", sort_key="old", search_key="old",
    )  # fmt: skip
    store(Deployment, acme.deployment.pk, title=f"Fix\n{BAD}", error_message=f"no{BAD}", commit_message=f"a{BAD}\nb")
    store(Preview, acme.preview.pk, branch="x\u202e" + "y" * 250, pull_request_title=f"T{BAD}")
    store(LogEntry, entry.pk, object_repr=f"Sh{BAD}op", change_message=f"x{BAD}")
    store(Application, client.pk, name=f"Cl{BAD}aude", metadata={"software_id": f"s{BAD}", "grant_types": ["x"]})
    RuntimeFact.objects.filter(app=acme.app).delete()
    models().get_model("orgs.RuntimeFact").objects.create(
        app_id=acme.app.pk, organization_id=acme.organization.pk, checked_at=acme.app.created_at,
        instances=[{"state": f"up{BAD}", "since": None, "message": f"m{BAD}"}],
    )  # fmt: skip
    EdgeFact.objects.all().delete()
    before = DataVersion.objects.get(organization=acme.organization).data_version

    migrate()

    organization, project = Organization.objects.get(pk=acme.organization.pk), Project.objects.get(pk=acme.project.pk)
    assert (organization.name, organization.plan) == ("Acme", "")
    assert (project.name, project.description) == ("–", "a\nb")
    app = App.objects.get(pk=acme.app.pk)
    assert (app.name, app.slug, app.branch, app.primary_url) == ("Shop", "sh\\u{202e}op", None, None)
    assert app.external_id == "k\\u{202e}\\u{e0041}\\u{001b}\\u{200b}"
    assert app.sort_key == fold("Shop")
    assert app.search_key.startswith("shop\x1fsh\\u{202e}op")
    deployment, preview = Deployment.objects.get(pk=acme.deployment.pk), Preview.objects.get(pk=acme.preview.pk)
    assert (deployment.title, deployment.error_message, deployment.commit_message) == ("Fix ", "no", "a\nb")
    assert (len(preview.branch), preview.pull_request_title) == (64, "T")
    entry.refresh_from_db()
    client.refresh_from_db()
    assert (entry.object_repr, entry.change_message) == ("Shop", "x")
    assert (client.name, client.metadata) == ("Claude", {"software_id": "s", "grant_types": ["x"]})
    assert RuntimeFact.objects.get(app=app).instances == [{"state": "up", "since": None, "message": "m"}]
    assert User.objects.get(pk=user.pk).name == "Ada"
    assert DataVersion.objects.get(organization=organization).data_version == before + 1


def test_clean_rows_are_not_written(acme: Fill) -> None:
    acme.app.save()
    before = DataVersion.objects.get(organization=acme.organization).data_version
    migrate()
    assert DataVersion.objects.get(organization=acme.organization).data_version == before
    assert cleaning.clean_rows(models().get_model("orgs.App"), {"name": cleaning.name}) == 0


@pytest.mark.parametrize(("app", "name"), MIGRATIONS)
def test_it_can_be_reversed_which_changes_nothing(app: str, name: str) -> None:
    (operation,) = import_module(f"apps.{app}.migrations.{name}").Migration.operations
    assert operation.reversible
