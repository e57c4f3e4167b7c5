"""ifVersion: who polls a list is told in few bytes, and without a query, that nothing has changed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from apps.orgs.models import App, Deployment, EdgeFact
from apps.orgs.versions import raise_data_version
from apps.tools import answers
from apps.tools.list_versions import ListVersion, version_of
from tests.api import Api
from tests.factories import Fill, make_more
from tests.tools.test_every_tool import input_for
from tests.tools.test_kept_answers import LISTS

NOW = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("is_kept", [True, False])
def test_an_unchanged_list_is_told_without_its_rows_and_without_a_query(
    api: Api, acme: Fill, name: str, is_kept: bool
) -> None:
    inputs = input_for(name, acme)
    first = api(name, **inputs)
    if not is_kept:
        answers.cache.clear()  # as after a restart, or in another process
    with CaptureQueriesContext(connection) as captured:
        again = api(name, **inputs, ifVersion=first["version"])
    assert len(captured) == 1
    assert first["items"]
    assert again == first | {"items": [], "nextCursor": None, "isUnchanged": True}
    assert list(again) == list(first)
    assert list(first)[-2:] == ["version", "isUnchanged"]


def test_what_changed_is_told_whole(api: Api, acme: Fill) -> None:
    first = api("list_apps")
    App.objects.filter(pk=acme.app.pk).update(status="error")
    now = api("list_apps", ifVersion=first["version"])
    assert (now["isUnchanged"], now["items"][0]["status"]) == (False, "error")
    assert api("list_apps", ifVersion=now["version"])["isUnchanged"]


def test_a_change_elsewhere_leaves_a_list_unchanged(api: Api, acme: Fill) -> None:
    first = api("list_projects")
    Deployment.objects.filter(app=acme.app).update(status="failed")
    now = api("list_projects", ifVersion=first["version"])
    assert (now["isUnchanged"], now["items"]) == (True, [])
    with CaptureQueriesContext(connection) as captured:
        assert api("list_projects", ifVersion=now["version"])["isUnchanged"]
    assert len(captured) == 1


def test_what_stands_beside_the_rows_counts(api: Api, acme: Fill) -> None:
    first = api("list_env_vars")
    App.objects.filter(pk=acme.app.pk).update(names_skipped=3)
    now = api("list_env_vars", ifVersion=first["version"])
    assert (now["isUnchanged"], now["skippedCount"]) == (False, 3)
    assert api("list_env_vars", ifVersion=now["version"])["skippedCount"] == 3


def test_a_version_belongs_to_its_tool_organization_inputs_limit_and_cursor(
    api: Api, acme: Fill, rival: Fill, settings: Any
) -> None:
    make_more(acme, 3)
    first = api("list_apps", limit=1)

    def is_unchanged(tool: str = "list_apps", **inputs: Any) -> bool:
        return bool(api(tool, **({"limit": 1} | inputs), ifVersion=first["version"])["isUnchanged"])

    assert is_unchanged()
    assert not is_unchanged("list_projects")
    assert not is_unchanged(limit=2)
    assert not is_unchanged(query="a")
    assert not is_unchanged(cursor=first["nextCursor"])
    settings.LOCAL_DEV_ORG = "rival"
    assert not is_unchanged()


def test_a_cursor_is_not_bound_to_a_version_and_what_is_left_out_is_the_default(api: Api, acme: Fill) -> None:
    make_more(acme, 3)
    first = api("list_apps", limit=1, ifVersion="x")
    assert api("list_apps", limit=1, cursor=first["nextCursor"])["items"]
    whole = api("list_apps")
    assert api("list_apps", limit=100, ifVersion=whole["version"])["isUnchanged"]


@pytest.mark.parametrize("version", ["", "x", "é", "=" * 99, "A" * 99, "A" * 48, "-_-_", "\U0001f600" * 20])
def test_any_other_value_counts_as_changed(api: Api, version: str) -> None:
    assert not api("list_apps", ifVersion=version)["isUnchanged"]


def test_its_length_is_bounded(api: Api) -> None:
    assert api.refused("list_apps", ifVersion="A" * 100) == [("ifVersion", "max_length")]


@given(at=st.integers(0, 47), char=st.sampled_from("ABCDwxyz0189-_"))
def test_none_can_be_made_from_another(at: int, char: str) -> None:
    version = version_of("question", (7,), NOW, b"d" * 12, b"")
    other = version[:at] + char + version[at + 1 :]
    before = NOW - timedelta.resolution
    assert ListVersion(version).is_good("question", (7,), before)
    assert other == version or not ListVersion(other).is_good("question", (7,), before)
    assert not ListVersion(version).is_good("question", (8,), before)
    assert not ListVersion(version).is_good("another", (7,), before)
    assert not ListVersion(version).is_good("question", (7,), NOW)


def test_after_the_key_was_replaced_it_is_told_anew(api: Api, acme: Fill, settings: Any) -> None:
    first = api("list_domains")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-key-of-more-than-fifty-characters-is-needed-here"
    answers.cache.clear()
    now = api("list_domains", ifVersion=first["version"])
    assert now["version"] != first["version"]


def test_it_ends_when_the_clock_changes_a_field(api: Api, acme: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    EdgeFact.objects.filter(domain=acme.domain).update(tls_not_after=now + timedelta(hours=1), tls_is_valid=True)
    first = api("list_domains")
    assert first["items"][0]["certificateStatus"] == "expiring"
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(minutes=59))
    assert api("list_domains", ifVersion=first["version"])["isUnchanged"]
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(hours=1))
    told = api("list_domains", ifVersion=first["version"])
    assert (told["isUnchanged"], told["items"][0]["certificateStatus"]) == (False, "expired")


def test_it_works_where_nothing_is_kept(api: Api, acme: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers.cache, "max_bytes", 0)
    first = api("list_apps")
    with CaptureQueriesContext(connection) as captured:
        assert api("list_apps", ifVersion=first["version"])["isUnchanged"]
    assert len(captured) == 1
    raise_data_version(acme.organization.pk)
    assert api("list_apps", ifVersion=first["version"])["isUnchanged"]
    assert answers.cache.size == 0
