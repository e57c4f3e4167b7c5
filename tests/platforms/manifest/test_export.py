"""Exporting: the manifest that comes out makes the same rows, and comes out again as the same bytes."""

import string
from datetime import UTC, datetime
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
import yaml
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from apps.orgs.models import Organization
from apps.platforms.manifest.export import export, write_manifest
from apps.platforms.manifest.reader import read_manifest
from apps.platforms.snapshot import base
from apps.platforms.snapshot.apply import apply
from apps.platforms.snapshot.check import problems_of
from apps.web.characters import prose
from tests.examples import examples
from tests.platforms.snapshots import NOON, app, manifest_platform, project, rich


@pytest.mark.django_db
def test_export_empty_import_export_gives_the_same_bytes() -> None:
    first = manifest_platform()
    apply(first, rich())
    exported = export(first)
    empty = manifest_platform("empty")
    apply(empty, read_manifest(exported.encode()).snapshot)
    assert export(empty) == exported
    apply(first, base.Snapshot(), allow_deletions=True)
    assert export(first) == "version: 1\n"
    apply(first, read_manifest(exported.encode()).snapshot)
    assert export(first) == exported


@pytest.mark.django_db
def test_an_exported_file_is_of_the_same_date(tmp_path: Path) -> None:
    """Imported elsewhere it tells the same facts, and they go stale at the same moment."""
    first, file = manifest_platform(), tmp_path / "exported.yaml"
    apply(first, rich(), age=(NOON, 3600))
    call_command("export_manifest", "acme", "--output", str(file), stdout=StringIO())
    assert file.read_text().startswith("version: 1\nasOf: 2026-03-01T12:00:00Z\nstaleAfter: 3600\n")
    empty = manifest_platform("empty")
    call_command("sync_manifest", "empty", str(file), stdout=StringIO())
    empty.refresh_from_db()
    assert (empty.as_of, empty.stale_after) == (NOON, 3600)
    assert export(empty) == file.read_text()


@pytest.mark.django_db
def test_what_a_deployment_system_told_is_exported_with_the_date_of_its_sync() -> None:
    platform = manifest_platform(kind="coolify")
    platform.sync_period = 60
    apply(platform, rich(), read_at=NOON)
    manifest = read_manifest(export(platform).encode())
    assert (manifest.as_of, manifest.stale_after) == (platform.last_sync_at, 180)
    platform.sync_period = None  # nobody syncs again, so that nothing is expected
    assert read_manifest(export(platform).encode()).as_of is None


@pytest.mark.django_db
def test_export_shows_one_platform_only() -> None:
    ours, theirs = manifest_platform(), manifest_platform(kind="dokploy")
    apply(theirs, rich())
    assert export(ours) == "version: 1\n"
    assert "acme/web" in export(theirs)


@pytest.mark.django_db
def test_times_that_were_left_out_are_in_the_export() -> None:
    platform = manifest_platform()
    apply(platform, base.Snapshot(projects=(project(),)))
    moved = read_manifest(export(platform).encode()).snapshot
    assert moved.projects[0].created_at is not None


def test_an_exported_file_means_the_same_to_other_yaml_readers() -> None:
    data = yaml.safe_load(write_manifest(rich()))
    web = next(app for project in data["projects"] for app in project.get("apps", []) if app["key"] == "web")
    assert (web["slug"], web["createdAt"], web["namesSkipped"]) == ("8080", NOON, 3)
    assert data["connections"][0]["name"] == "no"
    assert data["projects"][0]["description"] == rich().projects[0].description


def test_what_says_nothing_beyond_its_defaults_is_left_out() -> None:
    text = write_manifest(base.Snapshot(projects=(project(),), apps=(app(),), secrets=(base.Secret(name="A"),)))
    assert text == of_lines(
        "version: 1",
        "projects:",
        "  - key: p",
        "    name: Project",
        "    apps:",
        "      - key: web",
        "        name: Web",
        "        source:",
        "          type: upload",
        "secrets:",
        "  - A",
    )


def of_lines(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


# Any text that a snapshot may hold, with much of what YAML reads in its own way.
awkward = st.sampled_from(
    ["no", "null", "~", "0123", "1e3", "8080", "2026-01-01", "a: b", "- a", "#", "=", "<<", "'", '"']
)
characters = st.characters(exclude_categories=("Cc", "Cs"))
line = st.one_of(awkward, st.text(characters, min_size=1, max_size=30)).map(prose).filter(str.strip)
lines = (
    st.text(st.one_of(characters, st.sampled_from("\n\t ")), min_size=1, max_size=60)
    .map(partial(prose, lines=True))
    .filter(str.strip)
)
times = st.datetimes(datetime(1970, 1, 2), datetime(2999, 12, 30)).map(
    lambda moment: moment.replace(tzinfo=UTC, microsecond=moment.microsecond // 1000 * 1000)
)
names = st.text(string.ascii_letters + "_", min_size=1, max_size=12)


@st.composite
def snapshots(draw: st.DrawFn) -> base.Snapshot:
    keys = draw(st.lists(line, min_size=1, max_size=3, unique=True))
    one = keys[0]
    return base.Snapshot(
        projects=tuple(
            base.Project(key=key, name=draw(line), description=draw(st.none() | lines), created_at=draw(times))
            for key in keys
        ),
        apps=(
            base.App(
                key=one,
                project=one,
                name=draw(line),
                slug=draw(line),
                source_type="github",
                branch=draw(st.none() | line),
                created_at=draw(times),
            ),
        ),
        deployments=tuple(
            base.Deployment(key=key, app=one, title=draw(line), commit_message=draw(lines), created_at=draw(times))
            for key in keys
        ),
        variables=tuple(base.Variable(name=name, app=one) for name in draw(st.sets(names, max_size=3))),
        edge_statistics=(
            base.EdgeStatistics(app=one, uptime_24h=draw(st.floats(0, 1)) + 0.0, checked_at=draw(st.none() | times)),
        ),
        runtimes=(
            base.Runtime(
                app=one,
                checked_at=draw(st.none() | times),
                instances=tuple(base.Instance(state=draw(line), message=draw(st.none() | lines)) for _ in keys),
            ),
        ),
    )


@examples(150)
@given(snapshot=snapshots())
def test_any_snapshot_comes_back_from_its_manifest(snapshot: base.Snapshot) -> None:
    if list(problems_of(snapshot)):
        return  # text that looks like an address with a user, say
    text = write_manifest(snapshot)
    again = read_manifest(text.encode()).snapshot
    assert sorted(again.projects, key=str) == sorted(snapshot.projects, key=str)
    assert again.apps == snapshot.apps
    assert (again.edge_statistics, again.runtimes) == (snapshot.edge_statistics, snapshot.runtimes)
    assert sorted(again.deployments, key=str) == sorted(snapshot.deployments, key=str)
    assert write_manifest(again) == text


@pytest.mark.django_db
@examples(15)
@given(snapshot=snapshots())
def test_any_snapshot_goes_through_the_database_unchanged(snapshot: base.Snapshot) -> None:
    if list(problems_of(snapshot)):
        return
    Organization.objects.all().delete()
    platform = manifest_platform()
    apply(platform, snapshot)
    assert export(platform) == write_manifest(snapshot)
