"""What operators read where a git host tells nothing, and what becomes of answers that mean harm."""

import logging
import traceback
from ipaddress import ip_network

import pytest
from django.test import override_settings

from apps.net import http
from apps.sources.hosts import api
from apps.sources.hosts.credentials import Credentials
from apps.sources.hosts.host import HostError
from apps.sources.hosts.types import host_of
from tests.fakes.git_hosts import CANARY, FAILURES, GiteaFake

SENTENCES = {
    "unauthorized": "answered 401: the .* is not valid or has expired",
    "forbidden": "answered 403: the token lacks the permission to read",
    "used_up": "asked too often",
    "secondary_limit": "asked too often",
    "not_found": "answered 404 where .* should be",
    "gone": "answered 410 where .* should be",
    "bad_request": "status 400",
    "unprocessable": "status 422",
    "rate_limited": r"asked too often \(status 429\)",
    "error": r"could not tell .* \(status 500\)",
    "html": "not JSON",
    "strange": "form that is not known",
    "text": None,  # a list without repositories
    "large": "too large",
    "elsewhere": "not followed",
    "other_port": "not followed",
    "outside": "not followed",
    "climbing": "not followed",
    "nowhere": "not followed",
}
PATHS = {
    "github": "/user/repos",
    "gitlab": "/projects",
    "gitea": "/user/repos|/repos/search",
    "bitbucket_cloud": "/user",
}


def told_of(caught, caplog, *, with_variables=True):
    """All that a log may hold of an error, below the test itself: values of variables too."""
    error = caught.value.with_traceback(caught.tb.tb_next)
    stack = traceback.TracebackException.from_exception(error, capture_locals=with_variables)
    return "".join(stack.format()) + repr(error) + str(vars(error)) + caplog.text


@pytest.mark.parametrize("kind", SENTENCES)
@pytest.mark.parametrize("name", PATHS)
def test_a_refusal_is_told_in_words(request, connect, caplog, name, kind):
    caplog.set_level(logging.DEBUG)
    fake = request.getfixturevalue(name)
    if name == "bitbucket_cloud" and kind in ("strange", "text", "forbidden"):
        return  # an account without a name, and what tells only that a token is good
    fake.fail(PATHS[name], kind)
    if name == "gitlab" and kind == "forbidden":
        fake.fail("/personal_access_tokens/self", kind)
    host = connect(fake)
    if SENTENCES[kind] is None:
        assert host.account().repositories == ()
        return
    with pytest.raises(HostError, match=SENTENCES[kind]) as caught:
        host.account()
    assert len(str(caught.value)) <= 300
    assert fake.token not in told_of(caught, caplog)
    assert CANARY not in told_of(caught, caplog, with_variables=False)


def test_every_kind_of_failure_is_tried():
    assert set(SENTENCES) == set(FAILURES)


def test_a_wrong_token_is_refused(fake, connect, caplog):
    caplog.set_level(logging.DEBUG)
    token = "".join(("wr0ng", "T0ken"))
    host = connect(fake, secret=token)
    if fake.__class__.__name__ == "BitbucketFake":
        fake.token = "an0ther"
    with pytest.raises(HostError, match=r"answered 401: the .*token is not valid or has expired") as caught:
        host.account()
    assert token not in told_of(caught, caplog)
    with pytest.raises(HostError, match="answered 401"):
        host.current_name("acme/app-03")


def test_nobody_there_is_said_so(connect):
    with GiteaFake() as gone:
        pass
    with pytest.raises(HostError, match=r"Gitea cannot be asked\. Nothing accepts connections there"):
        connect(gone).account()


def test_a_host_that_is_slow_is_given_up(gitea, connect, monkeypatch):
    monkeypatch.setattr(api, "SECONDS", 0.2)
    gitea.slow = 30
    with pytest.raises(HostError, match="did not answer in time"):
        connect(gitea).account()


