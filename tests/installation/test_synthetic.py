"""Synthetic rows: as many as were asked for, with everything in them that syncs and the ORM would have written."""

from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from apps.installation.synthetic.load import load
from apps.installation.synthetic.rows import RARE
from apps.installation.synthetic.sizes import TYPICAL, Sizes, Skeleton
from apps.oauthmcp.models import AccessToken, RefreshToken
from apps.orgs import models as orgs
from apps.orgs.counts import keep_counts
from apps.orgs.models.fields import FollowingField
from apps.orgs.models.placed import place
from apps.orgs.scope import scope_by_slug
from apps.orgs.timetables import STEP_COLUMNS, refresh
from tests.factories import START

pytestmark = pytest.mark.django_db
SIZES = Sizes(organizations=4, apps=170, deployments=1500, tokens=40, largest=100, seed=3, now=START)


def catalogue() -> set[Any]:
    """Indexes and constraints as PostgreSQL tells them."""
    if connection.vendor != "postgresql":
        return set()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace "
            "UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
        )
        return set(cursor.fetchall())


def test_there_is_what_was_asked_for_and_it_is_what_would_have_been_written() -> None:
    before = catalogue()

    load(SIZES)

    counted = [model.objects.count() for model in (orgs.Organization, orgs.App, orgs.Deployment)]
    assert [*counted, AccessToken.objects.count() + RefreshToken.objects.count()] == [4, 170, 1500, 40]
    assert catalogue() == before
    for model in (orgs.Project, orgs.App, orgs.Deployment, orgs.EnvVarName, orgs.Template, orgs.Organization):
        for row in model.objects.all():
            for field in model._meta.concrete_fields:
                if isinstance(field, FollowingField):
                    assert getattr(row, field.attname) == field.pre_save(row, add=False)
    for model in (orgs.Domain, orgs.Preview, orgs.Deployment, orgs.EnvVarName):
        rows = list(model.objects.all())
        stored = [(row.within_project_id, row.within_environment_id) for row in rows]
        for row in rows:
            row.within_project_id = None
        place(rows)
        assert [(row.within_project_id, row.within_environment_id) for row in rows] == stored
    timetables = list(orgs.HealthTimetable.objects.order_by("app_id").values_list("app_id", "holds", *STEP_COLUMNS))
    refresh(set(orgs.App.objects.values_list("pk", flat=True)))
    assert timetables == list(
        orgs.HealthTimetable.objects.order_by("app_id").values_list("app_id", "holds", *STEP_COLUMNS)
    )
    assert len({levels[2] for levels in timetables}) == 4


def test_counts_are_what_counting_each_organization_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: START)
    load(SIZES)
    models = (orgs.OrganizationCounts, orgs.ProjectCounts)
    loaded = [list(model.objects.order_by("pk").values()) for model in models]
    for model in models:
        model.objects.all().delete()

    for id in orgs.Organization.objects.values_list("pk", flat=True):
        keep_counts(id)

    for row in (kept := [list(model.objects.order_by("pk").values()) for model in models])[0]:
        row["apps"] = {status: number for status, number in row["apps"].items() if number}
    assert loaded == kept


def test_every_kind_of_row_is_seen_by_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timezone, "now", lambda: START)
    load(SIZES)

    largest, typical = scope_by_slug("synthetic-0"), scope_by_slug("synthetic-3")

    assert largest
    assert typical
    assert typical.overview().organization["deployments_last_30_days"] > 0
    assert len(typical.apps().page(None, 100)[0]) == TYPICAL
    assert [app["name"].count(RARE) for app in largest.apps(query=RARE).page(None, 100)[0]] == [1]
    for rows in (
        largest.projects(query=""), largest.domains(), largest.previews(), largest.deployments(),
        largest.variable_names(), largest.secret_names(project_id=None), largest.templates(query="", tag="web"),
    ):  # fmt: skip
        assert rows.page(None, 100)[0]


def test_the_same_numbers_make_the_same_rows_and_another_seed_others() -> None:
    ids = [app[1] for app in Skeleton(SIZES).apps()]

    assert ids == [app[1] for app in Skeleton(SIZES).apps()]
    assert not set(ids) & {app[1] for app in Skeleton(replace(SIZES, seed=4)).apps()}


def test_they_are_for_empty_databases_of_local_installations(settings: Any) -> None:
    settings.IS_LOCAL = False
    with pytest.raises(CommandError, match="--outside-local"):
        call_command("load_synthetic")
    orgs.Organization.objects.create(slug="acme", name="Acme")
    with pytest.raises(CommandError, match="organizations already"):
        call_command("load_synthetic", "--outside-local")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--organizations", "0"], "one at least"),
        (["--apps", "1000"], "50 for the last"),
        (["--now", "2026-03-01"], "with an offset"),
    ],
)
def test_numbers_that_do_not_go_together_are_refused(settings: Any, arguments: list[str], said: str) -> None:
    settings.IS_LOCAL = True
    with pytest.raises(CommandError, match=said):
        call_command("load_synthetic", *arguments)
