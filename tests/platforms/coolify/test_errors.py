"""What operators read where Coolify cannot be read, and what stays unknown where only a part of it cannot."""

import logging
import traceback

import pytest

from apps.platforms.connector import UpstreamError
from apps.platforms.coolify.connector import CoolifyConnector
from tests.fakes.coolify import FAILURES, CoolifyFake
from tests.fakes.coolify_rows import CANARY, app_uuid, service_uuid
from tests.platforms.coolify.reading import read

# kind, what the sentence says, whether it mends itself
EVERYTHING_FAILS = (
    ("unauthenticated", "refused the token", True),
    ("left_team", "no longer in the token's team", True),
    ("left_team_old", "no longer in the token's team", True),
    ("missing_ability", "may not read the applications", True),
    ("api_disabled", "API is switched off", True),
    ("address", "this machine's address", True),
    ("invalid", "did not accept", False),
    ("rate_limited", "asked too often", False),
    ("not_found", "did not find", False),
    ("no_route", "has no list of", False),
    ("error", r"status 500", False),
    ("redirect", "sends callers elsewhere", False),
    ("html", "not JSON", False),
    ("truncated", "not JSON", False),
    ("strange", "form that is not known", False),
)


@pytest.mark.parametrize(("kind", "sentence", "is_permanent"), EVERYTHING_FAILS)
def test_a_list_that_all_depends_on_fails_the_reading_in_words(fake, connect, caplog, kind, sentence, is_permanent):
    caplog.set_level(logging.DEBUG)
    fake.fail("/applications", kind)
    connector = connect(fake)
    with pytest.raises(UpstreamError, match=sentence) as caught:
        connector.read_state()
    assert caught.value.is_permanent == is_permanent
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
    for secret in (CANARY, fake.key, "Unauthenticated.", "Server Error", "Attempts"):
        assert secret not in told
    assert len(caught.value.sentence) <= 300


def test_every_kind_of_failure_is_tried():
    assert {kind for kind, *_ in EVERYTHING_FAILS} >= set(FAILURES) - {"large", "forbidden"}


@pytest.mark.parametrize("path", ["/version", "/teams/current", "/projects", "/projects/project0", "/services"])
def test_each_list_that_the_state_stands_on_can_fail_it(fake, connect, path):
    fake.fail(path, "error")
    with pytest.raises(UpstreamError):
        connect(fake).read_state()


@pytest.mark.parametrize("path", ["/applications", "/services", "/projects", "/projects/project0"])
@pytest.mark.parametrize("kind", ["not_found", "missing_ability", "no_route"])
def test_applications_are_never_taken_for_gone_because_a_list_was_refused(fake, connect, path, kind):
    fake.fail(path, kind)
    with pytest.raises(UpstreamError):
        connect(fake).read_state()


@pytest.mark.parametrize(
    ("path", "collection"),
    [
        ("/github-apps", "connections"),
        ("/gitlab-apps", "connections"),
        ("/deployments", "deployments"),
        ("/team/envs", "secrets"),
        ("/projects/project0/envs", "secrets"),
        ("/projects/project0/environments/environment1/envs", "secrets"),
    ],
)
@pytest.mark.parametrize("kind", ["forbidden", "no_route", "not_found"])
def test_other_lists_that_are_refused_are_unknown(fake, connect, path, collection, kind):
    fake.fail(path, kind)
    state = connect(fake).read_state()
    assert state.unread == {collection}
    assert len(state.apps) == 10


def test_where_connections_were_refused_an_applications_source_stays_as_it_is_stored(fake, connect):
    fake.fail("/github-apps", "forbidden")
    connector = connect(fake)
    state = connector.read_state()
    for app in (state.apps[0], state.apps[6]):
        with pytest.raises(UpstreamError, match="list of connections") as caught:
            connector.read_detail(app)
        assert not caught.value.is_permanent
    for app in state.apps[1:6]:  # of GitLab, and such that need no connection
        connector.read_detail(app)


def test_the_api_switched_off_is_no_refusal_of_one_list(fake, connect):
    fake.fail("/github-apps", "api_disabled")
    with pytest.raises(UpstreamError, match="switched off"):
        connect(fake).read_state()


