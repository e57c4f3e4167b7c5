"""Applications that a source no longer has are hidden, come back whole, and are purged after a week."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import models
from django.utils import timezone

from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EdgeFact,
    EdgeStatistics,
    EnvVarName,
    Organization,
    Platform,
    Preview,
    Project,
    RuntimeFact,
)
from apps.platforms.manifest.export import snapshot_of
from apps.platforms.models import PlatformConnection
from apps.platforms.snapshot import base, hiding
from apps.platforms.snapshot.apply import apply, plan
from apps.platforms.snapshot.differences import Changes
from apps.platforms.snapshot.hiding import TooManyDeletions
from apps.platforms.snapshot.purge import KEPT, purge_hidden, purge_hidden_applications
from tests.platforms.snapshots import app, manifest_platform, project, rich

pytestmark = pytest.mark.django_db

CHILDREN: dict[type[models.Model], str] = {
    Preview: "app", Domain: "app", Deployment: "app", EnvVarName: "app", EdgeFact: "domain__app",
    EdgeStatistics: "app", RuntimeFact: "app",
}  # fmt: skip


def apps(number: int, of: int = 8) -> base.Snapshot:
    """A snapshot with the last `number` of so many applications."""
    keys = [f"a{n}" for n in range(of)][of - number :]
    return base.Snapshot(projects=(project(),), apps=tuple(app(key, name=key) for key in keys))


def without_web() -> base.Snapshot:
    """The rich snapshot without its first project, and so without the application that has everything."""
    return base.Snapshot(projects=rich().projects[1:], environments=rich().environments[1:], apps=rich().apps[1:])


def of_web() -> dict[str, list[dict[str, object]]]:
    """All that is stored of the application web, but for where that is."""
    return {
        model.__name__: [
            {name: value for name, value in row.items() if not name.startswith("within_")}
            for row in model._default_manager.filter(**{f"{path}__external_id": "web"}).order_by("pk").values()
        ]
        for model, path in CHILDREN.items()
    }


def visible(platform: Platform) -> int:
    return App.objects.filter(platform=platform, hidden_at=None).count()


def test_it_is_hidden_at_once_and_nothing_of_it_is_touched_although_its_project_is_gone() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    before = of_web()
    assert all(before.values())
    changes = apply(platform, without_web(), allow_deletions=True)
    assert changes.hidden == 1
    web = App.objects.get(external_id="web")
    assert web.hidden_at is not None
    assert (web.project, web.environment) == (None, None)
    assert of_web() == before
    assert list(Project.objects.values_list("external_id", flat=True)) == ["q"]
    assert apply(platform, without_web()) == Changes()
    assert of_web() == before


def test_it_returns_whole_with_its_id_and_its_history() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    exported, children, id = snapshot_of(platform), of_web(), App.objects.get(external_id="web").pk
    apply(platform, without_web(), allow_deletions=True)
    assert len(snapshot_of(platform).apps) == 1
    apply(platform, replace(rich(), deployments=()))
    assert snapshot_of(platform) == exported
    assert App.objects.get(external_id="web", hidden_at=None).pk == id
    assert of_web() == children


@pytest.mark.parametrize(
    ("had", "has", "is_too_much"),
    [(1, 0, True), (2, 1, False), (3, 1, True), (4, 2, True), (4, 3, False), (5, 3, False), (5, 2, True), (8, 0, True)],
)
def test_too_many_at_once_change_nothing(had: int, has: int, is_too_much: bool) -> None:
    platform = manifest_platform()
    apply(platform, apps(had))
    if not is_too_much:
        assert apply(platform, apps(has)) == Changes(hidden=had - has)
        return
    before = snapshot_of(platform)
    with pytest.raises(TooManyDeletions) as raised:
        apply(platform, replace(apps(has), secrets=(base.Secret(name="NEW"),)))
    assert (raised.value.hidden, raised.value.of, len(raised.value.names)) == (had - has, had, had - has)
    assert snapshot_of(platform) == before
    assert Platform.objects.get().last_sync_status == "error"
    assert apply(platform, apps(has), allow_deletions=True) == Changes(hidden=had - has)
    assert visible(platform) == has


def test_those_that_went_one_by_one_within_a_day_count_together() -> None:
    platform = manifest_platform()
    apply(platform, apps(8))
    for left in (7, 6, 5):
        apply(platform, apps(left))
    with pytest.raises(TooManyDeletions) as raised:
        apply(platform, apps(4))
    assert (raised.value.hidden, raised.value.of, raised.value.names) == (4, 8, ("a3",))
    App.objects.filter(hidden_at__isnull=False).update(hidden_at=timezone.now() - timedelta(hours=25))
    apply(platform, apps(4))


@pytest.mark.parametrize("way", ["with the sync", "of the connection"])
def test_what_was_hidden_before_somebody_agreed_does_not_count(way: str) -> None:
    platform = manifest_platform(kind="dokploy")
    apply(platform, apps(8))
    apply(platform, apps(5))
    if way == "with the sync":
        apply(platform, apps(4), allow_deletions=True)
        assert apply(platform, apps(3)).hidden == 1
    else:
        PlatformConnection.objects.create(platform=platform, base_url="https://x.example", confirmed_at=timezone.now())
        assert apply(platform, apps(4)).hidden == 1


def test_what_was_hidden_and_returned_does_not_count() -> None:
    platform = manifest_platform()
    for left in (8, 5, 8, 6):
        apply(platform, apps(left))
    assert visible(platform) == 6


def test_another_platforms_applications_do_not_count() -> None:
    ours, theirs = manifest_platform(), manifest_platform(kind="dokploy")
    apply(theirs, apps(8))
    apply(ours, apps(1))
    with pytest.raises(TooManyDeletions):
        apply(ours, base.Snapshot())


def test_a_list_of_applications_that_was_not_read_hides_none() -> None:
    platform = manifest_platform()
    apply(platform, apps(8))
    silent = base.Snapshot(projects=(project(),), unread=frozenset({("apps", None)}))
    assert apply(platform, silent) == Changes()
    assert visible(platform) == 8


def test_a_plan_says_what_would_change_and_changes_nothing() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    before, at = snapshot_of(platform), Platform.objects.get().last_sync_at
    planned = plan(platform, without_web())
    assert planned.changes["apps"] == Changes(hidden=1)
    assert planned.changes["projects"] == Changes(deleted=1)
    assert (planned.hidden, planned.refused) == (("Web",), None)
    assert plan(platform, base.Snapshot()).refused is not None
    assert (snapshot_of(platform), Platform.objects.get().last_sync_at) == (before, at)


def test_after_seven_days_it_is_gone_for_good() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    apply(platform, without_web(), allow_deletions=True)
    assert purge_hidden_applications.func() == 0
    hidden_at = timezone.now() - KEPT
    App.objects.filter(external_id="web").update(hidden_at=hidden_at)
    assert purge_hidden(hidden_at) == 0
    assert purge_hidden_applications.func() == 1
    assert list(App.objects.values_list("external_id", flat=True)) == ["compose"]
    assert not any(of_web().values())


def test_many_are_hidden_and_purged_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hiding, "BATCH", 3)
    monkeypatch.setattr("apps.platforms.snapshot.purge.BATCH", 3)
    platform = manifest_platform()
    apply(platform, apps(8))
    assert apply(platform, base.Snapshot(), allow_deletions=True).hidden == 8
    assert App.objects.filter(project=None).count() == 8
    assert purge_hidden(timezone.now()) == 8
    assert Organization.objects.count() == 1
