"""Facts have one owner: a sync writes its platform's, takes the prober's over, and leaves those of others alone."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from apps.orgs.models import App, Domain, EdgeFact, EdgeStatistics, Platform, RuntimeFact
from apps.orgs.models.facts import PROBE_PERIOD
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import apply
from apps.platforms.snapshot.differences import Changes
from tests.platforms.snapshots import NOON, app, manifest_platform, project, rich

pytestmark = pytest.mark.django_db

KINDS = {"edges": EdgeFact, "edge_statistics": EdgeStatistics, "runtimes": RuntimeFact}
SILENT: dict[str, tuple[()]] = {"edges": (), "edge_statistics": (), "runtimes": ()}


def rows(model: Any) -> list[dict[str, Any]]:
    return list(model.objects.order_by("pk").values())


def told() -> dict[str, Any]:
    """Of each collection of facts, one record that says something else than the rich snapshot does."""
    return {
        "edges": (base.Edge(domain="d1", checked_at=NOON + timedelta(hours=1), reachable=False),),
        "edge_statistics": (base.EdgeStatistics(app="web", uptime_24h=0.25),),
        "runtimes": (base.Runtime(app="web", running_replicas=9),),
    }


@pytest.mark.parametrize("collection", KINDS)
def test_a_sync_writes_and_deletes_the_facts_of_its_own_platform(collection: str) -> None:
    platform, model = manifest_platform(), KINDS[collection]
    apply(platform, rich())
    before = rows(model)
    assert {row["platform_id"] for row in before} == {platform.pk}
    changes = apply(platform, replace(rich(), **{collection: told()[collection]}))
    assert (changes, len(rows(model))) == (Changes(updated=1, deleted=1), 1)
    assert rows(model)[0] not in before
    apply(platform, replace(rich(), **{collection: ()}))
    assert rows(model) == []


@pytest.mark.parametrize("collection", KINDS)
def test_a_sync_leaves_the_facts_of_another_platform_alone(collection: str) -> None:
    platform, model = manifest_platform(), KINDS[collection]
    apply(platform, rich())
    model.objects.update(platform=manifest_platform(kind="dokploy"), period=7)
    before = rows(model)
    assert apply(platform, rich()) == Changes()
    assert apply(platform, replace(rich(), **{collection: told()[collection]})) == Changes()
    assert apply(platform, replace(rich(), **{collection: ()})) == Changes()
    assert rows(model) == before


@pytest.mark.parametrize("collection", ["edges", "edge_statistics"])
def test_what_the_prober_saw_becomes_the_manifests_that_begins_to_tell_it(collection: str) -> None:
    platform, model = manifest_platform(), KINDS[collection]
    apply(platform, rich())
    heard = rows(model)
    column = "reachable" if collection == "edges" else "uptime_24h"
    model.objects.update(platform=None, period=PROBE_PERIOD, **{column: 0})
    assert apply(platform, rich()) == Changes(updated=len(heard))
    assert rows(model) == heard
    assert apply(platform, rich()) == Changes()


@pytest.mark.parametrize("collection", KINDS)
def test_what_the_prober_saw_stays_the_probers_where_a_manifest_is_silent(collection: str) -> None:
    platform, model = manifest_platform(), KINDS[collection]
    apply(platform, rich())
    model.objects.update(platform=None, period=PROBE_PERIOD)
    before = rows(model)
    assert apply(platform, replace(rich(), **{collection: ()})) == Changes()
    assert rows(model) == before


def test_an_unchanged_sync_leaves_what_the_prober_wrote() -> None:
    platform = manifest_platform()
    snapshot = replace(rich(), edges=(), edge_statistics=())
    apply(platform, snapshot)
    web = App.objects.get(external_id="web")
    EdgeStatistics.objects.create(organization=web.organization, app=web, uptime_24h=0.5, latency_p95_ms=90)
    for domain in Domain.objects.all():
        EdgeFact.objects.create(organization=web.organization, domain=domain, checked_at=NOON, reachable=True)
    before = rows(EdgeStatistics), rows(EdgeFact)
    assert apply(platform, snapshot) == Changes()
    assert (rows(EdgeStatistics), rows(EdgeFact)) == before


def test_what_the_platform_runs_is_told_beside_what_the_prober_saw() -> None:
    platform = manifest_platform()
    apply(platform, replace(rich(), **SILENT))
    web = App.objects.get(external_id="web")
    EdgeStatistics.objects.create(organization=web.organization, app=web, uptime_24h=0.5)
    apply(platform, replace(rich(), **SILENT | {"runtimes": told()["runtimes"]}))
    web = App.objects.get(external_id="web")
    assert (web.edge_statistics.uptime_24h, web.edge_statistics.platform) == (0.5, None)
    assert (web.runtime.running_replicas, web.runtime.platform) == (9, platform)


@pytest.mark.parametrize(
    ("kind", "sync_period", "period"), [("dokploy", 300, 300), ("dokploy", None, None), ("manifest", 300, None)]
)
@pytest.mark.parametrize("model", KINDS.values())
def test_a_fact_is_checked_again_when_its_platform_is_synced(
    model: Any, kind: str, sync_period: int | None, period: int | None
) -> None:
    platform = manifest_platform(kind=kind)
    platform.sync_period = sync_period
    apply(platform, rich())
    assert {row["period"] for row in rows(model)} == {period}


def test_a_period_that_changes_reaches_the_facts_with_the_next_sync() -> None:
    platform = manifest_platform(kind="dokploy")
    apply(platform, rich())
    Platform.objects.update(sync_period=60)
    changes = apply(Platform.objects.get(), rich())
    assert changes == Changes(updated=sum(len(getattr(rich(), collection)) for collection in KINDS))
    assert {row["period"] for model in KINDS.values() for row in rows(model)} == {60}


def test_what_no_platform_told_is_the_probers_to_check_again() -> None:
    apply(manifest_platform(), replace(rich(), **SILENT))
    web = App.objects.get(external_id="web")
    assert EdgeStatistics.objects.create(organization=web.organization, app=web).period == PROBE_PERIOD == 60


@pytest.mark.parametrize("said", [{}, {"checked_at": NOON}, {"instances": []}])
def test_a_record_that_says_nothing_becomes_no_row(said: dict[str, Any]) -> None:
    empty = {
        "runtimes": (base.Runtime(app="web", **said),),
        "edge_statistics": (base.EdgeStatistics(app="web", checked_at=said.get("checked_at")),),
    }
    apply(manifest_platform(), base.Snapshot(projects=(project(),), apps=(app(),), **empty))
    assert rows(RuntimeFact) == rows(EdgeStatistics) == []
