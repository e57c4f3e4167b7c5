"""Two syncs of one platform at once take turns. On PostgreSQL: SQLite has one writer at a time by itself."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from apps.orgs.models import App, Deployment, Platform
from apps.platforms.manifest.export import export
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import apply
from tests.platforms.snapshots import app, deployment, manifest_platform, project


def snapshot(name: str, number: int) -> base.Snapshot:
    apps = tuple(app(f"{name}-{n}", name=f"{name} {n}") for n in range(number))
    deployments = tuple(deployment(f"{name}-{n}", app=f"{name}-{n}") for n in range(number))
    return base.Snapshot(
        projects=(project(name=name),), apps=(*apps, app("shared", name=name)), deployments=deployments
    )


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time by itself")
@pytest.mark.django_db(transaction=True)
def test_syncs_of_one_platform_take_turns() -> None:
    platform_id = manifest_platform().pk

    def sync(number: int) -> str:
        try:
            name = "even" if number % 2 == 0 else "odd"
            return str(apply(Platform.objects.get(pk=platform_id), snapshot(name, 20), allow_deletions=True))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        said = list(threads.map(sync, range(16)))
    assert any("created" in words for words in said)
    platform = Platform.objects.get(pk=platform_id)
    assert platform.last_sync_status == "ok"
    # Whichever came last: all of it, and nothing of the other.
    visible = App.objects.filter(hidden_at=None)
    (name,) = {app_name.split(" ")[0] for app_name in visible.values_list("name", flat=True)}
    assert visible.count() == 21
    assert Deployment.objects.filter(app__hidden_at=None).count() == 20
    before = export(platform)
    assert str(apply(platform, snapshot(name, 20))) == "nothing had changed"
    assert export(platform) == before
