"""Lists that stay fast, and how operators find what they look for."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from apps.orgs.admin import dates, paging, parts
from apps.orgs.models import (
    App,
    Deployment,
    Domain,
    EnvVarName,
    Membership,
    Organization,
    Project,
    User,
)
from tests.factories import Fill, make
from tests.operators import (
    LISTED,
    add_more,
    analyze,
    client_of,
    list_of,
    page_of,
    plan_of,
    queries_of,
    rows_of,
    staff_who_may,
)


@pytest.mark.parametrize("model", LISTED)
def test_a_list_asks_as_many_queries_for_fifty_rows_as_for_one(operator: Client, acme: Fill, model: Any) -> None:
    narrowed = {} if model in (Organization, User) else {"organization": "acme"}
    for _ in range(2):  # the first answer fills caches, such as that of content types
        before = queries_of(lambda: operator.get(list_of(model), narrowed))
    add_more(model, acme, 49)
    after = queries_of(lambda: operator.get(list_of(model), narrowed))
    of_days = 5 if model is Deployment else 0  # there is one; its year, month and day are asked for, and what follows
    assert len(after) == len(before) <= 6 + of_days, [query["sql"] for query in after]


def test_an_organizations_page_asks_as_many_queries_for_fifty_members_as_for_one(operator: Client, acme: Fill) -> None:
    page = page_of(acme.organization)
    for _ in range(2):
        before = queries_of(lambda: operator.get(page))
    add_more(Membership, acme, 49)
    assert len(queries_of(lambda: operator.get(page))) == len(before) <= 8


@pytest.mark.parametrize(
    ("model", "term", "found"),
    [
        (App, "ACME A", ["acme app"]),
        (App, "ME AP", ["acme app"]),
        (App, "nothing", []),
        (App, "same-key", ["acme app"]),
        (App, "zz\U0010ffff'\"%_", []),
        (Domain, "cme.Exam", ["acme.example.com/"]),
        (Deployment, "CME deploy", ["acme deploys"]),
        (Deployment, "%", []),
        (Project, "cme p", ["acme project"]),
        (EnvVarName, "cme_u", ["ACME_URL"]),
        (Organization, "IVA", ["Rival"]),
        (User, "MEMBER@", ["member@example.com"]),
        (User, "ber@EXAM", ["member@example.com"]),
        (Membership, "ber@exam", ["member@example.com in Acme"]),
    ],
)
def test_a_search_knows_parts_of_names_and_the_platforms_id(
    operator: Client, acme: Fill, model: Any, term: str, found: list[str]
) -> None:
    App.objects.filter(id=acme.app.id).update(platform=acme.platform)
    assert [str(row) for row in rows_of(operator.get(list_of(model), {"q": term}))] == found


def test_a_search_knows_ids_of_rows_and_of_what_they_belong_to(operator: Client, acme: Fill, rival: Fill) -> None:
    for term in (acme.deployment.id, acme.app.id, acme.organization.id, f" {acme.app.id} "):
        assert rows_of(operator.get(list_of(Deployment), {"q": term})) == [acme.deployment]
    assert rows_of(operator.get(list_of(Deployment), {"q": acme.template.id})) == []


def test_a_search_says_when_it_found_more_than_it_shows(
    operator: Client, acme: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MAX_FOUND", 3)
    add_more(Deployment, acme, 4)
    newest_first = list(Deployment.objects.filter(organization=acme.organization).order_by("-created_at", "-id"))
    for narrowed in ({}, {"organization": "acme"}, {"status__exact": acme.deployment.status}):
        page = operator.get(list_of(Deployment), {"q": "acme"} | narrowed)
        assert "more than 3 " in page.content.decode()
        assert rows_of(page) == newest_first[:3]


def test_a_search_and_filters_find_what_fulfils_both(
    operator: Client, acme: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_more(Deployment, acme, 4)
    Deployment.objects.filter(pk=acme.deployment.pk).update(status="building")
    for most in (500, 3):
        monkeypatch.setattr(parts, "MAX_FOUND", most)
        found = rows_of(operator.get(list_of(Deployment), {"q": "acme", "status__exact": "building"}))
        assert found == [acme.deployment]
        assert rows_of(operator.get(list_of(Deployment), {"q": "acme", "organization": "rival"})) == []


def test_an_organization_is_looked_up_by_a_part_of_its_name_and_shown_with_its_slug(
    operator: Client, acme: Fill
) -> None:
    page = operator.get(list_of(App)).content.decode()
    assert 'class="admin-autocomplete"' in page
    where = {"app_label": "orgs", "model_name": "membership", "field_name": "organization"}
    found = operator.get(reverse("admin:autocomplete"), where | {"term": "CM"}).json()["results"]
    assert found == [{"id": acme.organization.id, "text": "Acme (acme)"}]
    chosen = operator.get(list_of(App), {"organization": acme.organization.id})
    assert rows_of(chosen) == [acme.app]
    assert "Acme (acme)" in chosen.content.decode()


def test_who_may_not_see_organizations_narrows_by_a_slug(acme: Fill) -> None:
    client = client_of(staff_who_may("view_app"))
    page = client.get(list_of(App), {"organization": "acme"})
    assert 'class="admin-autocomplete"' not in page.content.decode()
    assert rows_of(page) == [acme.app]
    where = {"app_label": "orgs", "model_name": "membership", "field_name": "organization"}
    assert client.get(reverse("admin:autocomplete"), where | {"term": ""}).status_code == 403


def test_a_list_is_narrowed_by_an_organizations_slug(operator: Client, acme: Fill) -> None:
    assert rows_of(operator.get(list_of(App), {"organization": " Acme "})) == [acme.app]
    for slug in ("nobody", "not a slug", "\0", "%"):
        assert rows_of(operator.get(list_of(App), {"organization": slug})) == []


def test_the_filter_keeps_the_search_and_names_no_other_organization(operator: Client) -> None:
    page = operator.get(
        list_of(App), {"organization": "acme", "q": "a<b", "status__exact": "idle", "p": "1"}
    ).content.decode()
    assert '<input type="hidden" name="q" value="a&lt;b">' in page
    assert '<input type="hidden" name="status__exact" value="idle">' in page
    assert 'type="hidden" name="p"' not in page
    assert "Rival" not in page


def test_deployments_of_an_organization_or_an_application_come_newest_first(operator: Client, acme: Fill) -> None:
    add_more(Deployment, acme, 5)
    newest_first = list(Deployment.objects.filter(app=acme.app).order_by("-created_at", "-id"))
    for narrowed in ({"organization": "acme"}, {"q": acme.app.id}):
        assert rows_of(operator.get(list_of(Deployment), narrowed)) == newest_first


@pytest.mark.parametrize(
    ("model", "narrowed", "index"),
    [
        (Deployment, {"organization": "acme"}, "deployment_of"),
        (Deployment, {"q": "app_00000000000000000000000000"}, "deployment_newest"),
        (Deployment, {}, "deployment_of_all"),
        (Deployment, {"q": "deploys"}, "deployment_of_all"),
        (Deployment, {"q": "deploys", "organization": "acme"}, "deployment_of"),
        (App, {}, "app_by_name"),
        (App, {"q": "acme"}, "app_by_name"),
        (App, {"organization": "acme"}, "app_by_name"),
        (App, {"organization": "acme", "q": "acme"}, "app_by_name"),
        (App, {"q": "prj_00000000000000000000000000"}, "app_of_project"),
    ],
)
def test_the_page_of_a_list_walks_an_index(
    operator: Client, acme: Fill, model: Any, narrowed: dict[str, str], index: str
) -> None:
    add_more(model, acme, 40)  # of one row every index is as good as another
    analyze(model)
    queries = queries_of(lambda: operator.get(list_of(model), narrowed))
    page = next(
        query["sql"]
        for query in queries
        if f'FROM "{model._meta.db_table}" ' in query["sql"] and "ORDER" in query["sql"]
    )
    plan = plan_of(page, without=("sort", "incremental_sort"))
    table = model._meta.db_table
    assert f"SCAN {table}\n" not in plan
    assert f"Seq Scan on {table}" not in plan
    assert index in plan, plan


def test_a_long_list_is_not_counted_to_its_end(operator: Client, acme: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    add_more(Deployment, acme, 7)
    monkeypatch.setattr(paging, "CAP", 5)
    monkeypatch.setattr(admin.site._registry[Deployment], "list_per_page", 2)
    monkeypatch.setattr(admin.site._registry[Deployment], "list_max_show_all", 0)

    page = operator.get(list_of(Deployment), {"p": "3"})

    assert "more than 5 deployments" in page.content.decode()
    assert len(rows_of(page)) == 1
    assert operator.get(list_of(Deployment), {"p": "4"}).status_code == 302  # to the first page


def test_deployments_are_gone_into_by_year_month_and_day(operator: Client, acme: Fill) -> None:
    Deployment.objects.all().delete()
    moments = [datetime(2025, 12, 31, 23, 59, 59, 999999, UTC), datetime(2026, 1, 1, tzinfo=UTC)]
    moments += [datetime(2026, 3, day, hour, tzinfo=UTC) for day in (1, 31) for hour in (0, 23)]
    rows = [make(Deployment, acme.organization, app=acme.app, title="x", created_at=moment) for moment in moments]

    def choices(address: str) -> list[str]:
        found = operator.get(f"{list_of(Deployment)}{address}").context["cl"].periods.choices
        return [choice["title"] for choice in found]

    def link(address: str, title: str) -> str:
        found = operator.get(f"{list_of(Deployment)}{address}").context["cl"].periods
        return next(choice["link"] for choice in [*found.choices, found.back] if choice and choice["title"] == title)

    assert choices("") == ["2025", "2026"]
    year = link("", "2026")
    assert choices(year) == ["2026-01", "2026-03"]
    month = link(year, "2026-03")
    assert choices(month) == ["2026-03-01", "2026-03-31"]
    day = link(month, "2026-03-31")
    assert rows_of(operator.get(f"{list_of(Deployment)}{day}")) == [rows[5], rows[4]]
    assert choices(link("", "2025")) == ["2025-12-31"]
    assert link(link(day, "2026-03"), "2026") == year
    assert choices(link(year, "All dates")) == ["2025", "2026"]
    assert choices("?organization=acme&created_at__year=2026") == ["2026-01", "2026-03"]
    assert operator.get(f"{list_of(Deployment)}?organization=rival&created_at__year=2026").context["cl"].periods is None


@pytest.mark.parametrize(
    "wrong",
    ["year=x", "year=0", "year=-1", "year=9999", "year=9999&created_at__month=12",
     "year=9999&created_at__month=12&created_at__day=31", "year=99999", "year=2026&created_at__month=13",
     "year=2026&created_at__month=2&created_at__day=31", "day=1", "year=2026&organization=%00", "year=2026&q=%00"],
)  # fmt: skip
def test_a_date_that_there_is_not_is_no_error_of_ours(operator: Client, acme: Fill, wrong: str) -> None:
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)  # a platform told so
    make(Deployment, acme.organization, app=acme.app, title="x", created_at=last)
    answer = operator.get(f"{list_of(Deployment)}?created_at__{wrong}", follow=True)
    assert answer.status_code == 200


def test_days_are_walked_to_from_one_to_the_next(operator: Client, acme: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dates, "FEW", 0)
    make(Deployment, acme.organization, app=acme.app, title="x", created_at=datetime(9999, 12, 31, tzinfo=UTC))
    for day in (3, 5):
        make(Deployment, acme.organization, app=acme.app, title="x", created_at=datetime(2026, 3, day, tzinfo=UTC))
    address = f"{list_of(Deployment)}?organization=acme&created_at__year=2026&created_at__month=3"
    queries = queries_of(lambda: operator.get(address))
    assert [choice["title"] for choice in operator.get(address).context["cl"].periods.choices] == [
        "2026-03-01", "2026-03-03", "2026-03-05",
    ]  # fmt: skip
    steps = [query["sql"] for query in queries if 'SELECT "orgs_deployment"."created_at"' in query["sql"]]
    assert len(steps) == 4
    assert all(step.count('"created_at" >=') == 1 for step in steps), steps
