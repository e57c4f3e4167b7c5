"""Access tokens open the tools: one query, for one member of one organization, and only while they are good."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.oauthmcp import tokens
from apps.oauthmcp.models import AccessToken, Authorization
from apps.oauthmcp.server import new_access_token
from apps.oauthmcp.uses import uses
from apps.orgs.callers import SCOPES
from apps.orgs.models import Membership
from apps.tools import throttle
from tests.api import Api
from tests.factories import Fill
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member, make_refresh_token

NEVER_ISSUED = "porthole_at_" + "A" * 43


@pytest.fixture
def authorization(acme: Fill) -> Authorization:
    return make_authorization(make_client(), make_member(acme.organization, name="Ada"), last_used_at=timezone.now())


@pytest.fixture
def opened(api: Api, authorization: Authorization) -> Api:
    """Calls tools with an access token of acme's."""
    return Api(bearer=make_access_token(authorization))


def refused(api: Api, authorization: str) -> bool:
    answer: Any = api.post("get_account", authorization=authorization)
    assert 'error="invalid_token"' in answer["WWW-Authenticate"]
    return bool(answer.status_code == 401 and answer.json()["code"] == "unauthorized")


@pytest.mark.spec("RFC 6750 §2.1")
def test_a_token_opens_its_members_organization_and_tells_who_asks(opened: Api, acme: Fill) -> None:
    account = opened("get_account")
    assert account["organization"]["id"] == acme.organization.id
    assert account["viewer"] == {"email": "ada@example.com", "name": "Ada", "role": "member"}
    assert account["scopes"] == list(SCOPES)
    assert [app["id"] for app in opened("list_apps")["items"]] == [acme.app.id]
    assert opened("list_apps")["syncedAt"] == "2026-03-01T12:00:00.000Z"


def test_a_member_without_a_name_has_none(api: Api, acme: Fill) -> None:
    member = make_member(acme.organization, "nameless@example.com")
    token = make_access_token(make_authorization(make_client(), member))
    assert Api(bearer=token)("get_account")["viewer"]["name"] is None


def test_a_change_of_role_shows_at_once_and_kills_nothing(opened: Api, authorization: Authorization) -> None:
    Membership.objects.filter(pk=authorization.membership_id).update(role="owner")
    assert opened("get_account")["viewer"]["role"] == "owner"


def test_a_token_sees_nothing_of_another_organization(opened: Api, rival: Fill) -> None:
    assert rival.app.id not in {app["id"] for app in opened("list_apps")["items"]}
    assert opened.refused("list_apps", projectId=rival.project.id) == [("projectId", "not_found")]
    assert opened.refused("list_domains", applicationId=rival.app.id) == [("applicationId", "not_found")]
    assert opened.refused("get_file", applicationId=rival.app.id, path="x") == [("applicationId", "not_found")]


def test_a_member_of_two_organizations_sees_with_each_token_only_the_one_it_is_for(
    opened: Api, rival: Fill, acme: Fill
) -> None:
    there = make_access_token(make_authorization(make_client(), make_member(rival.organization)))
    assert Api(bearer=there)("get_account")["organization"]["slug"] == "rival"
    assert opened("get_account")["organization"]["slug"] == "acme"


# What is no token


