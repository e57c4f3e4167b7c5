"""Whole syncs through the real connectors, against fakes that answer over HTTP on loopback."""

from functools import partial

import pytest
from django.utils import timezone

from apps.net.encryption import encrypt_credential
from apps.orgs.models import App, DataVersion, Deployment, EnvVarName, Preview
from apps.platforms.connector import UpstreamError
from apps.platforms.connectors import connector_for
from apps.platforms.coolify.connector import CoolifyConnector
from apps.platforms.dokploy.connector import DokployConnector
from apps.platforms.models import PlatformConnection
from apps.platforms.sync.details import Limit
from apps.platforms.sync.run import sync_platform
from tests.fakes.coolify import CoolifyFake
from tests.fakes.dokploy import DokployFake
from tests.platforms.snapshots import manifest_platform

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("counted_versions")]


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """For turns: as many calls as there are."""
    for name, connector in (("DokployConnector", DokployConnector), ("CoolifyConnector", CoolifyConnector)):
        monkeypatch.setattr(f"apps.platforms.connectors.{name}", partial(connector, calls_per_minute=60_000))


def connected(fake: DokployFake | CoolifyFake, kind: str) -> PlatformConnection:
    platform = manifest_platform(kind=kind)
    platform.sync_period = 60
    platform.save()
    identity = connector_for(kind, fake.url, fake.key).identify()
    return PlatformConnection.objects.create(
        platform=platform, base_url=fake.url, encrypted_key=encrypt_credential(fake.key),
        organization_key=identity.organization_key, organization_name=identity.organization_name,
    )  # fmt: skip


def data_version() -> int:
    return DataVersion.objects.values_list("data_version", flat=True).get()


@pytest.mark.parametrize("version", ["0.24.12", "0.28.1", "0.30.2"])
def test_dokploy_is_synced_and_an_unchanged_one_changes_nothing(version: str) -> None:
    with DokployFake(version=version, applications=3, composes=1) as fake:
        fake.rows.add_preview(fake.rows.applications[0], 12)
        connection = connected(fake, "dokploy")
        outcome = sync_platform(connection.pk)
        assert (outcome.read, outcome.failed, outcome.left_out) == (4, 0, {})
        assert (App.objects.count(), Preview.objects.count()) == (4, 1)
        assert EnvVarName.objects.exists()
        before = data_version()
        assert str(sync_platform(connection.pk).changes) == "nothing had changed"
        assert data_version() == before
        fake.rows.finish(fake.rows.deploy(fake.rows.applications[0]), "error")
        sync_platform(connection.pk)
        assert Deployment.objects.filter(status="failed").count() == 1
        assert data_version() == before + 1
        assert fake.strangers() == []


@pytest.mark.parametrize("kind", ["unauthorized", "error", "truncated", "html"])
def test_a_dokploy_that_fails_changes_nothing_and_mends_itself(kind: str) -> None:
    with DokployFake(applications=2) as fake:
        connection = connected(fake, "dokploy")
        sync_platform(connection.pk)
        before = data_version()
        fake.fail("project.all", kind)
        with pytest.raises(UpstreamError) as failed:
            sync_platform(connection.pk)
        connection.refresh_from_db()
        assert connection.last_error == failed.value.sentence
        assert App.objects.filter(hidden_at__isnull=True).count() == 2
        fake.heal()
        sync_platform(connection.pk)
        connection.refresh_from_db()
        assert connection.last_error is None
        assert data_version() <= before + 2  # that it failed and that it works again is told by get_account


def test_coolify_is_synced_and_an_unchanged_one_changes_nothing() -> None:
    with CoolifyFake(version="4.3.11", applications=3) as fake:
        connection = connected(fake, "coolify")
        outcome = sync_platform(connection.pk)
        assert (outcome.failed, outcome.left_out) == (0, {})
        assert App.objects.count() == outcome.apps == outcome.read >= 3
        before = data_version()
        assert str(sync_platform(connection.pk).changes) == "nothing had changed"
        assert data_version() == before


@pytest.mark.parametrize("pull_request", [0, 7])
def test_how_a_deployment_of_coolify_ended_is_known_with_the_next_sync(
    monkeypatch: pytest.MonkeyPatch, pull_request: int
) -> None:
    with CoolifyFake(version="4.3.11", applications=30) as fake:
        fake.rows.clock = timezone.now()
        connection = connected(fake, "coolify")
        sync_platform(connection.pk)
        uuid = fake.rows.deploy(29, pull_request=pull_request)
        monkeypatch.setattr("apps.platforms.sync.run._limit", lambda *_, **__: Limit(calls=4))
        assert sync_platform(connection.pk).read < 10
        assert Deployment.objects.get(external_id=uuid).status == "building"
        fake.rows.finish(uuid, "failed")
        sync_platform(connection.pk)
        assert Deployment.objects.get(external_id=uuid).status == "failed"


def test_text_of_coolify_is_stored_without_what_nobody_sees() -> None:
    bad = "\u202e\U000e0041\x1b\u200b"
    with CoolifyFake(version="4.3.11", applications=2) as fake:
        connection = connected(fake, "coolify")
        fake.rows.deploy(0, commit_message=f"Fix{bad}\nmore")
        sync_platform(connection.pk)
    assert Deployment.objects.filter(title="Fix").exists()
    texts = [text for row in Deployment.objects.values_list("title", "commit_message") for text in row if text]
    assert texts
    assert not any(one in text for text in texts for one in bad)
