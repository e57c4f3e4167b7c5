"""The list, its filter and get_app_health say the same of an application's health at every moment, nobody at work."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EdgeFact,
    HealthTimetable,
    Organization,
    Platform,
    Preview,
    Project,
    RuntimeFact,
)
from apps.orgs.models.judged import Judged, judging_once
from apps.orgs.models.versioned import raising_oneself
from apps.orgs.overview import FOREVER, TICK
from apps.orgs.scope import OrgScope
from apps.orgs.timetables import EDGE_COLUMNS, RUNTIME_COLUMNS, refresh, stored_facts
from apps.orgs.trouble import UNHEALTHY, apps_with
from apps.orgs.vocabulary import HEALTH_LEVELS
from tests.examples import examples
from tests.factories import START, Fill, make, make_app, make_edge

pytestmark = pytest.mark.django_db
MILLISECOND = timedelta(milliseconds=1)
LEVELS = set(HEALTH_LEVELS)


class At:
    """What everybody takes for now."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = START
        monkeypatch.setattr("django.utils.timezone.now", lambda: self.now)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> At:
    return At(monkeypatch)


def listed(organization: Organization, health: str | None = None) -> dict[str, tuple[str, str | None]]:
    rows, has_more = OrgScope(organization.pk, None).apps(
        project_id=None, environment_id=None, status=None, health=health, query=""
    ).page(None, 100)  # fmt: skip
    assert not has_more
    found = {row["id"]: (row["health"], row["health_reason"]) for row in rows}
    assert len(found) == len(rows)
    return found


def judged(organization: Organization) -> dict[str, tuple[str, str | None]]:
    scope = OrgScope(organization.pk, None)
    ids = App.objects.filter(organization=organization, hidden_at__isnull=True).values_list("pk", flat=True)
    verdicts = {id: scope.app(id).health() for id in ids}
    return {id: (its.level, its.reasons[0] if its.reasons else None) for id, its in verdicts.items()}


def assert_all_agree(organization: Organization) -> dict[str, tuple[str, str | None]]:
    expected = judged(organization)
    assert listed(organization) == expected
    for level in LEVELS:
        assert listed(organization, level) == {id: of for id, of in expected.items() if of[0] == level}
    unhealthy = {id: of for id, of in expected.items() if of[0] in ("degraded", "down")}
    assert listed(organization, "unhealthy") == unhealthy
    found = list(apps_with(UNHEALTHY, timezone.now(), organization.pk))  # as operators see it
    assert sorted(found) == sorted(unhealthy)
    return expected


# Random facts and clocks

ages = st.sampled_from([0, 1, 59, 60, 120, 179, 180, 181, 240, 400, 86400])
periods = st.sampled_from([None, 20, 60, 300])
OF_EDGE = {
    "age": ages,
    "period": periods,
    "reachable": st.sampled_from([True, True, True, False, None]),
    "http_status": st.sampled_from([None, 200, 404, 503]),
    "tls_is_valid": st.sampled_from([None, True, True, False]),
    "left": st.sampled_from([None, -86400, -1, 0, 1, 30, 100, 200, 1800000]),
    "of_manifest": st.booleans(),
}
EDGES = st.none() | st.fixed_dictionaries(OF_EDGE)
OF_RUNTIME = {
    "age": st.none() | ages,
    "period": periods,
    "running": st.sampled_from([None, 0, 1, 2]),
    "desired": st.sampled_from([None, 0, 2]),
    "platform": st.sampled_from([None, "dokploy", "manifest"]),
}
APPS = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["deployed", "deployed", "deploying", "error", "idle"]),
        "last": st.sampled_from([None, "succeeded", "succeeded", "failed"]),
        "edges": st.lists(EDGES, max_size=3),
        "runtime": st.none() | st.fixed_dictionaries(OF_RUNTIME),
    }
)
PLATFORMS = st.fixed_dictionaries(
    {"synced": st.none() | ages, "as_of": st.none() | ages, "stale_after": st.sampled_from([None, 60, 300])}
)


def ago(seconds: int | None) -> datetime | None:
    return None if seconds is None else START - timedelta(seconds=seconds)


