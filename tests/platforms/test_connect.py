"""Connecting a platform: what is checked and told, and that the key is nowhere but encrypted in its row."""

import io
import logging
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.jobs.models import Schedule
from apps.net.encryption import decrypt_credential
from apps.net.outbound import resolve_allowed
from apps.orgs.models import App, Organization, Platform, User
from apps.platforms.connecting import Wanted
from apps.platforms.connector import UpstreamError
from apps.platforms.models import PlatformConnection
from apps.platforms.sync.run import sync_platform
from apps.platforms.tasks import schedule_name
from tests.operators import client_of, staff_who_may
from tests.platforms.memory import IDENTITY, KEY, Memory, MemoryConnector, key_of

pytestmark = pytest.mark.django_db

URL = "https://deploy.example.com"


@pytest.fixture
def acme_org() -> Organization:
    return Organization.objects.create(slug="north", name="North")


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A Dokploy in memory, which takes no other key than the canary."""
    memory = Memory.of(3)

    def connect(base_url: str, key: str) -> MemoryConnector:
        assert (base_url, key) == (URL, KEY)
        return memory.connector

    monkeypatch.setattr("apps.platforms.connectors.DokployConnector", connect)
    return memory


@pytest.fixture
def key_file(tmp_path: Path) -> str:
    (tmp_path / "key").write_text(f"{KEY}\n")
    return str(tmp_path / "key")


@pytest.fixture
def operator() -> Client:
    return client_of(User.objects.create_superuser("ops@example.com", "password"))


def connect(key_file: str, *more: str) -> str:
    out = io.StringIO()
    call_command(
        "connect_dokploy", "--org", "north", "--url", URL, "--api-key-file", key_file, *more, stdout=out, stderr=out
    )
    return out.getvalue()


def values_in_the_database() -> Iterator[str]:
    for model in apps.get_models(include_auto_created=True):
        for row in model._default_manager.values():
            yield repr(row)


def test_connecting_tells_whose_the_key_is_and_what_the_first_sync_brought(
    acme_org: Organization, memory: Memory, key_file: str
) -> None:
    said = connect(key_file)
    assert "Dokploy 0.30.2: the key is for Acme, as member." in said
    assert "3 of 3 applications read" in said
    assert "Warning" not in said
    connection = PlatformConnection.objects.get()
    assert decrypt_credential(connection.encrypted_key) == KEY
    assert App.objects.filter(organization=acme_org).count() == 3
    assert Schedule.objects.get(name=schedule_name(connection.pk)).period == 60


def test_a_key_that_can_write_is_warned_about(acme_org: Organization, memory: Memory, key_file: str) -> None:
    memory.identity = replace(IDENTITY, role="owner", can_write=True)
    assert "Warning: This key can change things" in connect(key_file)


@pytest.mark.parametrize(
    ("url", "address", "is_warned"),
    [
        ("http://deploy.example.com", "93.184.215.14", True),
        ("http://deploy.example.com:3000/base", "2606:4700::1", True),
        ("https://deploy.example.com", "93.184.215.14", False),
        ("http://deploy.example.com", "10.0.0.5", False),
        ("http://deploy.example.com", "fd00::5", False),
        ("http://localhost:3000", "127.0.0.1", False),
    ],
)
def test_a_key_that_travels_in_clear_is_warned_about(
    acme_org: Organization, key_file: str, operator: Client, monkeypatch: pytest.MonkeyPatch, url: str, address: str,
    is_warned: bool,
) -> None:  # fmt: skip
    memory = Memory.of(1)
    monkeypatch.setattr("apps.platforms.connectors.DokployConnector", lambda base_url, key: memory.connector)
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80))]
    monkeypatch.setitem(resolve_allowed.__kwdefaults__, "resolve", lambda *_, **__: found)
    out = io.StringIO()
    call_command("connect_dokploy", "--org", "north", "--url", url, "--api-key-file", key_file, stdout=out, stderr=out)
    page = operator.post("/admin/orgs/platform/connect/", form(url=url), follow=True).content.decode()
    assert ["travel unencrypted" in said for said in (out.getvalue(), page)] == [is_warned, is_warned]
    assert PlatformConnection.objects.count() == 1


def test_the_key_comes_from_standard_input_too(
    acme_org: Organization, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{KEY}\n"))
    connect("-")
    assert PlatformConnection.objects.count() == 1


def test_a_refused_key_stores_nothing(acme_org: Organization, memory: Memory, key_file: str) -> None:
    memory.state_error = UpstreamError("Dokploy refused the key.", is_permanent=True)
    with pytest.raises(CommandError, match=r"Nothing was stored. Dokploy refused the key."):
        connect(key_file)
    assert not Platform.objects.exists()
    assert not Schedule.objects.exists()


@pytest.mark.parametrize(
    "url", ["deploy.example.com", "ftp://deploy.example.com", "https://me:pw@deploy.example.com", "https://h/?a=b"]
)
def test_an_address_that_is_none_is_refused(acme_org: Organization, memory: Memory, key_file: str, url: str) -> None:
    with pytest.raises(CommandError, match="The URL must be like"):
        call_command("connect_dokploy", "--org", "north", "--url", url, "--api-key-file", key_file)


@pytest.mark.parametrize("content", ["", "two\nlines", "a b", "ключ", "x" * 5000])
def test_a_key_that_is_none_is_refused_and_not_repeated(
    acme_org: Organization, memory: Memory, tmp_path: Path, content: str
) -> None:
    (tmp_path / "key").write_text(content)
    with pytest.raises(CommandError, match="The key must be one line") as refused:
        connect(str(tmp_path / "key"))
    assert not content or content not in str(refused.value)


def test_a_new_key_replaces_the_old_one_but_not_for_another_organization(
    acme_org: Organization, memory: Memory, key_file: str
) -> None:
    connect(key_file)
    connect(key_file)
    assert Platform.objects.count() == 1
    memory.identity = replace(IDENTITY, organization_key="org-2")
    with pytest.raises(CommandError, match="another organization"):
        connect(key_file)
    connect(key_file, "--name", "second")
    assert Platform.objects.count() == 2


def test_a_first_sync_that_fails_is_left_to_a_worker(acme_org: Organization, memory: Memory, key_file: str) -> None:
    memory.errors = {key: UpstreamError("It hung.") for key in memory.apps}
    with pytest.raises(CommandError, match=r"It hung\. A worker will try again"):
        connect(key_file)
    assert Schedule.objects.count() == 1


def test_a_first_sync_that_is_stopped_is_left_to_a_worker(
    acme_org: Organization, memory: Memory, key_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("apps.platforms.snapshot.apply.tell", stop)
    with pytest.raises(CommandError, match=r"^Stopped. The key is stored, and workers sync with it; .*disconnect"):
        connect(key_file)
    assert not App.objects.exists()
    assert PlatformConnection.objects.exists()
    assert Schedule.objects.get(
        name=schedule_name(PlatformConnection.objects.get().pk)
    ).due_at < timezone.now() + timedelta(minutes=2)


def test_connecting_shows_how_far_it_has_got(
    acme_org: Organization, memory: Memory, key_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.web.management.progress_line.ELSEWHERE", 0.0)
    assert "Reading: 3 of 3 applications\n" in connect(key_file)


def test_no_worker_syncs_beside_the_command(
    acme_org: Organization, memory: Memory, key_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = []

    def first_sync(platform_id: int) -> Any:
        due.append(Schedule.objects.get().due_at)
        return sync_platform(platform_id)

    monkeypatch.setattr("apps.platforms.management.connect.sync_platform", first_sync)
    connect(key_file)
    assert due[0] - timezone.now() > timedelta(minutes=30)
    assert Schedule.objects.get().due_at - timezone.now() <= timedelta(seconds=60)


def test_the_key_is_nowhere_in_clear(
    acme_org: Organization, memory: Memory, key_file: str, operator: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        said = connect(key_file)
        connection = PlatformConnection.objects.get()
        memory.state_error = UpstreamError("It hung.")
        with pytest.raises(UpstreamError) as failed:
            sync_platform(connection.pk)
        pages = [operator.get(f"/admin/orgs/platform/{connection.pk}/change/"), operator.get("/admin/orgs/platform/")]
        pages += [operator.get(f"/admin/orgs/platform/connect/?platform={connection.pk}")]
        pages += [operator.post("/admin/orgs/platform/connect/", form(url="https://"))]
    assert {page.status_code for page in pages} == {200}
    places = [said, repr(connection), str(connection), repr(failed.value), repr(vars(failed.value)), repr(sys.argv)]
    places += [repr(record.__dict__) for record in caplog.records] + [page.content.decode() for page in pages]
    places += [repr(Wanted(organization=acme_org, kind="dokploy", base_url=URL, key=KEY))]
    for place in (*places, *values_in_the_database()):
        assert KEY not in place


def form(**changes: Any) -> dict[str, Any]:
    return {"organization": "north", "kind": "dokploy", "url": URL, "api_key": KEY, "name": "default"} | changes


def test_an_operator_connects_in_the_admin(acme_org: Organization, memory: Memory, operator: Client) -> None:
    assert "Connect a platform" in operator.get("/admin/orgs/platform/").content.decode()
    memory.identity = replace(IDENTITY, can_write=True)
    answer = operator.post("/admin/orgs/platform/connect/", form(), follow=True)
    page = answer.content.decode()
    connection = PlatformConnection.objects.get()
    assert answer.redirect_chain == [(f"/admin/orgs/platform/{connection.pk}/change/", 302)]
    assert "the key is for Acme, as member" in page
    assert "can change things" in page
    assert "Waiting for a worker" in page
    assert answer["Refresh"] == "2"
    sync_platform(connection.pk)
    Schedule.objects.update(due_at="2999-01-01T00:00Z")
    answer = operator.get(f"/admin/orgs/platform/{connection.pk}/change/")
    assert "3 applications in 1 projects listed, 3 read whole" in answer.content.decode()
    assert "Refresh" not in answer


def test_a_refused_key_is_told_in_the_admin(acme_org: Organization, memory: Memory, operator: Client) -> None:
    memory.state_error = UpstreamError("Dokploy refused the key.", is_permanent=True)
    page = operator.post("/admin/orgs/platform/connect/", form()).content.decode()
    assert "Nothing was stored. Dokploy refused the key." in page
    assert not PlatformConnection.objects.exists()


def test_operators_pause_resume_and_ask_for_a_sync(
    acme_org: Organization, memory: Memory, key_file: str, operator: Client
) -> None:
    connect(key_file)
    number = Platform.objects.get().pk
    name = schedule_name(number)

    def do(action: str) -> str:
        return operator.post(f"/admin/orgs/platform/{number}/do/{action}/", follow=True).content.decode()

    assert "Asked for a sync at once" in do("sync")
    assert "Paused" in do("pause")
    assert Schedule.objects.get(name=name).is_paused
    assert "Nothing was done" in do("sync")
    assert "Resumed" in do("resume")
    assert not Schedule.objects.get(name=name).is_paused
    assert "Nothing was done" in do("explode")
    assert operator.get(f"/admin/orgs/platform/{number}/do/sync/").status_code == 405


def test_an_operator_confirms_that_applications_are_gone(
    acme_org: Organization, memory: Memory, key_file: str, operator: Client
) -> None:
    connect(key_file)
    number = Platform.objects.get().pk
    memory.remove(key_of(0), key_of(1))
    with pytest.raises(Exception, match="2 of 3"):
        sync_platform(number)
    page = operator.get(f"/admin/orgs/platform/{number}/change/").content.decode()
    assert "2 of 3 applications are no longer there" in page
    assert key_of(1) in page
    page = operator.post(f"/admin/orgs/platform/{number}/do/confirm/", follow=True).content.decode()
    assert "Confirmed that 2 of 3 applications are gone" in page
    assert "Confirm that they are gone" not in page
    sync_platform(number)
    assert App.objects.filter(hidden_at__isnull=True).count() == 1


def test_staff_without_the_permission_connect_and_operate_nothing(
    acme_org: Organization, memory: Memory, key_file: str
) -> None:
    connect(key_file)
    number = Platform.objects.get().pk
    client = client_of(staff_who_may("view_platform"))
    page = client.get(f"/admin/orgs/platform/{number}/change/").content.decode()
    assert "Last sync took" in page
    assert "Sync now" not in page
    assert client.post(f"/admin/orgs/platform/{number}/do/sync/").status_code == 403
    assert client.get("/admin/orgs/platform/connect/").status_code == 403
    assert client.post("/admin/orgs/platform/connect/", form()).status_code == 403
