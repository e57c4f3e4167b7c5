"""What the connector reads of every release, and whom it asks for it."""

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from apps.platforms.connector import Connector, UpstreamError
from apps.platforms.coolify.connector import CoolifyConnector
from apps.platforms.snapshot.check import check
from tests.fakes.coolify import CoolifyFake
from tests.fakes.coolify_rows import CANARY, app_uuid
from tests.platforms.coolify.reading import read, snapshot_of


def test_every_release_gives_a_snapshot_that_can_be_applied(every_fake, connect):
    state, details = read(connect(every_fake))
    snapshot = snapshot_of(state, details)
    check(snapshot)
    assert (len(snapshot.apps), len(snapshot.projects), len(snapshot.environments)) == (10, 1, 2)
    assert all(app.status == "deployed" for app in snapshot.apps)
    assert len(snapshot.deployments) == 8


def test_it_only_gets_and_only_what_it_listed_itself(every_fake, connect):
    connector = connect(every_fake)
    connector.identify()
    read(connector)
    assert {request.method for request in every_fake.requests} == {"GET"}
    assert every_fake.strangers() == []
    assert len(every_fake.requests) == connector.calls


def test_the_fake_notices_who_asks_for_what_was_not_listed(fake, connect):
    connector = connect(fake)
    connector._api.rows("names", f"applications/{app_uuid(0)}/envs")
    assert [request.path for request in fake.strangers()] == [f"/api/v1/applications/{app_uuid(0)}/envs"]


def test_an_application_that_was_not_listed_is_not_asked_for(fake, connect):
    with CoolifyFake(applications=9) as other:
        stranger = connect(other).read_state().apps[8]
    connector = connect(fake)
    connector.read_state()
    before = connector.calls
    with pytest.raises(UpstreamError):
        connector.read_detail(stranger)
    assert connector.calls == before


def test_no_secret_and_no_address_of_a_server_is_kept(every_fake, connect, caplog):
    caplog.set_level(logging.DEBUG)
    every_fake.mcp = "on"
    connector = connect(every_fake, reads_previews=True)
    state, details = read(connector)
    for told in (repr(state), repr(details), repr(vars(connector)["_reading"]), caplog.text):
        assert CANARY not in told
        assert "10.9.8." not in told
    assert every_fake.key not in repr((connector, vars(connector), vars(connector._api)))


def test_the_state_takes_the_calls_that_it_says(connect):
    with CoolifyFake(applications=20, services=3) as fake:  # 2 projects, 4 environments
        connector: Connector = connect(fake)
        connector.read_state()
        assert connector.state_calls() == len(fake.requests) == 8 + 2 * 2 + 4 + 1  # the team's own list
        connector.read_state()
        assert connector.state_calls() == 17


def test_the_detail_takes_two_calls(fake, connect):
    connector = connect(fake)
    for app in connector.read_state().apps:
        before = connector.calls
        connector.read_detail(app)
        assert connector.calls - before == (1 if app.key.startswith("service") else 2)


def test_details_may_be_read_by_four_threads(fake, connect):
    connector = connect(fake)
    state = connector.read_state()
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(connector.read_detail, state.apps))
    assert together == [connector.read_detail(app) for app in state.apps]


def test_reading_twice_tells_the_same(every_fake, connect):
    connector = connect(every_fake)
    assert read(connector) == read(connector) == read(connect(every_fake))


def test_who_it_is_is_told(every_fake, connect):
    identity = connect(every_fake).identify()
    assert (identity.organization_key, identity.organization_name) == ("0", "Acme")
    assert identity.version == every_fake.version
    assert (identity.role, identity.can_write) == (None, None)


def test_the_address_may_be_that_of_the_api(fake):
    for end in ("/", "/api/v1", "/api/v1/"):
        connector = CoolifyConnector(fake.url + end, fake.key, calls_per_minute=100_000)
        assert connector.identify().organization_name == "Acme"


def test_the_team_is_asked_for_by_its_newer_name_where_the_older_is_gone(fake, connect):
    fake.fail("/teams/current", "no_route")
    with pytest.raises(UpstreamError):
        connect(fake).identify()
    assert [request.path for request in fake.requests][-1] == "/api/v1/team"


def test_half_of_the_limit_is_asked_for():
    assert CoolifyConnector("https://coolify.example.com", "1|x").calls_per_minute == 100


def test_releases_without_a_list_leave_it_unknown(connect):
    with CoolifyFake("4.0.0-beta.430") as fake:
        state = connect(fake).read_state()
    assert state.unread == {"connections", "secrets"}
    with CoolifyFake("4.2.0") as fake:
        assert connect(fake).read_state().unread == {"secrets"}
    with CoolifyFake("4.3.0") as fake:
        assert connect(fake).read_state().unread == frozenset()


def test_a_release_that_is_too_old_is_named_as_such(connect):
    with CoolifyFake("4.0.0-beta.401") as fake, pytest.raises(UpstreamError, match="older than") as caught:
        connect(fake).identify()
    assert caught.value.is_permanent
