"""Disconnecting a platform: the key goes at once, the answers with it, and both can come back for seven days."""

import io
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.jobs.models import Schedule
from apps.orgs.models import App, DataVersion, Deployment, Domain, Organization, Platform, Project, User
from apps.orgs.overview import overview_of
from apps.platforms import connectors
from apps.platforms.connecting import disconnect
from apps.platforms.connector import State, UpstreamError
from apps.platforms.models import PlatformConnection
from apps.platforms.snapshot.purge import purge_hidden_applications
from apps.platforms.sync.run import sync_platform
from tests.operators import client_of, staff_who_may
from tests.platforms.memory import KEY, Memory, MemoryConnector

pytestmark = pytest.mark.django_db
URL = "https://deploy.example.com"


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    memory = Memory.of(3)
    monkeypatch.setattr("apps.platforms.connectors.DokployConnector", lambda base_url, key: memory.connector)
    monkeypatch.setattr("sys.stdin", io.StringIO(KEY))
    yield memory
    connectors._kept.clear()


@pytest.fixture
def platform(memory: Memory) -> Platform:
    Organization.objects.create(slug="north", name="North")
    connect()
    return Platform.objects.get()


def connect(name: str = "default") -> None:
    silence: Any = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    options = ["--org", "north", "--url", URL, "--name", name, "--api-key-file", "-"]
    call_command("connect_dokploy", *options, **silence)


def run(*options: str) -> str:
    out = io.StringIO()
    call_command("disconnect_platform", "--org", "north", *options, stdout=out)
    return out.getvalue()


def test_the_key_goes_at_once_and_so_do_the_answers(platform: Platform) -> None:
    before = DataVersion.objects.get().data_version
    said = run("--yes")
    assert "Disconnected from Acme. The key is deleted here; delete it there too." in said
    assert "Applications that are hidden now: 3." in said
    assert not PlatformConnection.objects.exists()
    assert not Schedule.objects.filter(name__startswith="platform:").exists()
    assert not App.objects.filter(hidden_at__isnull=True).exists()
    assert not Project.objects.exists()
    assert DataVersion.objects.get().data_version > before


def test_no_trace_of_it_is_in_the_organization(platform: Platform) -> None:
    run("--yes")
    organization = Organization.objects.get()
    overview = overview_of(organization.pk)
    assert (overview.platform["kind"], overview.platform["is_stale"]) == ("manifest", False)
    assert sum(overview.apps_by_status.values()) == overview.organization["domains"] == 0
    assert organization.synced_at is None


def test_without_yes_it_is_only_told(platform: Platform) -> None:
    with pytest.raises(CommandError, match=r"delete the key of Acme at .*, and hide 3 applications"):
        run()
    assert PlatformConnection.objects.count() == 1


def test_connected_again_everything_is_there_as_it_was(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows() -> list[Any]:
        tables = (App.objects.values("id", "name", "project_id"), Deployment.objects.values("id", "created_at"))
        return [sorted(map(str, table)) for table in (*tables, Domain.objects.values("id", "host"))]

    before = rows()
    run("--yes")
    monkeypatch.setattr("sys.stdin", io.StringIO(KEY))
    connect()
    assert rows() == before
    assert not App.objects.filter(hidden_at__isnull=False).exists()
    assert overview_of(Organization.objects.get().pk).platform["kind"] == "dokploy"


def test_after_seven_days_nothing_is_left(platform: Platform) -> None:
    run("--yes")
    purge_hidden_applications.call()
    assert (App.objects.count(), Platform.objects.count()) == (3, 1)
    App.objects.update(hidden_at=timezone.now() - timedelta(days=8))
    purge_hidden_applications.call()
    assert (App.objects.count(), Platform.objects.count()) == (0, 0)


def test_what_is_still_connected_is_not_purged(platform: Platform) -> None:
    App.objects.all().delete()
    Platform.objects.update(last_sync_at=None, sync_period=None)
    purge_hidden_applications.call()
    assert Platform.objects.count() == 1


def test_a_sync_that_was_under_way_brings_nothing_back(
    platform: Platform, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_state = MemoryConnector.read_state

    def disconnected_meanwhile(connector: MemoryConnector, *, is_first: bool = False) -> State:
        disconnect(platform)
        return read_state(connector, is_first=is_first)

    monkeypatch.setattr(MemoryConnector, "read_state", disconnected_meanwhile)
    with pytest.raises(UpstreamError, match="disconnected meanwhile"):
        sync_platform(platform.pk)
    assert not App.objects.filter(hidden_at__isnull=True).exists()
    platform.refresh_from_db()
    assert (platform.last_sync_status, platform.last_sync_at, platform.sync_period) == ("never", None, None)


def test_which_one_has_to_be_said_where_there_are_several(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(KEY))
    connect("second")
    with pytest.raises(CommandError, match="Say which: --kind dokploy --name default, --kind dokploy --name second"):
        run("--yes")
    run("--name", "second", "--yes")
    assert PlatformConnection.objects.get().platform == platform
    with pytest.raises(CommandError, match="no such platform"):
        run("--kind", "coolify", "--yes")


# In the admin


@pytest.fixture
def operator() -> Client:
    return client_of(User.objects.create_superuser("ops@example.com", "password"))


def test_an_operator_disconnects_after_a_question(platform: Platform, operator: Client) -> None:
    address = f"/admin/orgs/platform/{platform.pk}/disconnect/"
    assert address in operator.get(f"/admin/orgs/platform/{platform.pk}/change/").content.decode()
    page = operator.get(address).content.decode()
    assert "3 applications with all that belongs to them" in page
    assert PlatformConnection.objects.count() == 1
    page = operator.post(address, follow=True).content.decode()
    assert "Disconnected from Acme." in page
    assert not PlatformConnection.objects.exists()
    page = operator.get(f"/admin/orgs/platform/{platform.pk}/change/").content.decode()
    assert "Nothing is read, and there is no key" in page
    assert operator.post(address).status_code == 404
    page = operator.get(f"/admin/orgs/platform/connect/?platform={platform.pk}").content.decode()
    assert 'value="north"' in page


def test_operators_who_may_not_delete_platforms_cannot_disconnect(platform: Platform) -> None:
    client = client_of(staff_who_may("view_platform", "change_platform"))
    address = f"/admin/orgs/platform/{platform.pk}/disconnect/"
    assert address not in client.get(f"/admin/orgs/platform/{platform.pk}/change/").content.decode()
    assert (client.get(address).status_code, client.post(address).status_code) == (403, 403)
