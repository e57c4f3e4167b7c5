"""Lists by statements that are kept: they hold what the ORM would read, and nothing is kept that is not the same."""

from collections.abc import Callable
from datetime import datetime

import pytest
from django.db import connection
from django.db.models import Q
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from apps.orgs.models import App, Deployment, Environment, Platform, Project, Template
from apps.orgs.prepared import PreparedRows, prepared
from apps.orgs.rows import ALL, MergedRows, Missing, Row, Rows
from apps.orgs.scope import OrgScope
from apps.orgs.text import fold
from apps.web.render import encode
from tests.examples import examples
from tests.factories import START, Fill, make
from tests.orgs.test_lists import FILTERS, MODELS, STATUSES, chosen, ids, walk

__all__ = ["ids"]
pytestmark = pytest.mark.django_db
NASTY = ["", "%", "_", "\\", "main%", "\u202emain", "İ", "A\x1fb", "'", "{}", "%s"]
HEALTHS = ["unhealthy", "healthy", "unknown"]


def is_prepared(rows: Rows, *, is_later: bool = False) -> bool:
    if isinstance(rows, MergedRows):
        return all(is_prepared(part, is_later=is_later) for part in rows.parts)
    return isinstance(rows, PreparedRows) and rows.shape.statement(is_later=is_later) is not None


def is_prepared_throughout(rows: Rows) -> bool:
    return is_prepared(rows) and is_prepared(rows, is_later=True)


MICROSECONDS = [0, 1, 999, 1_000, 500_000, 999_000, 999_499, 999_500, 999_999]
TIMES = [START.replace(year=year, microsecond=part) for year in (1, 999, 1969, 2026, 9999) for part in MICROSECONDS]


def test_a_time_is_written_by_the_database_as_answers_have_it(acme: Fill) -> None:
    for time in TIMES:
        App.objects.filter(pk=acme.app.pk).update(created_at=time, last_deployed_at=None)
        row = OrgScope(acme.organization.id, None).apps().page(None, 1)[0][0]
        assert encode([row["created_at"], row["last_deployed_at"]]) == encode([time, None])


@pytest.mark.parametrize("kind", MODELS)
@examples(12)
@given(data=st.data())
def test_a_list_is_what_the_orm_reads(acme: Fill, ids: dict[str, list[str]], kind: str, data: st.DataObject) -> None:
    is_of_apps = kind in ("domains", "previews", "deployments", "variable_names")
    named = data.draw(chosen([*ids][not is_of_apps : 3 + (kind == "deployments")]), "ids")
    filters = FILTERS[kind] | ({"health": HEALTHS, "query": ["A", *NASTY]} if kind == "apps" else {})
    inputs = {name: data.draw(st.sampled_from(ids[name]), name) for name in named}
    for name in data.draw(chosen([*filters]), "filters"):
        is_text = name in ("branch", "host", "name", "status", "query")
        inputs[name] = data.draw(st.sampled_from(filters[name] + NASTY * is_text), name)
    Platform.objects.filter(organization=acme.organization).update(
        kind=data.draw(st.sampled_from(["manifest", "dokploy"])), as_of=data.draw(st.sampled_from([None, START])),
        last_sync_at=data.draw(st.sampled_from([None, START, timezone.now()])),
    )  # fmt: skip
    limit = data.draw(st.integers(1, 30), "limit")

    def listed() -> list[Row] | str:
        try:
            return walk(getattr(OrgScope(acme.organization.id, None), kind)(**inputs), limit)
        except Missing as missing:
            return missing.kind

    as_prepared = listed()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PreparedRows, "read", lambda self, after=None, limit=ALL: self.build().read(after, limit))
        assert as_prepared == listed()


