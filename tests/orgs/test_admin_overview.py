"""The overview on the operators' first page: what it counts is what the lists that it links to show."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.utils import quote
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from apps.oauthmcp.models import Application
from apps.orgs.admin import parts, trouble
from apps.orgs.app_health import health_of
from apps.orgs.models import App, Deployment, Domain, EdgeFact, Platform, User
from tests.factories import START, Fill, make
from tests.operators import client_of, copy_of, page_of, queries_of, rows_of, staff_who_may

INDEX = "/admin/"
DAY = timedelta(days=1)


@pytest.fixture
def broken(operator: Client, acme: Fill, rival: Fill) -> dict[type, set[Any]]:
    """In each organization something that an operator should look at, and by model what it is."""
    now = timezone.now()
    EdgeFact.objects.filter(domain=acme.domain).update(reachable=False, checked_at=now, period=60)
    EdgeFact.objects.filter(domain=rival.domain).update(tls_not_after=now - timedelta(days=1))
    soon = copy_of(acme.domain)
    EdgeFact.objects.create(
        organization=acme.organization, domain=soon, checked_at=now, tls_not_after=now + timedelta(days=20)
    )
    failed = make(Deployment, rival.organization, app=rival.app, title="x", status="failed", created_at=now)
    make(Deployment, rival.organization, app=rival.app, title="y", status="failed", created_at=now - timedelta(days=2))
    failing = make(Platform, acme.organization, kind="dokploy", last_sync_status="error", last_sync_at=now)
    lagging = make(
        Platform, rival.organization, kind="coolify", sync_period=60, last_sync_at=now - timedelta(minutes=4)
    )
    make(Platform, rival.organization, kind="dokploy", sync_period=60, last_sync_at=now - timedelta(minutes=2))
    make(Platform, acme.organization, kind="coolify")  # disconnected
    return {
        App: {acme.app, rival.app}, Domain: {rival.domain, soon}, Deployment: {failed}, Platform: {failing, lagging}
    }  # fmt: skip


def staff_who_may_nothing() -> User:
    return User.objects.create_user("new@example.com", is_staff=True)


def concerns(client: Client) -> list[trouble.Concern]:
    found: list[trouble.Concern] = client.get(INDEX).context["concerns"]
    return found


def test_each_number_is_that_of_the_rows_behind_its_link(operator: Client, broken: dict[type, set[Any]]) -> None:
    shown = concerns(operator)
    assert len(shown) == len(broken)
    for concern in shown:
        rows = rows_of(operator.get(concern.address))
        assert concern.number == len(rows)
        assert set(rows) == broken[type(rows[0])]


def test_nothing_in_trouble_is_said_too(operator: Client, acme: Fill, rival: Fill) -> None:
    assert [concern.number for concern in concerns(operator)] == [0, 0, 0, 0]
    page = operator.get(INDEX).content.decode()
    assert 'class="concern"' not in page


def test_what_is_hidden_is_nobodys_concern(operator: Client, broken: dict[type, set[Any]]) -> None:
    App.objects.update(hidden_at=timezone.now())
    apps, certificates, *_ = concerns(operator)
    assert (apps.number, certificates.number) == (0, 0)
    assert rows_of(operator.get(apps.address)) == rows_of(operator.get(certificates.address)) == []


def test_operators_see_the_numbers_of_what_they_may_see(broken: dict[type, set[Any]]) -> None:
    staff = client_of(staff_who_may("view_deployment"))
    assert [concern.words for concern in concerns(staff)] == ["Deployments that failed in the last 24 hours"]
    assert concerns(client_of(staff_who_may_nothing())) == []


def test_the_filters_go_with_an_organization(operator: Client, broken: dict[type, set[Any]]) -> None:
    apps, certificates, deployments, platforms = concerns(operator)
    for concern, number in ((apps, 1), (certificates, 1), (deployments, 0), (platforms, 1)):
        assert len(rows_of(operator.get(f"{concern.address}&organization=acme"))) == number


def test_many_in_trouble_are_not_counted_to_the_end(
    operator: Client, broken: dict[type, set[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trouble, "MAX_FOUND", 1)
    monkeypatch.setattr(parts, "MAX_FOUND", 1)
    apps, *_ = concerns(operator)
    assert str(apps.number) == "more than 1"
    page = operator.get(apps.address)
    assert len(rows_of(page)) == 1
    assert "more than 1 " in page.content.decode()


def test_the_overview_asks_one_query_for_each_number(operator: Client, broken: dict[type, set[Any]]) -> None:
    for _ in range(2):
        queries = queries_of(lambda: operator.get(INDEX))
    of_log_and_sign_in = 3
    assert len(queries) <= len(broken) + of_log_and_sign_in, [query["sql"] for query in queries]


def test_rows_have_no_page_on_the_site(operator: Client, acme: Fill) -> None:
    for model in (App, Application):
        row = model._default_manager.first()
        kind = ContentType.objects.get_for_model(model).pk
        assert operator.get(f"/admin/r/{kind}/{row.pk}/").status_code == 404
        page = operator.get(reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_change", args=[quote(row.pk)]))
        assert page.status_code == 200
        assert "View on site" not in page.content.decode()


def test_an_applications_page_begins_with_what_get_app_health_says(
    operator: Client, acme: Fill, broken: dict[type, set[Any]]
) -> None:
    health = health_of({"id": acme.app.pk})
    assert health.level in ("down", "degraded")
    page = operator.get(page_of(acme.app)).content.decode()
    assert f"Health: {health.level}" in page
    places = [page.index(str(escape(reason))) for reason in health.reasons]
    assert places == sorted(places)
    assert max(places) < page.index("Last deployments") < page.index("Upstream status")


def test_an_applications_page_has_its_last_deployments_and_a_link_to_all(operator: Client, acme: Fill) -> None:
    made = [
        make(Deployment, acme.organization, app=acme.app, title=f"number {number}", created_at=START + number * DAY)
        for number in range(1, 8)
    ]
    page = operator.get(page_of(acme.app)).content.decode()
    places = [page.find(f'<a href="{page_of(deployment)}">{deployment.title}</a>') for deployment in reversed(made)]
    assert places[:5] == sorted(places[:5])
    assert places[0] > 0
    assert places[5:] == [-1, -1]
    assert f'href="/admin/orgs/deployment/?q={acme.app.pk}"' in page


def test_an_applications_page_shows_no_deployments_to_who_may_not_see_them(operator: Client, acme: Fill) -> None:
    page = client_of(staff_who_may("view_app")).get(page_of(acme.app)).content.decode()
    assert "Health: " in page
    assert "Last deployments" not in page
    assert acme.deployment.title not in page
    assert client_of(staff_who_may_nothing()).get(page_of(acme.app)).status_code == 403


def test_an_application_that_there_is_not_has_no_page(operator: Client) -> None:
    answer = operator.get(reverse("admin:orgs_app_change", args=["app_00000000000000000000000000"]))
    assert answer.status_code == 302