def test_private_networks_are_asked_only_where_they_were_opened(monkeypatch):
    host = host_of("gitea", "https://10.1.2.3", Credentials("access_token", "t0ken"))
    with pytest.raises(HostError, match="may not be reached from here"):
        host.account()
    monkeypatch.setattr(http.Client, "get", lambda client, *_: pytest.fail(str(client._allowed)))
    with (
        override_settings(SOURCE_NETWORKS=[ip_network("10.1.0.0/16")]),
        pytest.raises(pytest.fail.Exception, match=r"10\.1\.0\.0/16"),
    ):
        host.account()


@pytest.mark.parametrize("address", ["https://169.254.169.254", "https://[fd00:ec2::254]"])
def test_nobody_can_open_what_clouds_tell_machines(address):
    host = host_of("gitea", address, Credentials("access_token", "t0ken"))
    everything = [ip_network("0.0.0.0/0"), ip_network("::/0")]
    with override_settings(SOURCE_NETWORKS=everything), pytest.raises(HostError, match="may not be reached"):
        host.account()


# Answers that mean harm


@pytest.mark.parametrize(
    ("login", "kept"),
    [
        ("x" * 10_000, "x" * 100),
        ("ann\x1b[31ma\n", "anna"),
        ("an\u202ena\x00", "anna"),
        ("\u200b\u2060", None),
        (["anna"], None),
        (7, None),
        (None, None),
    ],
)
def test_a_login_is_cleaned_and_cut(gitea, gitlab, connect, login, kept):
    for fake in (gitea, gitlab):
        fake.login = login
        assert connect(fake).account().login == kept


@pytest.mark.parametrize("login", ["", "\u200b", {"a": 1}])
def test_an_account_of_github_has_a_login(github, connect, login):
    github.login = login
    with pytest.raises(HostError, match="form that is not known"):
        connect(github).account()


NO_NAMES = ["", "acme", f"{'x' * 600}/a", "acme/a\n", "acme/\u202ea", "acme/a b", "acme/../a", 7, None, [], {}]


@pytest.mark.parametrize("name", ["github", "gitlab", "gitea"])
def test_a_repository_whose_name_is_none_is_left_out(request, connect, name):
    fake = request.getfixturevalue(name)
    rows = [{fake.key: one} for one in (*NO_NAMES, "acme/b", "acme/a")]
    fake.rows = lambda *_: [*rows, None, 7, [], {}]
    account = connect(fake).account()
    assert (account.repositories, account.has_more) == (("acme/a", "acme/b"), True)


def test_workspaces_whose_names_are_none_are_not_asked_for(bitbucket_cloud, connect):
    bitbucket_cloud.workspaces = ["", "..", "a/b", "a b", 7]
    fields = {"kind": "basic", "username": bitbucket_cloud.email, "secret": bitbucket_cloud.api_token}
    assert connect(bitbucket_cloud, **fields).account().repositories == ()
    assert [path for _, path, _ in bitbucket_cloud.sent] == ["/2.0/user", "/2.0/user/workspaces"]


def test_a_new_name_that_is_none_is_unknown(gitlab, connect):
    gitlab.repositories = ["acme/a\u202eb"]
    gitlab.renamed["old/name"] = "acme/a\u202eb"
    assert connect(gitlab).current_name("old/name") is None


@pytest.mark.parametrize("told", ["tomorrow", "9" * 5000, "0001-01-01T00:00:00+23:59", "2027-13-01", 7, [], {}])
def test_a_time_that_is_none_is_unknown(gitlab, github, connect, told):
    gitlab.expires_at = told
    assert connect(gitlab).account().expires_at is None
    github.headers = {"GitHub-Authentication-Token-Expiration": str(told)}
    assert connect(github).account().expires_at is None


@pytest.mark.parametrize("told", ["2027-03-01 09:30:00 UTC", "2027-03-01 09:30:00 +0000", "2027-03-01T09:30:00Z"])
def test_forms_of_times(github, connect, told):
    github.headers = {"GitHub-Authentication-Token-Expiration": told}
    assert connect(github).account().expires_at.isoformat() == "2027-03-01T09:30:00+00:00"


def test_nothing_shows_the_credentials(connect, gitea):
    host = connect(gitea)
    assert gitea.token not in repr(host) + repr(host.credentials) + str(host.credentials) + repr(host._api())