@pytest.mark.parametrize("text", [*NASTY, "a", "Main%", "_b\\"])
def test_a_list_by_name_is_what_the_orm_reads(acme: Fill, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = OrgScope(acme.organization.id, None)
    for name in ("a%b", "main%_b\\", "İ'{}", "ab"):
        project = make(Project, acme.organization, name=name)
        make(Environment, acme.organization, project=project, name=f"{name} '[]\"", is_default=name == "ab")
        make(Template, acme.organization, name=name, description="x", tags=f",{name},")

    def listed() -> list[list[Row]]:
        tag = text.replace(",", "") or None
        return [
            walk(rows, 2)
            for rows in (scope.projects(query=text), scope.templates(query=text, tag=None),
                         scope.templates(query="", tag=tag))
        ]  # fmt: skip

    as_prepared = listed()
    monkeypatch.setattr(PreparedRows, "read", lambda self, after=None, limit=ALL: self.build().read(after, limit))
    assert as_prepared == listed()


def test_what_is_asked_most_is_prepared(acme: Fill) -> None:
    scope = OrgScope(acme.organization.id, START)
    for place in ({}, {"application_id": acme.app.id}, {"project_id": acme.project.id}):
        for kind in ("domains", "previews", "deployments", "variable_names"):
            assert is_prepared_throughout(getattr(scope, kind)(**place))
    Platform.objects.create(organization=acme.organization, kind="dokploy", name="syncs", last_sync_at=timezone.now())
    for rows in (scope.apps(), scope.apps(status="error"), scope.apps(project_id=acme.project.id)):
        assert is_prepared_throughout(rows)
    for rows in (
        scope.apps(health="unhealthy", branch="main"), scope.apps(query="a%"), scope.apps(query="acme", status="idle"),
        scope.deployments(commit_sha="abcdef0", project_id=acme.project.id, status="failed"),
        scope.domains(certificate_expires_before=START), scope.previews(pull_request_number=1, status="idle"),
    ):  # fmt: skip
        assert is_prepared_throughout(rows)
    for rows in (scope.projects(query=""), scope.projects(query="A%_\\"), scope.templates(query="a", tag="b")):
        assert is_prepared_throughout(rows)


# Whatever depends on a value

FUNCTIONS: dict[str, Callable[[str, datetime, int], Q]] = {
    "a query": lambda text, time, number: Q(name=text, pk__in=list(App.objects.filter(slug=text).values_list("pk"))),
    "a query whose result is not used": lambda text, time, number: Q(name=text) if App.objects.exists() else Q(),
    "a word": lambda text, time, number: Q(name=text) if text == "x" else Q(slug=text),
    "a word among others": lambda text, time, number: Q(name=text) if text in ("x", "y") else Q(slug=text),
    "a part": lambda text, time, number: Q(name=text) if "x" in text else Q(slug=text),
    "an order": lambda text, time, number: Q(name=text) if text < "x" else Q(slug=text),
    "folding": lambda text, time, number: Q(name=fold(text)),
    "a length": lambda text, time, number: Q(name=text, names_skipped=len(text)),
    "a threshold": lambda text, time, number: Q(name=text) if number < 1000 else Q(slug=text),
    "a sum": lambda text, time, number: Q(name=text, names_skipped=number + 1),
    "a moment": lambda text, time, number: Q(name=text) if time < START else Q(slug=text),
    "the clock": lambda text, time, number: Q(name=text, created_at__lt=timezone.now()),
    "nothing at all": lambda text, time, number: Q(pk__in=[]),
    "what a column cleans": lambda text, time, number: Q(description=text),
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_what_depends_on_a_value_is_not_prepared(what: str) -> None:
    @prepared
    def rows(text: str, time: datetime, number: int) -> Rows:
        return Rows(App.objects.filter(FUNCTIONS[what](text, time, number)).values("id"), order=("id",))

    assert not is_prepared(rows("text", START, 5))
    assert rows("text", START, 5).read(None, 1) == []


def test_rows_that_are_finished_by_what_knows_a_value_are_not_prepared() -> None:
    @prepared
    def rows(text: str) -> Rows:
        return Rows(App.objects.filter(slug=text).values("id"), ("id",), finish=lambda found: print(text))  # noqa: T201

    assert not is_prepared(rows("text"))


def test_what_is_not_given_and_what_is_empty_have_statements_of_their_own(acme: Fill) -> None:
    @prepared
    def rows(slug: str | None, *, is_preview: bool) -> Rows:
        found = Deployment.objects.filter(is_preview=is_preview)
        return Rows((found.filter(title=slug) if slug else found).values("id"), order=("id",))

    def count(slug: str | None, *, is_preview: bool) -> int:
        made = rows(slug, is_preview=is_preview)
        assert is_prepared(made) or slug
        return len(made.read(None, 10))

    assert [count(slug, is_preview=False) for slug in ("x", "acme deploys", "", None)] == [0, 1, 1, 1]
    assert count(None, is_preview=True) == 0


def test_statuses_share_a_statement(acme: Fill) -> None:
    scope = OrgScope(acme.organization.id, START)
    shapes = [getattr(scope.apps(status=status), "shape", status) for status in STATUSES]
    assert shapes[0] is shapes[1]


def test_postgresql_plans_a_statement_once_whatever_the_values(acme: Fill) -> None:
    scope = OrgScope(acme.organization.id, START)
    for number in range(7):  # of itself it would take the first five times for a trial
        scope.deployments(status="failed", branch=f"branch-{number}").page(None, 5)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT sum(generic_plans), sum(custom_plans) FROM pg_prepared_statements")
            planned, planned_again = cursor.fetchone()
        assert planned >= 7
        assert planned_again == 0