@pytest.mark.parametrize("kind", ["forbidden", "not_found", "no_route"])
def test_details_that_are_refused_are_unknown(fake, connect, kind):
    fake.fail("/deployments/applications/.*", kind)
    fake.fail(".*/envs", kind)
    _, details = read(connect(fake))
    detail = details[app_uuid(0)]
    assert (detail.deployments, detail.variables) == (None, None)
    assert detail.unread == {"deployments", "variables"}
    assert detail.app.status == "deployed"
    assert details[service_uuid(0)].unread == {"variables"}


def test_a_member_may_not_read_the_names_of_a_service(fake, connect):
    fake.fail("/services/service0/envs", "forbidden")
    _, details = read(connect(fake))
    assert (details[service_uuid(0)].variables, details[service_uuid(0)].unread) == (None, {"variables"})
    assert details[service_uuid(1)].variables


def test_a_detail_that_fails_is_an_error_that_may_pass(fake, connect):
    connector = connect(fake)
    app = connector.read_state().apps[0]
    fake.fail("/deployments/applications/.*", "error")
    with pytest.raises(UpstreamError) as caught:
        connector.read_detail(app)
    assert not caught.value.is_permanent


def test_a_history_that_is_too_large_is_unknown(fake, connect):
    connector = connect(fake)
    app = connector.read_state().apps[0]
    connector._api._client._max_bytes = 2**20
    fake.fail("/deployments/applications/.*", "large")
    assert connector.read_detail(app).unread == {"deployments"}


def test_how_long_to_wait_is_told(fake, connect):
    fake.fail("/projects", "rate_limited")
    with pytest.raises(UpstreamError) as caught:
        connect(fake).read_state()
    assert caught.value.retry_after == 17


def test_the_limit_of_calls_is_met_as_an_error(fake, connect):
    fake.minute.limit = 5
    with pytest.raises(UpstreamError, match="too often") as caught:
        connect(fake).read_state()
    assert 50 < caught.value.retry_after <= 60
    assert (fake.minute.most, fake.minute.refused) == (5, 1)


def test_coolify_that_hangs_is_given_up(fake, connect):
    fake.fail("/version", "hang")
    with pytest.raises(UpstreamError, match="did not answer in time"):
        connect(fake, timeout=0.2).identify()


def test_nobody_there_is_said_so(connect):
    with CoolifyFake() as gone:
        pass
    with pytest.raises(UpstreamError, match="Nothing accepts connections"):
        connect(gone).identify()


def test_what_is_no_coolify_is_said_so(fake, connect):
    fake.fail("/version", "html")
    with pytest.raises(UpstreamError, match="not Coolify"):
        connect(fake).identify()


def test_a_wrong_token_is_refused(fake):
    token = "|".join(("1", "wr0ngT0ken"))  # not as the source lines of a traceback would have it
    with pytest.raises(UpstreamError, match="refused the token") as caught:
        CoolifyConnector(fake.url, token).identify()
    assert token not in "".join(traceback.format_exception(caught.value))


def test_a_token_that_reads_secrets_is_refused(connect):
    with CoolifyFake(reads_secrets=True) as fake:
        for read_something in (connect(fake).identify, connect(fake).read_state):
            with pytest.raises(UpstreamError, match="ability read alone") as caught:
                read_something()
            assert caught.value.is_permanent
            assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_values_among_names_give_a_strong_token_away(fake, connect):
    connector = connect(fake)
    state = connector.read_state()  # before somebody gave it more abilities
    fake.rows.reads_secrets = True
    for app in (state.apps[0], state.apps[-1]):
        with pytest.raises(UpstreamError, match="ability read alone"):
            connector.read_detail(app)


def test_values_among_shared_names_give_a_strong_token_away(fake, connect, monkeypatch):
    monkeypatch.setattr(fake.rows, "shared", lambda name: {"key": name, "value": None})
    with pytest.raises(UpstreamError, match="ability read alone"):
        connect(fake).read_state()