def build(organization: Organization, project: Project, told: dict[str, Any], platforms: dict[str, Platform]) -> None:
    app = make_app(project, name="it", status=told["status"])
    if told["last"]:
        make(Deployment, organization, app=app, title="x", status=told["last"], created_at=START)
    for number, edge in enumerate(told["edges"]):
        domain = make(Domain, organization, app=app, host=f"{number}.example.com", https=True)
        if edge is not None:
            left = None if edge["left"] is None else START + timedelta(seconds=edge["left"])
            owner = {"platform": platforms["manifest"], "period": None} if edge["of_manifest"] else {}
            make_edge(
                domain, checked_at=ago(edge["age"]), reachable=edge["reachable"], http_status=edge["http_status"],
                tls_is_valid=edge["tls_is_valid"], tls_not_after=left, **{"period": edge["period"]} | owner,
            )  # fmt: skip
    if (runtime := told["runtime"]) is not None:
        kind = runtime["platform"]
        RuntimeFact.objects.create(
            organization=organization, app=app, platform=platforms.get(kind), checked_at=ago(runtime["age"]),
            period=None if kind == "manifest" else runtime["period"], running_replicas=runtime["running"],
            desired_replicas=runtime["desired"],
        )  # fmt: skip


def moments(organization: Organization) -> Iterator[datetime]:
    """Around every end of a step and of what platforms told; and a minute, a day and thirty days later."""
    columns = ("until_1", "until_2", "until_3")
    ends = {at for row in HealthTimetable.objects.values_list(*columns) for at in row if at not in (None, FOREVER)}
    for platform in Platform.objects.filter(organization=organization):
        for begin in filter(None, (platform.last_sync_at, platform.as_of)):
            ends |= {begin + timedelta(seconds=seconds) for seconds in (60, 180, 300, 900, 86400)}
    for end in sorted(ends):
        yield from (end - MILLISECOND, end - TICK, end, end + MILLISECOND)
    yield from (START + timedelta(**later) for later in ({}, {"minutes": 1}, {"days": 1}, {"days": 30}))


def agree_about(
    organization: Organization, project: Project, of_apps: Any, of_platform: Any, at: At, most: int
) -> None:
    App.objects.filter(organization=organization).delete()
    platforms = {}
    for kind in ("dokploy", "manifest"):
        values = {
            "last_sync_at": ago(of_platform["synced"]),
            "as_of": ago(of_platform["as_of"]) if kind == "manifest" else None,
            "stale_after": of_platform["stale_after"],
        }
        platforms[kind], _ = Platform.objects.update_or_create(
            organization=organization, kind=kind, name="random", defaults=values
        )
    for told in of_apps:
        build(organization, project, told, platforms)
    every = list(moments(organization))
    for moment in Random(0).sample(every, min(most, len(every))):
        at.now = moment
        assert_all_agree(organization)


@pytest.mark.soak
@settings(examples(4), suppress_health_check=list(HealthCheck), deadline=None)
@given(of_apps=st.lists(APPS, min_size=1, max_size=2), of_platform=PLATFORMS)
def test_they_agree_at_every_moment(acme: Fill, at: At, of_apps: Any, of_platform: Any) -> None:
    agree_about(acme.organization, acme.project, of_apps, of_platform, at, most=8)


@pytest.mark.soak
@settings(examples(8), suppress_health_check=list(HealthCheck), deadline=None)
@given(of_apps=st.lists(APPS, min_size=1, max_size=4), of_platform=PLATFORMS)
def test_they_agree_at_every_moment_about_many(acme: Fill, at: At, of_apps: Any, of_platform: Any) -> None:
    agree_about(acme.organization, acme.project, of_apps, of_platform, at, most=25)


# Who writes what is judged


def stored() -> set[tuple[Any, ...]]:
    columns = [field.attname for field in HealthTimetable._meta.concrete_fields if not field.primary_key]
    return set(HealthTimetable.objects.values_list(*columns))


def assert_up_to_date() -> None:
    before = stored()
    assert set(App.objects.values_list("pk", flat=True)) == {row[0] for row in before}
    refresh(set(App.objects.values_list("pk", flat=True)))
    assert stored() == before


