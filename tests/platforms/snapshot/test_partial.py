"""Snapshots of which only a part was read: the rest is unknown, and stays."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.orgs.models import App, Deployment, Domain, EnvVarName, Platform, Preview, RuntimeFact
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import apply
from apps.platforms.snapshot.check import SnapshotError
from apps.platforms.snapshot.differences import Changes
from tests.platforms.snapshots import NOON, app, deployment, manifest_platform, project, rich

pytestmark = pytest.mark.django_db

OF_APPS = ("previews", "domains", "variables", "edges", "edge_statistics", "runtimes")


def state(key: str = "web", **fields: Any) -> base.AppState:
    told = {"key": key, "project": "p", "environment": "prod", "name": "Web", "status": "deployed"}
    return base.AppState(**told | fields)


def only_state(**fields: Any) -> base.Snapshot:
    """The rich snapshot, whose first application is told in part: of what it has nothing was read."""
    of_web = {name: tuple(r for r in getattr(rich(), name) if getattr(r, "app", "") != "web") for name in OF_APPS}
    unread = frozenset((name, "web") for name in OF_APPS)
    told = {"edges": (), "apps": rich().apps[1:], "app_states": (state(),), "deployments": (), "unread": unread}
    return replace(rich(), **of_web | told | fields)


@pytest.fixture
def platform() -> Platform:
    platform = manifest_platform(kind="dokploy")
    apply(platform, rich())
    return platform


def web() -> dict[str, Any]:
    return App.objects.filter(external_id="web").values().get()


def test_what_was_not_read_stays(platform: Platform) -> None:
    before = web()
    assert apply(platform, only_state()) == Changes()
    assert web() == before


def test_only_its_state_is_written(platform: Platform) -> None:
    before = web()
    told = state(name="New", status="error", upstream_status="crashed", kind="compose", project="q", environment=None)
    assert apply(platform, only_state(app_states=(told,))) == Changes(updated=1)
    after = web()
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {
        "name", "sort_key", "search_key", "status", "upstream_status", "kind", "project_id", "environment_id",
    }  # fmt: skip
    assert (after["name"], after["sort_key"]) == ("New", "new")
    assert after["search_key"].startswith("new\x1f")


def test_its_new_deployments_are_known_and_move_its_last_one(platform: Platform) -> None:
    later = NOON + timedelta(days=1)
    new = deployment("d9", status="succeeded", created_at=later)
    assert apply(platform, only_state(deployments=(new,))) == Changes(created=1, updated=1)
    assert (web()["last_deployed_at"], web()["primary_url"]) == (later, "https://web.example.com/")
    older = deployment("d8", status="succeeded", created_at=NOON - timedelta(days=1))
    apply(platform, only_state(deployments=(older,)))
    assert web()["last_deployed_at"] == later


def test_what_is_gone_of_an_application_that_was_read_is_deleted(platform: Platform) -> None:
    names = frozenset((name, "web") for name in OF_APPS if name != "variables")
    assert apply(platform, only_state(unread=names)) == Changes(deleted=2)
    assert not EnvVarName.objects.filter(app__isnull=False).exists()
    assert EnvVarName.objects.count() == 2


@pytest.mark.parametrize("collection", ["connections", "projects", "environments", "secrets", "templates", *OF_APPS])
def test_a_collection_that_was_refused_is_not_empty(platform: Platform, collection: str) -> None:
    unread = frozenset({(collection, None)})
    if collection in ("previews", "domains"):  # what hangs on these is not read either
        unread |= {("domains", None), ("edges", None)}
    emptied = {name: () for name, _ in unread}
    assert apply(platform, replace(rich(), **emptied, unread=unread)) == Changes()


def test_the_count_of_skipped_names_stays_with_the_names(platform: Platform) -> None:
    whole = replace(rich().apps[0], names_skipped=0)
    snapshot = only_state(apps=(whole, rich().apps[1]), app_states=())
    assert apply(platform, snapshot) == Changes()
    assert web()["names_skipped"] == 3


def test_a_deployment_may_name_a_preview_that_was_not_read(platform: Platform) -> None:
    told = deployment("d7", preview="pv")
    apply(platform, only_state(deployments=(told,)))
    assert Deployment.objects.get(external_id="d7").preview == Preview.objects.get(external_id="pv")
    with pytest.raises(SnapshotError, match="is a preview of another application"):
        apply(platform, only_state(deployments=(deployment("d6", app="compose", preview="pv"),)))
    with pytest.raises(SnapshotError, match="there is no preview with this key"):
        apply(platform, only_state(deployments=(told,), unread=frozenset()))


def test_an_application_that_is_hidden_returns_with_its_state(platform: Platform) -> None:
    before = web()
    apply(platform, base.Snapshot(), allow_deletions=True)
    apply(platform, only_state())
    assert web() == before | {"connection_id": None}  # which only detail tells
    assert Domain.objects.filter(app_id=before["id"]).count() == 3
    assert RuntimeFact.objects.filter(app_id=before["id"]).exists()


def test_a_state_without_a_row_is_wrong(platform: Platform) -> None:
    with pytest.raises(SnapshotError, match=r"app_states\[1\].key: is not stored, and so must be told whole"):
        apply(platform, only_state(app_states=(state(), state("new"))))


def test_an_application_is_told_once(platform: Platform) -> None:
    with pytest.raises(SnapshotError, match=r"app_states\[0\].key: must be unique"):
        apply(platform, only_state(apps=rich().apps))


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"environment": "0777"}, "environment: is an environment of another project"),
        ({"project": "none"}, "project: there is no project with this key"),
        ({"status": "fine"}, "status: must be one of"),
    ],
)
def test_a_state_keeps_the_rules_of_an_application(platform: Platform, told: dict[str, str], problem: str) -> None:
    with pytest.raises(SnapshotError, match=problem):
        apply(platform, only_state(app_states=(state(**told),)))


def test_that_an_application_was_read_whole_is_noted_by_the_minute(platform: Platform) -> None:
    first = web()["detail_read_at"]
    assert first is not None
    with CaptureQueriesContext(connection) as queries:
        apply(platform, rich())
    assert web()["detail_read_at"] == first
    assert sum("UPDATE" in query["sql"].split()[0] for query in queries) <= 4
    App.objects.update(detail_read_at=timezone.now() - timedelta(hours=2))
    before = web()["detail_read_at"]
    assert apply(platform, only_state()) == Changes()
    assert web()["detail_read_at"] == before
    assert App.objects.get(external_id="compose").detail_read_at > before
    assert apply(platform, rich()) == Changes()
    assert web()["detail_read_at"] > before


def test_of_a_manifest_nothing_more_is_noted() -> None:
    apply(manifest_platform(), base.Snapshot(projects=(project(),), apps=(app(),)))
    assert App.objects.get().detail_read_at is None