@pytest.mark.spec("RFC 6750 §3.1")
@pytest.mark.parametrize(
    "token",
    [
        "porthole_at_", "porthole_at_" + "A" * 42, "porthole_at_" + "A" * 44, "porthole_at_" + "A" * 42 + "\x00",
        "porthole_at_" + "A" * 42 + "\xe9", "porthole_at_" + "A" * 42 + "=", "porthole_rt_" + "A" * 43,
        "PORTHOLE_AT_" + "A" * 43, "porthole_at_" + "A" * 43 + " x", "porthole_at_" + "A" * 10_000, "\x00",
        "x" * 10_000,
        "porthole_at_' OR ''='", "\u0661" * 55,
    ],
)  # fmt: skip
def test_what_cannot_be_a_token_is_refused_without_a_query(
    api: Api, token: str, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        assert refused(api, f"Bearer {token}")


@pytest.mark.spec("RFC 6750 §3.1")
def test_a_token_that_was_never_issued_is_refused(api: Api) -> None:
    assert refused(api, f"Bearer {NEVER_ISSUED}")


def test_what_is_stored_of_a_token_opens_nothing(api: Api, opened: Api) -> None:
    row = AccessToken.objects.get()
    assert opened.bearer is not None
    assert opened.bearer not in str(AccessToken.objects.values().get())
    assert refused(api, f"Bearer {row.token_checksum}")


def test_a_refresh_token_opens_no_tool(api: Api, authorization: Authorization) -> None:
    assert refused(api, f"Bearer {make_refresh_token(authorization)}")


def test_issued_tokens_are_recognized_by_their_form() -> None:
    assert tokens.ACCESS_TOKEN.fullmatch(new_access_token(None))  # type: ignore[arg-type]


@pytest.mark.spec("RFC 6749 §5.1")
def test_a_token_ends_after_its_hour(opened: Api) -> None:
    AccessToken.objects.update(expires=timezone.now())
    assert refused(opened, f"Bearer {opened.bearer}")


def test_a_token_ends_with_its_authorization(opened: Api) -> None:
    Authorization.objects.update(expires_at=timezone.now())
    assert refused(opened, f"Bearer {opened.bearer}")


@pytest.mark.spec("RFC 8707 §2")
@pytest.mark.parametrize(
    "resource",
    [[], ["https://elsewhere.example"], ["http://localhost:8000", "https://elsewhere.example"]],
)
def test_a_token_for_another_resource_is_refused(api: Api, authorization: Authorization, resource: Any) -> None:
    assert refused(api, f"Bearer {make_access_token(authorization, resource=resource)}")


@pytest.mark.spec("RFC 8707 §2")
def test_moving_to_another_public_url_ends_the_tokens_made_for_the_old_one(opened: Api, settings: Any) -> None:
    assert opened.post("get_account").status_code == 200
    settings.PUBLIC_URL = "http://localhost:9000"
    assert refused(opened, f"Bearer {opened.bearer}")


# What it costs


def test_the_check_is_one_query(opened: Api, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert opened.post("no_such_tool").status_code == 404


def test_the_check_finds_the_token_by_an_index(opened: Api) -> None:
    from tests.operators import plan_of

    with CaptureQueriesContext(connection) as captured:
        opened("get_account")
    plan = plan_of(next(query["sql"] for query in captured.captured_queries if "oauthmcp_accesstoken" in query["sql"]))
    assert "token_checksum" in plan or "sqlite_autoindex_oauthmcp_accesstoken" in plan, plan
    assert "Seq Scan" not in plan
    assert "SCAN" not in plan


def test_a_use_is_noted_at_the_first_call_and_then_every_minute(
    opened: Api, authorization: Authorization, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    Authorization.objects.update(last_used_at=None)
    noted = []
    for seconds in (0, 20, 59, 61, 90):
        monkeypatch.setattr("django.utils.timezone.now", lambda at=now + timedelta(seconds=seconds): at)
        opened("get_account")
        assert uses.write()
        noted.append(Authorization.objects.values_list("last_used_at", flat=True).get())
    later = now + timedelta(seconds=61)
    assert noted == [now, now, now, later, later]


def test_of_two_uses_between_two_writes_the_first_is_noted(opened: Api, authorization: Authorization) -> None:
    first = datetime.now(UTC)
    Authorization.objects.update(last_used_at=None)
    uses.note(authorization.pk, first)
    opened("get_account")
    assert uses.write()
    assert Authorization.objects.get().last_used_at == first


def test_a_use_that_another_process_noted_meanwhile_is_not_noted_again(authorization: Authorization) -> None:
    before = Authorization.objects.get().last_used_at
    uses.note(authorization.pk, datetime.now(UTC))
    assert uses.write()
    assert Authorization.objects.get().last_used_at == before


@pytest.mark.django_db
def test_a_use_of_what_is_gone_is_forgotten() -> None:
    uses.note(uuid4(), datetime.now(UTC))
    assert uses.write()
    assert not uses._pending


def test_uses_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.oauthmcp.uses.MAX_PENDING", 3)
    for _ in range(5):
        uses.note(uuid4(), datetime.now(UTC))
    assert len(uses._pending) == 3


def test_a_call_writes_nothing(opened: Api, django_assert_num_queries: Any) -> None:
    Authorization.objects.update(last_used_at=None)
    with django_assert_num_queries(1):
        assert opened.post("no_such_tool").status_code == 404
    assert uses._pending


def test_a_use_that_cannot_be_written_is_written_later(opened: Api) -> None:
    Authorization.objects.update(last_used_at=None)

    def refuse_writes(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("UPDATE"):
            raise OperationalError("cannot execute UPDATE in a read-only transaction")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse_writes):
        assert opened.post("get_account").status_code == 200
        assert not uses.write()
    assert Authorization.objects.get().last_used_at is None
    assert uses.write()
    assert Authorization.objects.get().last_used_at


def test_calls_are_counted_by_authorization_not_by_token(
    opened: Api, authorization: Authorization, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(throttle, "_buckets", throttle.Buckets(burst=2, per_second=0.001))
    refreshed = Api(bearer=make_access_token(authorization))
    assert [api.post("list_apps").status_code for api in (opened, refreshed, opened)] == [200, 200, 429]
    elsewhere = make_authorization(make_client("Another"), authorization.membership)
    assert Api(bearer=make_access_token(elsewhere)).post("list_apps").status_code == 200


def test_a_database_that_cannot_be_reached_is_503_not_401(opened: Api) -> None:
    def down(execute: Any, sql: str, *rest: Any) -> Any:
        raise OperationalError("connection refused")

    with connection.execute_wrapper(down):
        answer = opened.post("get_account")
    assert answer.status_code == 503
    assert answer["Retry-After"]
