"""Applying a snapshot: rows match it, ids stay, and nothing else is touched."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from apps.orgs.ids import derived_id
from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EdgeFact,
    EdgeStatistics,
    EnvVarName,
    Organization,
    OrgSecretName,
    Platform,
    Preview,
    Project,
    RuntimeFact,
    SourceConnection,
    Template,
)
from apps.platforms.manifest.export import snapshot_of
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import apply, apply_catalogue
from apps.platforms.snapshot.check import SnapshotError
from apps.platforms.snapshot.differences import Changes
from tests.platforms.snapshots import NOON, app, deployment, manifest_platform, project, rich

pytestmark = pytest.mark.django_db


def writes(queries: CaptureQueriesContext) -> list[str]:
    statements = [query["sql"] for query in queries]
    return [sql for sql in statements if sql.startswith(("INSERT", "UPDATE", "DELETE", "REPLACE"))]


def test_every_collection_becomes_rows() -> None:
    platform = manifest_platform()
    snapshot = rich()
    changes = apply(platform, snapshot)
    told = snapshot_of(platform)
    for collection in base.COLLECTIONS:
        assert len(getattr(told, collection)) == len(getattr(snapshot, collection)) > 0, collection
    assert changes == Changes(created=sum(len(getattr(snapshot, name)) for name in base.COLLECTIONS))


def test_rows_say_what_the_snapshot_says() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    web = App.objects.get(external_id="web")
    assert (web.name, web.slug, web.status, web.repository) == ("Web", "8080", "deployed", "acme/web")
    assert (web.sort_key, web.organization_id) == ("web", platform.organization_id)
    assert "acme/web" in web.search_key
    assert web.connection == SourceConnection.objects.get(external_id="gh")
    assert App.objects.get(external_id="compose").slug == "compose"  # the key, where no slug is given
    assert EdgeStatistics.objects.get(app=web).uptime_24h == 0.00001
    assert RuntimeFact.objects.get(app=web).instances[0] == {
        "state": "running",
        "since": "2026-03-01T12:00:00.000Z",
        "message": None,
    }
    assert Template.objects.get(external_id="t").tags == ",b,a,no,"
    assert OrgSecretName.objects.get(scope="environment").project == Project.objects.get(external_id="p")


def test_a_second_run_writes_only_that_it_ran() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    with CaptureQueriesContext(connection) as queries:
        assert apply(platform, rich()) == Changes()
    written = writes(queries)
    assert len(written) == 3
    assert 'UPDATE "orgs_platform"' in written[0]
    assert 'UPDATE "orgs_organization"' in written[1]
    assert "synced_at" in written[1]
    assert '"checks_version" =' in written[2]


def test_the_number_of_queries_does_not_grow_with_the_rows() -> None:
    def snapshot(size: int) -> base.Snapshot:
        return base.Snapshot(
            projects=(project(created_at=NOON),),
            apps=tuple(app(f"a{n}", created_at=NOON) for n in range(size)),
            deployments=tuple(deployment(f"d{n}", app="a0") for n in range(size)),
            variables=tuple(base.Variable(name=f"N{n}", app="a0") for n in range(size)),
        )

    def count(slug: str, size: int) -> tuple[int, int, int]:
        platform = manifest_platform(slug)
        counts = []
        for step in (
            snapshot(size),
            replace(snapshot(size), apps=tuple(app(f"a{n}", name="New", created_at=NOON) for n in range(size))),
            base.Snapshot(),
        ):
            with CaptureQueriesContext(connection) as queries:
                apply(platform, step, allow_deletions=True)
            counts.append(len(queries))
        return tuple(counts)  # type: ignore[return-value]

    assert count("few", 2) == count("many", 30)


def test_ids_follow_from_organization_platform_and_key() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    parts = (platform.organization_id, "manifest", "default", "web")
    assert App.objects.get(external_id="web").pk == derived_id("app", *parts)
    assert Project.objects.get(external_id="p").pk == derived_id("prj", *parts[:3], "p")


def test_an_entry_that_comes_back_has_the_id_it_had() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    before = set(Preview.objects.values_list("pk", flat=True))
    apply(platform, replace(rich(), previews=(), domains=(), edges=(), deployments=()))
    assert not Preview.objects.exists()
    apply(platform, rich())
    assert set(Preview.objects.values_list("pk", flat=True)) == before


def test_a_renamed_platform_keeps_the_ids_of_its_rows() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    before = set(App.objects.values_list("pk", flat=True))
    platform.name = "renamed"
    platform.save()
    apply(platform, rich())
    assert set(App.objects.values_list("pk", flat=True)) == before
    assert EnvVarName.objects.count() == len(rich().variables)


def test_an_application_that_moves_to_another_project_keeps_its_id_and_its_history() -> None:
    platform = manifest_platform()
    apply(platform, base.Snapshot(projects=(project(),), apps=(app(),), deployments=(deployment(),)))
    before = App.objects.get()
    apply(platform, base.Snapshot(projects=(project("q"),), apps=(app(project="q"),)))
    after = App.objects.get()
    assert (after.pk, after.created_at) == (before.pk, before.created_at)
    assert after.project.external_id == "q"
    assert Deployment.objects.get().app_id == after.pk


def test_what_is_gone_from_the_snapshot_is_deleted() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    less = replace(
        rich(),
        templates=(),
        secrets=(),
        variables=(),
        edges=(),
        edge_statistics=(),
        runtimes=(),
        domains=(),
        connections=rich().connections[:1],
    )
    changes = apply(platform, less)
    assert changes == Changes(deleted=2 + 4 + 4 + 2 + 2 + 2 + 3 + 1, updated=1)  # updated: the primary URL went
    for model in (Template, OrgSecretName, EnvVarName, EdgeFact, EdgeStatistics, RuntimeFact, Domain):
        assert not model.objects.exists(), model


def test_deployments_stay_while_their_application_exists() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    apply(platform, replace(rich(), deployments=()))
    assert Deployment.objects.count() == 2
    apply(platform, replace(rich(), deployments=(), previews=(), domains=(), edges=()))
    assert not Preview.objects.exists()
    assert list(Deployment.objects.values_list("preview", flat=True)) == [None, None]
    # The preview's deployment does not turn into one of the application's own.
    assert sorted(Deployment.objects.values_list("is_preview", flat=True)) == [False, True]
    assert apply(platform, snapshot_of(platform)) == Changes()


def test_two_platforms_of_an_organization_leave_each_others_rows_alone() -> None:
    manifest, dokploy = manifest_platform(), manifest_platform(kind="dokploy")
    apply(manifest, rich())
    apply(dokploy, rich())
    assert App.objects.count() == 4
    apply(manifest, base.Snapshot(), allow_deletions=True)
    assert set(App.objects.filter(hidden_at=None).values_list("platform", flat=True)) == {dokploy.pk}
    assert len(snapshot_of(dokploy).variables) == len(rich().variables)


def test_two_organizations_with_the_same_keys_share_nothing() -> None:
    acme, rival = manifest_platform("acme"), manifest_platform("rival")
    apply(acme, rich())
    apply(rival, rich())
    assert App.objects.filter(organization=acme.organization).count() == 2
    apply(acme, base.Snapshot(), allow_deletions=True)
    assert App.objects.filter(organization=rival.organization, hidden_at=None).count() == 2


def test_rows_without_a_platform_are_left_alone() -> None:
    platform = manifest_platform()
    apply(platform, rich())
    by_hand = Template.objects.create(organization=platform.organization, name="By hand", description="x")
    apply(platform, replace(rich(), templates=()))
    assert Template.objects.get() == by_hand


def test_the_primary_url_is_the_best_enabled_domain_of_the_application_itself() -> None:
    platform = manifest_platform()
    domains = [
        base.Domain(key="1", app="web", host="a.example.com", https=False),
        base.Domain(key="2", app="web", host="b.example.com", path="/deep"),
        base.Domain(key="3", app="web", host="z.example.com"),
        base.Domain(key="4", app="web", host="c.example.com", is_enabled=False),
        base.Domain(key="5", app="web", host="d.example.com", preview="pv"),
    ]
    preview = base.Preview(key="pv", app="web", branch="x")
    expected = [
        "https://z.example.com/",
        "https://b.example.com/deep",
        "http://a.example.com/",
        None,
    ]
    for url in expected:
        snapshot = base.Snapshot(projects=(project(),), apps=(app(),), previews=(preview,), domains=tuple(domains))
        apply(platform, snapshot)
        assert App.objects.get().primary_url == url
        domains = [d for d in domains if url is None or d.host not in url]


def test_the_last_deployment_time_never_moves_back() -> None:
    platform = manifest_platform()
    one = base.Snapshot(projects=(project(),), apps=(app(),), previews=(base.Preview(key="v", app="web", branch="x"),))

    def last_after(*deployments: base.Deployment) -> object:
        apply(platform, replace(one, deployments=deployments))
        return App.objects.get().last_deployed_at

    hour = timedelta(hours=1)
    assert last_after(deployment(status="failed"), deployment("p", status="succeeded", preview="v")) is None
    assert last_after(deployment(status="succeeded")) == NOON
    assert last_after(deployment(status="succeeded", finished_at=NOON + hour)) == NOON + hour
    assert last_after(deployment("old", status="succeeded", created_at=NOON - hour)) == NOON + hour
    assert last_after() == NOON + hour


def test_a_row_without_a_time_keeps_when_it_was_first_seen() -> None:
    platform = manifest_platform()
    apply(platform, base.Snapshot(projects=(project(),)))
    first = Project.objects.get().created_at
    assert first.microsecond % 1000 == 0
    apply(platform, base.Snapshot(projects=(project(name="Renamed"),)))
    assert Project.objects.get().created_at == first


def test_times_are_kept_to_the_millisecond() -> None:
    platform = manifest_platform()
    apply(platform, base.Snapshot(projects=(project(created_at=NOON.replace(microsecond=123_999)),)))
    assert Project.objects.get().created_at == NOON.replace(microsecond=123_000)


def test_a_sync_notes_when_it_ran_and_the_organization_its_oldest() -> None:
    old, new = manifest_platform(), manifest_platform(kind="dokploy")
    apply(old, base.Snapshot(version="v1"))
    apply(new, base.Snapshot())
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.last_sync_status, old.version) == ("ok", "v1")
    assert Organization.objects.get().synced_at == old.last_sync_at <= new.last_sync_at
    apply(old, base.Snapshot())
    assert Organization.objects.get().synced_at == new.last_sync_at


def test_a_failure_changes_nothing_but_the_platforms_status(monkeypatch: pytest.MonkeyPatch) -> None:
    platform = manifest_platform()
    apply(platform, rich())
    before, synced_at = snapshot_of(platform), Organization.objects.get().synced_at

    def fail(*args: object) -> None:
        raise DatabaseError("the disk is full")

    monkeypatch.setattr("apps.platforms.snapshot.apply.delete", fail)
    with pytest.raises(DatabaseError):
        apply(platform, base.Snapshot(projects=(project("other"),)), allow_deletions=True)
    assert snapshot_of(platform) == before
    assert Platform.objects.get().last_sync_status == "error"
    assert Organization.objects.get().synced_at == synced_at


def test_a_snapshot_that_breaks_the_rules_is_not_applied() -> None:
    platform = manifest_platform()
    with pytest.raises(SnapshotError, match="there is no project with this key"):
        apply(platform, base.Snapshot(apps=(app(),)))
    assert Platform.objects.get().last_sync_status == "error"


def test_the_catalogue_matches_its_file_and_belongs_to_nobody() -> None:
    theirs = manifest_platform()
    apply(theirs, rich())
    assert apply_catalogue(base.Snapshot(templates=rich().templates)) == Changes(created=2)
    assert apply_catalogue(base.Snapshot(templates=rich().templates)) == Changes()
    assert Template.objects.get(organization=None, external_id="t").pk == derived_id("tpl", "t")
    assert apply_catalogue(base.Snapshot(templates=rich().templates[:1])) == Changes(deleted=1)
    assert Template.objects.filter(platform=theirs).count() == 2
