"""Searches: the same with an index of trigrams and without, on any database, as comparing each name by itself."""

import logging
from itertools import product

import pytest
from django.core.checks import run_checks
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.orgs.counts import keep_counts
from apps.orgs.models import App, Project
from apps.orgs.models.fields import WORD_SEPARATOR
from apps.orgs.scope import OrgScope
from apps.orgs.search_indexes import EXTENSIONS, INDEXES, add_indexes, missing_indexes
from apps.orgs.text import fold
from config import checks
from tests.factories import Fill, make

pytestmark = pytest.mark.django_db
NAMES = (
    "Checkout API", "checkout_api", "100% of it", "100 of it", r"back\slash", "Straße", "STRASSE", "İstanbul",
    "istanbul", "Café", "cafe\u0301 bar", "日本語の名前", "a", "ab", "_", "%", "'quoted' \"twice\"", "zz  zz",
    "x" * 200,
)  # fmt: skip
DESCRIPTIONS = (None, "Answers 100% of Customers", "One that is too long for an index. " * 28)
QUERIES = (
    *NAMES, "CHECK", "out api", "out_api", "0% ", "0_o", "k\\s", "k\\\\s", "ss", "SSE", "ß", "istan", "É",
    "語の名", "の", "zz  ", "xxx", "x" * 200, "' OR ", "\"tw", "nothing like it", "%%%", "___", "\\", " ", "   ",
    "ab%", f"a{WORD_SEPARATOR}",
)  # fmt: skip


@pytest.fixture
def org(acme: Fill, rival: Fill) -> OrgScope:
    for fill in (acme, rival):
        App.objects.bulk_create(
            App(
                organization=fill.organization, project=fill.project, name=name, slug=f"slug-{number}",
                description=description, source_type="docker", status=("idle", "error")[number % 2],
            )
            for number, (name, description) in enumerate(product(NAMES, DESCRIPTIONS))
        )  # fmt: skip
        for name in NAMES:
            make(Project, fill.organization, name=name)
    return OrgScope(acme.organization.pk, None)


def make_large(org: OrgScope, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it is taken for large: a walk goes through an index of names and search keys."""
    keep_counts(org.organization_id)
    monkeypatch.setattr("apps.orgs.overview.MANY", 0)


@pytest.mark.parametrize("is_large", [False, True])
def test_a_search_finds_what_has_the_query_in_it(
    org: OrgScope, monkeypatch: pytest.MonkeyPatch, is_large: bool
) -> None:
    if is_large:
        make_large(org, monkeypatch)
    for query, (model, name) in product(QUERIES, ((App, "apps"), (Project, "projects"))):
        rows = getattr(org, name)(query=query)
        stored = model.objects.filter(organization_id=org.organization_id).values_list("id", "sort_key", "search_key")
        wanted = sorted((sort_key, id) for id, sort_key, key in stored if fold(query) in key)
        assert [(row["sort_key"], row["id"]) for row in rows.page(None, 100)[0]] == (
            [] if WORD_SEPARATOR in query else wanted
        )


def test_a_walk_goes_on_over_pages_in_an_index_of_its_own(org: OrgScope, monkeypatch: pytest.MonkeyPatch) -> None:
    App.objects.filter(organization_id=org.organization_id, name="ab").update(hidden_at=timezone.now())
    small = org.apps(query="s").page(None, 100)[0]
    make_large(org, monkeypatch)

    rows = org.apps(query="s")
    first, has_more = rows.page(None, 20)
    with CaptureQueriesContext(connection) as queries:
        others, is_left = rows.page(rows.position(first[-1]), 100)

    assert (has_more, is_left) == (True, False)
    assert [*first, *others] == list(small)
    parts = ["app_walked", "app_walked_long"] if connection.vendor == "postgresql" else ["app_walked"]
    for query, index in zip(queries, parts, strict=False):
        assert f"{index} " in plan_of(query["sql"])


def plan_of(sql: str) -> str:
    """As of a table that is large."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for way in ("seqscan", "sort", "bitmapscan"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {'QUERY PLAN ' * (connection.vendor == 'sqlite')}{sql.replace('%', '%%')}")
        return str(cursor.fetchall())


def test_it_narrows_with_others_and_goes_on_over_pages(org: OrgScope, monkeypatch: pytest.MonkeyPatch) -> None:
    every = org.apps(query="customers").page(None, 100)[0]
    for few in (500, 3):  # read one by one, and met on the way
        monkeypatch.setattr("apps.orgs.conditions.FEW", few)
        rows = org.apps(query="customers", status="error")
        first, has_more = rows.page(None, 7)
        assert has_more
        assert [*first, *rows.page(rows.position(first[-1]), 100)[0]] == [
            row for row in every if row["status"] == "error"
        ]


def test_there_are_indexes_for_it_wherever_there_can_be(org: OrgScope) -> None:
    if connection.vendor == "sqlite":
        assert missing_indexes() == []
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM pg_available_extensions WHERE name = ANY(%s)", [list(EXTENSIONS)])
        can_be = cursor.fetchone()[0] == len(EXTENSIONS)
        add_indexes()  # again: what is there stays, what may not be is no error
        assert missing_indexes() == ([] if can_be else list(INDEXES))
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
        plan = App.objects.filter(
            search_key__contains="check"
        ).explain()  # of an organization so small it asks for less
        assert ("app_search" in plan) == can_be


def test_start_up_says_where_they_are_missing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(checks, "missing_indexes", lambda: ["app_search"])
    said = [check.id for check in run_checks(tags=["database"], databases=["default"])]
    assert "porthole.W030" in said
    with caplog.at_level(logging.WARNING, "porthole.settings"):
        checks.check_all_rules()
    assert "pg_trgm and btree_gin" in caplog.text
    monkeypatch.setattr(checks, "missing_indexes", list)
    assert "porthole.W030" not in [check.id for check in run_checks(tags=["database"], databases=["default"])]
