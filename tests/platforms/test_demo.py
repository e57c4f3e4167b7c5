"""The demo organizations: enough in them that every tool has something to say, on any day."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.orgs import vocabulary
from apps.orgs.app_scope import AppScope
from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EnvVarName,
    Organization,
    OrgSecretName,
    Preview,
    Project,
    SourceConnection,
    Template,
)
from apps.orgs.scope import OrgScope
from apps.platforms.manifest.export import export
from apps.platforms.manifest.reader import read_manifest
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import apply
from tests.platforms.snapshots import manifest_platform

pytestmark = pytest.mark.django_db
FOLDER = Path("apps/platforms/demo")


@pytest.fixture
def demo() -> OrgScope:
    call_command("load_demo", verbosity=0, stdout=StringIO())
    organization = Organization.objects.get(slug="demo")
    return OrgScope(organization.pk, organization.synced_at)


def apps(demo: OrgScope) -> Iterator[AppScope]:
    for id in App.objects.filter(organization_id=demo.organization_id).values_list("id", flat=True):
        yield demo.app(id)


def main(demo: OrgScope) -> AppScope:
    return demo.app(App.objects.get(organization_id=demo.organization_id, external_id="porthole").pk)


WORDS: list[tuple[Any, str, list[str]]] = [
    (App, "status", vocabulary.APP_STATUSES),
    (App, "kind", vocabulary.APP_KINDS),
    (App, "source_type", vocabulary.SOURCE_TYPES),
    (Preview, "status", vocabulary.APP_STATUSES),
    (Deployment, "status", vocabulary.DEPLOYMENT_STATUSES),
    (Deployment, "trigger", vocabulary.DEPLOYMENT_TRIGGERS),
    (Domain, "certificate_type", vocabulary.CERTIFICATE_TYPES),
    (EnvVarName, "scope", vocabulary.VARIABLE_SCOPES),
    (OrgSecretName, "scope", vocabulary.SECRET_SCOPES),
    (SourceConnection, "type", vocabulary.CONNECTION_TYPES),
]


def test_every_word_is_used(demo: OrgScope) -> None:
    for model, column, words in WORDS:
        used = model.objects.filter(organization_id=demo.organization_id).values_list(column, flat=True)
        assert set(used) == set(words), (model, column)


def test_every_level_of_health_and_state_of_a_certificate_is_there(demo: OrgScope) -> None:
    domains = demo.domains().page(None, 100)[0]
    assert {domain["certificate_status"] for domain in domains} == set(vocabulary.CERTIFICATE_STATUSES)
    assert {domain["dns_status"] for domain in domains} == set(vocabulary.DNS_STATUSES)
    health = {app.row["name"]: app.health().level for app in apps(demo)}
    assert set(health.values()) == set(vocabulary.HEALTH_LEVELS)
    assert health["Porthole"] == "healthy"


def test_every_list_of_the_main_application_has_two_rows_or_more(demo: OrgScope) -> None:
    app = main(demo)
    lists = [
        demo.domains(application_id=app.id),
        demo.previews(application_id=app.id),
        demo.variable_names(application_id=app.id),
        demo.projects(query=""),
        demo.secret_names(project_id=None),
        demo.templates(query="", tag=None),
    ]
    assert all(len(rows.page(None, 100)[0]) >= 2 for rows in lists)
    assert len(demo.connections()) >= 2
    for project in Project.objects.filter(organization_id=demo.organization_id):
        assert len(demo.secret_names(project_id=project.pk).page(None, 100)[0]) >= 2
    for scope in vocabulary.VARIABLE_SCOPES:
        assert len(demo.variable_names(application_id=app.id, scope=scope).page(None, 100)[0]) >= 2, scope
    deployments = demo.deployments(application_id=app.id)
    assert deployments.page(None, 20)[1]  # there is a next page
    assert demo.variable_names(application_id=app.id).extra["skippedCount"] > 0
    assert (app.row["source_type"], app.row["repository"], app.row["branch"]) == ("git", "local:checkout", "main")


def test_there_is_what_people_ask_about(demo: OrgScope) -> None:
    default = Organization.objects.get(slug="demo").default_connection
    assert default is not None
    assert default.external_id == "github-harbour"
    gone = demo.deployments(target="preview", branch="colour-search").page(None, 100)[0]
    assert {(row["is_preview"], row["preview_id"], row["environment_id"]) for row in gone} == {(True, None, None)}
    api = App.objects.get(organization_id=demo.organization_id, external_id="checkout-api")
    history = demo.deployments(application_id=api.pk).page(None, 100)[0]
    back = next(row for row in history if row["trigger"] == "rollback")
    assert [row["external_id"] for row in history if row["commit_sha"] == back["commit_sha"]][1:] == ["checkout-api-38"]
    assert {row["author"] for row in history} > {None}
    assert len(demo.domains(certificate_expires_before=timezone.now() + timedelta(days=21)).page(None, 100)[0]) == 2


def test_loading_it_again_leaves_the_operators_choice(demo: OrgScope) -> None:
    other = SourceConnection.objects.get(organization_id=demo.organization_id, external_id="gitlab-harbour")
    Organization.objects.filter(slug="demo").update(default_connection=other)
    call_command("load_demo", verbosity=0, stdout=StringIO())
    assert Organization.objects.get(slug="demo").default_connection == other


def test_nothing_but_expiry_lies_in_the_future(demo: OrgScope) -> None:
    now = timezone.now()
    assert max(Deployment.objects.values_list("created_at", flat=True)) <= now
    assert max(Deployment.objects.values_list("created_at", flat=True)) > now - timedelta(days=2)
    assert all(at <= now for app in apps(demo) for at in [app.health().edge["checked_at"]] if at is not None)


def test_the_demo_stays_the_same_as_time_passes(demo: OrgScope, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {app.row["name"]: app.health().level for app in apps(demo)}
    ids = set(App.objects.values_list("id", flat=True))
    later = datetime.now(UTC) + timedelta(days=400)
    monkeypatch.setattr(timezone, "now", lambda: later)
    call_command("load_demo", verbosity=0, stdout=StringIO())
    assert {app.row["name"]: app.health().level for app in apps(demo)} == before
    assert set(App.objects.values_list("id", flat=True)) == ids


def test_the_second_organization_is_recognisable_and_apart(demo: OrgScope) -> None:
    rival = Organization.objects.get(slug="rival-demo")
    names = [
        *Project.objects.filter(organization=rival).values_list("name", flat=True),
        *App.objects.filter(organization=rival).values_list("name", flat=True),
        *Deployment.objects.filter(organization=rival).values_list("title", flat=True),
        *Preview.objects.filter(organization=rival).values_list("branch", flat=True),
        *Domain.objects.filter(organization=rival).values_list("host", flat=True),
        *EnvVarName.objects.filter(organization=rival).values_list("name", flat=True),
        *OrgSecretName.objects.filter(organization=rival).values_list("name", flat=True),
        *Template.objects.filter(organization=rival).values_list("name", flat=True),
    ]
    assert all("rival" in name.lower() for name in names)
    assert App.objects.filter(external_id="porthole").count() == 2
    platform = Organization.objects.get(slug="demo").platforms.get()
    assert "rival" not in export(platform).lower()


@pytest.mark.parametrize("file", ["demo.yaml", "second.yaml", "templates.yaml"])
def test_a_demo_file_goes_through_an_empty_organization_unchanged(file: str) -> None:
    snapshot = read_manifest((FOLDER / file).read_bytes()).snapshot
    first, second = manifest_platform("first"), manifest_platform("second")
    apply(first, snapshot)
    exported = export(first)
    apply(second, read_manifest(exported.encode()).snapshot)
    assert export(second) == exported
    assert read_manifest(exported.encode()).snapshot != base.Snapshot()