def save(row: Any, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save()


def saved_columns(row: Any, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=list(values))


def moved(acme: Fill, way: str) -> None:
    """Its domain and what was seen of it, to another application."""
    other = make_app(acme.project, name="other")
    match way:
        case "save":
            save(acme.domain, app=other)
        case "update":
            Domain.objects.filter(pk=acme.domain.pk).update(app=other)
        case "bulk_update":
            acme.domain.app = other
            Domain.objects.bulk_update([acme.domain], ["app"])


def freed(acme: Fill, delete: Callable[[], object]) -> None:
    """A preview goes, and its domain with what was seen of it becomes the application's own."""
    domain = make(Domain, acme.organization, app=acme.app, host="p.example.com", https=True, preview=acme.preview)
    make_edge(domain, reachable=False)
    assert_up_to_date()
    delete()


def failed(acme: Fill, then: Callable[[Deployment], object]) -> None:
    """A deployment fails, and then is none that counts; another one fails instead, of which something else is told."""
    then(make(Deployment, acme.organization, app=acme.app, title="x", status="failed", created_at=START + MILLISECOND))
    assert stored_levels(acme.app) == {"healthy"}
    App.objects.filter(pk=acme.app.pk).update(status="error")


def renamed(acme: Fill) -> None:
    acme.app.runtime.delete()
    EdgeFact.objects.update(reachable=False)
    assert_up_to_date()
    save(acme.domain, host="z.example.com")


def stored_levels(app: App) -> set[str]:
    return set(HealthTimetable.objects.filter(app=app).exclude(holds="unsynced").values_list("level_1", flat=True))


WRITES: dict[str, Callable[[Fill], object]] = {
    "an application is made": lambda acme: make_app(acme.project, name="new"),
    "applications are made in bulk": lambda acme: App.objects.bulk_create(
        [App(organization=acme.organization, project=acme.project, name="n", slug="n", source_type="docker")]
    ),
    "an application's status is saved": lambda acme: save(acme.app, status="deploying"),
    "one column is saved": lambda acme: saved_columns(acme.app, status="deploying"),
    "a status is updated": lambda acme: App.objects.update(status="deploying"),
    "a status is updated in bulk": lambda acme: [
        setattr(acme.app, "status", "deploying"),
        App.objects.bulk_update([acme.app], ["status"]),
    ],
    "a deployment is made": lambda acme: make(
        Deployment, acme.organization, app=acme.app, title="x", status="failed", created_at=START + MILLISECOND
    ),
    "a deployment fails": lambda acme: save(acme.deployment, status="failed"),
    "deployments fail": lambda acme: Deployment.objects.update(status="failed"),
    "the newest deployment was a preview's": lambda acme: failed(acme, lambda row: save(row, is_preview=True)),
    "a deployment is deleted": lambda acme: failed(acme, lambda row: row.delete()),
    "a domain is disabled": lambda acme: save(acme.domain, is_enabled=False),
    "a domain is a preview's": lambda acme: Domain.objects.update(preview=acme.preview),
    "a domain in trouble is renamed": renamed,
    "a domain is deleted": lambda acme: acme.domain.delete(),
    "domains are deleted": lambda acme: Domain.objects.all().delete(),
    "a domain moves by save": lambda acme: moved(acme, "save"),
    "a domain moves by update": lambda acme: moved(acme, "update"),
    "a domain moves by bulk_update": lambda acme: moved(acme, "bulk_update"),
    "a preview is deleted": lambda acme: freed(acme, acme.preview.delete),
    "previews are deleted": lambda acme: freed(acme, Preview.objects.all().delete),
    "a check is written": lambda acme: save(acme.domain.edge, reachable=False),
    "checks are updated": lambda acme: EdgeFact.objects.update(platform=None, period=60),
    "checks are written over": lambda acme: EdgeFact.objects.bulk_create(
        [EdgeFact(organization=acme.organization, domain=acme.domain, checked_at=START, reachable=False)],
        update_conflicts=True,
        unique_fields=["domain"],
        update_fields=["reachable", "platform", "period"],
    ),
    "checks are deleted": lambda acme: EdgeFact.objects.all().delete(),
    "a runtime is written": lambda acme: save(acme.app.runtime, running_replicas=0),
    "runtimes get an age": lambda acme: RuntimeFact.objects.update(platform=None, period=60, checked_at=START),
    "runtimes are deleted": lambda acme: RuntimeFact.objects.all().delete(),
    "an application goes": lambda acme: acme.app.delete(),
    "a project goes": lambda acme: acme.project.delete(),
    "a platform goes": lambda acme: acme.platform.delete(),
    "platforms go": lambda acme: Platform.objects.all().delete(),
}


@pytest.mark.parametrize("what", WRITES)
def test_a_timetable_is_right_after(what: str, acme: Fill) -> None:
    assert_up_to_date()
    before = stored()
    WRITES[what](acme)
    assert_up_to_date()
    assert stored() != before


def test_what_is_judged_is_what_writers_tell_of(acme: Fill) -> None:
    """Every column that facts are read from is one of those whose writers tell; and no other makes anybody work."""
    told = {(model.__name__, name) for model in apps.get_models() if issubclass(model, Judged) for name in model.judged}
    read = {("App", "status"), *(("Domain", name) for name in ("app", "host", "path", "preview", "is_enabled"))}
    read |= {("Deployment", name) for name in ("app", "is_preview", "status", "created_at")}
    for model, columns in (("EdgeFact", EDGE_COLUMNS), ("RuntimeFact", RUNTIME_COLUMNS)):
        names = {column.split("__")[1] for column in columns} - {"app_id"}
        read |= {(model, name.removesuffix("_id")) for name in names}
    assert told == read
    selected = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        selected.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        list(stored_facts([acme.app.pk]))
    assert len(selected) == 2
    tables = {table for sql in selected for table in connection.introspection.table_names() if f'"{table}"' in sql}
    judged = {model._meta.db_table for model in apps.get_models() if issubclass(model, Judged)}
    assert tables == (judged - {Preview._meta.db_table}) | {Platform._meta.db_table}


def test_what_is_not_judged_makes_nobody_work(acme: Fill, django_assert_num_queries: Any) -> None:
    with raising_oneself(), judging_once(), django_assert_num_queries(1):
        EdgeFact.objects.update(latency_ms=7, error="x")


def test_much_that_is_written_is_judged_once(acme: Fill) -> None:
    before = stored()
    with judging_once():
        App.objects.update(status="deploying")
        Deployment.objects.update(status="failed")
        assert stored() == before
    assert stored() != before
    assert_up_to_date()


# All workers stopped


def test_nobody_has_to_work_for_time_to_pass(acme: Fill, at: At) -> None:
    organization, app = acme.organization, make_app(acme.project, name="watched", status="deployed")
    domain = make(Domain, organization, app=app, host="a.example.com", https=True)
    make_edge(domain, period=60, tls_not_after=START + timedelta(days=20), tls_is_valid=True)
    synced = Platform.objects.create(
        organization=organization, kind="dokploy", name="x", sync_period=60, last_sync_at=START
    )
    run = make_app(acme.project, name="run", status="deployed")
    RuntimeFact.objects.create(
        organization=organization, app=run, platform=synced, period=60, desired_replicas=2, running_replicas=1
    )
    told = []
    for later in (timedelta(0), timedelta(minutes=1), timedelta(days=1), timedelta(days=30)):
        at.now = START + later
        every = assert_all_agree(organization)
        told.append((every[app.pk][0], every[run.pk][0]))
    assert told == [("healthy", "degraded")] * 2 + [("unknown", "unknown")] * 2


MANIFEST = """
projects:
  - key: p
    name: P
    apps:
      - key: web
        name: Web
        source: {type: upload}
        runtime: {desired: 1, running: 1}
        deployments: [{key: d, title: D, status: succeeded, createdAt: 2026-03-01T11:00:00Z, author: ann}]
        domains: [{key: w, host: w.example.com, edge: {checkedAt: 2026-03-01T11:00:00Z, reachable: true}}]
"""


def synced(acme: Fill, folder: Path, head: str) -> str:
    """The id of the application that the manifest tells of."""
    file = folder / "manifest.yaml"
    file.write_text(f"version: 1\n{head}{MANIFEST}")
    call_command("sync_manifest", "acme", str(file), stdout=StringIO())
    return App.objects.get(organization=acme.organization, external_id="web").pk


def test_a_manifests_facts_go_stale_by_its_own_date(acme: Fill, at: At, tmp_path: Path) -> None:
    app = synced(acme, tmp_path, "asOf: 2026-03-01T11:30:00Z\nstaleAfter: 3600\n")
    told = []
    for minutes in (0, 30, 31):
        at.now = START + timedelta(minutes=minutes)
        told.append(assert_all_agree(acme.organization)[app][0])
    health = OrgScope(acme.organization.pk, None).app(app).health()
    assert told == ["healthy", "healthy", "unknown"]
    assert health.edge["is_stale"]
    assert OrgScope(acme.organization.pk, None).overview().platform["is_stale"]
    assert health.runtime is not None
    assert health.runtime["checked_at"] == START - timedelta(minutes=30)
    before = stored()
    synced(acme, tmp_path, "asOf: 2026-03-01T12:20:00Z\n")  # nothing but its date is new
    assert stored() == before
    assert assert_all_agree(acme.organization)[app][0] == "healthy"
    at.now = START + timedelta(days=1, minutes=21)
    assert assert_all_agree(acme.organization)[app][0] == "unknown"


def test_without_a_date_a_manifests_facts_do_not_age(acme: Fill, at: At, tmp_path: Path) -> None:
    app = synced(acme, tmp_path, "")
    at.now = START + timedelta(days=999)
    assert assert_all_agree(acme.organization)[app][0] == "healthy"
    assert Deployment.objects.get(app=app).author == "ann"


def test_another_organizations_applications_are_never_found(acme: Fill, rival: Fill, at: At) -> None:
    assert set(listed(acme.organization, "healthy")) == {acme.app.pk}
    App.objects.filter(pk=rival.app.pk).update(status="deploying")
    assert listed(acme.organization, "deploying") == {}


def test_the_filter_finds_the_same_in_a_walk(acme: Fill, at: At, monkeypatch: pytest.MonkeyPatch) -> None:
    few = listed(acme.organization, "healthy")
    monkeypatch.setattr("apps.orgs.conditions.FEW", 0)
    assert listed(acme.organization, "healthy") == few != {}
