"""What every git host tells of credentials, and what git sends with them."""

from datetime import UTC, datetime

import pytest
from django.test import override_settings

from apps.orgs.repositories import GIT_HOSTS
from apps.sources.hosts import bitbucket, github
from apps.sources.hosts.credentials import Credentials
from apps.sources.hosts.host import Account, HostError
from apps.sources.hosts.types import HOSTS, host_of, kinds_of
from tests.fakes.git_hosts import REPOSITORIES, basic

FIRST = tuple(REPOSITORIES[:10])
TOKEN = "".join(("some", "T0ken"))  # not as the source lines of a traceback would have it


@pytest.mark.parametrize(
    ("type", "fields", "authorization"),
    [
        ("github", {"kind": "access_token"}, basic("x-access-token", TOKEN)),
        ("gitlab", {"kind": "access_token"}, basic("oauth2", TOKEN)),
        (
            "gitlab",
            {"kind": "deploy_token", "username": "gitlab+deploy-token-1"},
            basic("gitlab+deploy-token-1", TOKEN),
        ),
        ("gitlab", {"kind": "basic", "username": "anna"}, basic("anna", TOKEN)),
        ("gitea", {"kind": "access_token"}, basic("x-access-token", TOKEN)),
        ("gitea", {"kind": "basic", "username": "änna"}, basic("änna", TOKEN)),
        ("bitbucket", {"kind": "access_token"}, basic("x-token-auth", TOKEN)),
        ("bitbucket", {"kind": "basic", "username": "anna"}, basic("anna", TOKEN)),
        ("bitbucket", {"kind": "basic", "username": "a@b.example"}, basic("x-bitbucket-api-token-auth", TOKEN)),
        ("git", {"kind": "access_token"}, f"Bearer {TOKEN}"),
        ("git", {"kind": "basic", "username": "anna"}, basic("anna", TOKEN)),
    ],
)
def test_git_sends_what_each_host_wants_of_each_kind(type, fields, authorization):
    address = None if type == "bitbucket" else "https://git.example"
    host = host_of(type, address, Credentials(secret=TOKEN, **fields))
    assert host.authorization() == authorization
    host.forget()  # there is nothing to forget
    assert host_of(type, address, None).authorization() is None


def test_every_type_that_rows_may_have_is_there():
    assert set(HOSTS) == {*GIT_HOSTS, "git"}
    assert {type: kinds_of(type) for type in HOSTS} == {
        "github": ("access_token", "github_app"),
        "gitlab": ("access_token", "deploy_token", "basic"),
        "gitea": ("access_token", "basic"),
        "bitbucket": ("access_token", "basic"),
        "git": ("access_token", "basic"),
    }
    assert kinds_of("svn") == ()


@pytest.mark.parametrize(
    ("base_url", "api"),
    [
        (None, "https://api.github.com"),
        ("https://github.com/", "https://api.github.com"),
        ("https://git.example:8443", "https://git.example:8443/api/v3"),
        ("https://acme.ghe.com", "https://api.acme.ghe.com"),
    ],
)
def test_where_the_api_of_github_is(base_url, api):
    assert host_of("github", base_url, None)._api_url == api
    assert (github.API, bitbucket.API) == ("https://api.github.com", "https://api.bitbucket.org/2.0")


@pytest.mark.parametrize(
    ("type", "base_url", "fields", "sentence"),
    [
        ("svn", None, {}, "no such type"),
        ("git", None, {}, "must be given"),
        ("git", "http://git.example", {}, "https://"),
        ("gitea", "http://10.0.0.1", {}, "https://"),
        ("gitea", "https://u:p@git.example", {}, "without a user name"),
        ("gitea", "https://git.example/?a=b", {}, "without a user name"),
        ("bitbucket", "https://bitbucket.acme.example", {}, "Data Center"),
        ("github", None, {"kind": "deploy_token", "username": "a"}, "not for this type"),
        ("github", None, {"secret": ""}, "empty"),
        ("github", None, {"secret": "a" * 20_000}, "too long"),
        ("github", None, {"secret": f"{TOKEN}\nX-Other: 1"}, "one line"),
        ("github", None, {"secret": f"{TOKEN} "}, "without spaces"),
        ("github", None, {"secret": f"{TOKEN}ü"}, "visible characters"),
        ("gitea", None, {"kind": "basic"}, "user name must"),
        ("gitea", None, {"kind": "basic", "username": "a:b"}, "without a colon"),
        ("gitea", None, {"kind": "basic", "username": "a\nb"}, "one line"),
        ("github", None, {"kind": "github_app", "installation_id": "1"}, "app's id"),
        ("github", None, {"kind": "github_app", "app_id": "1\n2", "installation_id": "1"}, "app's id"),
        ("github", None, {"kind": "github_app", "app_id": "1", "installation_id": "../user"}, "must be a number"),
    ],
)
def test_what_cannot_be_sent_is_refused_before_anything_is(type, base_url, fields, sentence):
    given = Credentials(**{"kind": "access_token", "secret": TOKEN} | fields)
    with pytest.raises(HostError, match=sentence) as caught:
        host_of(type, base_url, given)
    assert TOKEN not in str(caught.value)


def test_to_ones_own_machine_credentials_need_not_be_encrypted_in_local():
    host_of("gitea", "http://127.0.0.1:3000", None)
    with override_settings(IS_LOCAL=False), pytest.raises(HostError, match="https://"):
        host_of("gitea", "http://127.0.0.1:3000", None)


@pytest.mark.parametrize("type", ["github", "gitlab", "gitea", "bitbucket"])
def test_without_credentials_nobodys_account_is_asked_for(type):
    with pytest.raises(HostError, match="no credentials"):
        host_of(type, None, None).account()


def test_other_servers_of_git_are_asked_nothing():
    host = host_of("git", "https://git.example/x", Credentials("access_token", TOKEN))
    assert host.account() == Account(None, (), False, None, None)
    assert host.current_name("acme/app") is None


def test_deploy_tokens_of_gitlab_are_asked_nothing(gitlab, connect):
    host = connect(gitlab, kind="deploy_token", username="gitlab+deploy-token-1")
    assert host.account() == Account(None, (), False, None, None)
    assert gitlab.sent == []


def test_an_account_at_github(github, connect):
    github.headers = {
        "X-OAuth-Scopes": "read:org, repo",
        "GitHub-Authentication-Token-Expiration": "2027-03-01 14:30:00 +0500",
    }
    expires_at = datetime(2027, 3, 1, 9, 30, tzinfo=UTC)
    assert connect(github).account() == Account("acme-bot", FIRST, True, True, expires_at)
    assert github.sent_to("/user") == [f"Bearer {github.token}"]
    assert [request.query for request in github.requests] == [{}, {"per_page": "11", "sort": "full_name"}]


@pytest.mark.parametrize(
    ("token", "scopes", "can_write"),
    [
        ("ghp_classic", "", False),
        ("ghp_classic", "read:org, user:email", False),
        ("ghp_classic", "public_repo", True),
        ("github_pat_fine", None, None),
        ("github_pat_fine", "", None),
    ],
)
def test_whether_a_token_of_github_can_write(github, connect, token, scopes, can_write):
    github.token = token
    github.headers = {} if scopes is None else {"X-OAuth-Scopes": scopes}
    assert connect(github).account().can_write is can_write


def test_an_account_at_gitlab(gitlab, connect):
    expires_at = datetime(2027, 3, 1, tzinfo=UTC)
    assert connect(gitlab).account() == Account("acme-bot", FIRST, True, False, expires_at)
    assert gitlab.sent_to("/user") == [f"Bearer {gitlab.token}"]
    assert connect(gitlab, kind="basic", username="anna").account().login == "acme-bot"


@pytest.mark.parametrize(
    ("scopes", "can_write"),
    [(["api"], True), (["read_repository", "write_repository"], True), (["granular"], None), (None, None)],
)
def test_whether_a_token_of_gitlab_can_write(gitlab, connect, scopes, can_write):
    gitlab.scopes, gitlab.expires_at = scopes, None
    account = connect(gitlab).account()
    assert (account.can_write, account.expires_at) == (can_write, None)


def test_a_token_of_gitlab_for_git_alone_is_good(gitlab, connect):
    gitlab.scopes = ["read_repository"]
    gitlab.forbidden = {"/user", "/projects", "/projects/acme%2Fapp-01"}
    assert connect(gitlab).account() == Account(None, (), False, False, datetime(2027, 3, 1, tzinfo=UTC))
    assert connect(gitlab).current_name("acme/app-01") is None


def test_a_token_of_gitlab_that_git_cannot_fetch_with_is_refused(gitlab, connect):
    gitlab.scopes = ["read_api", "read_user"]
    with pytest.raises(HostError, match="read_repository"):
        connect(gitlab).account()


@pytest.mark.parametrize("kind", ["bad_request", "not_found"])
def test_a_token_of_gitlab_that_cannot_ask_of_itself_can_ask_the_rest(gitlab, connect, kind):
    gitlab.fail("/personal_access_tokens/self", kind)
    assert connect(gitlab).account() == Account("acme-bot", FIRST, True, None, None)
    gitlab.forbidden = {"/user"}
    with pytest.raises(HostError, match="lacks the permission to read the account"):
        connect(gitlab).account()


def test_an_account_at_gitea(gitea, connect):
    assert connect(gitea).account() == Account("acme-bot", FIRST, True, None, None)
    assert gitea.sent_to("/user") == [basic("x-access-token", gitea.token)]
    gitea.sent.clear()
    assert connect(gitea, kind="basic", username="acme-bot").account().login == "acme-bot"
    assert gitea.sent_to("/user") == [basic("acme-bot", gitea.token)]


def test_a_token_of_gitea_that_only_reads_repositories(gitea, connect):
    gitea.forbidden = {"/user", "/user/repos"}
    assert connect(gitea).account() == Account(None, FIRST, True, None, None)
    assert gitea.requests[-1].query["is_private"] == "true"
    gitea.forbidden.add("/repos/search")
    with pytest.raises(HostError, match="lacks the permission to read repositories"):
        connect(gitea).account()


def person(fake):
    return {"kind": "basic", "username": fake.email, "secret": fake.api_token}


def test_an_account_at_bitbucket(bitbucket_cloud, connect):
    bitbucket_cloud.headers = {"X-OAuth-Scopes": "read:repository:bitbucket, read:user:bitbucket"}
    bitbucket_cloud.repositories = ["rival/z", "acme/b", "acme/a", "other/x"]
    account = connect(bitbucket_cloud, **person(bitbucket_cloud)).account()
    assert account == Account("acme-bot", ("acme/a", "acme/b", "rival/z"), False, False, None)
    assert bitbucket_cloud.sent_to("/user") == [basic("bot@acme.example", bitbucket_cloud.api_token)]


def test_many_repositories_and_workspaces_at_bitbucket(bitbucket_cloud, connect):
    host = connect(bitbucket_cloud, **person(bitbucket_cloud))
    assert host.account() == Account("acme-bot", FIRST, True, None, None)
    assert bitbucket_cloud.sent_to("/repositories/rival") == []
    bitbucket_cloud.repositories = ["w1/a"]
    bitbucket_cloud.workspaces = [f"w{number}" for number in range(9)]
    bitbucket_cloud.headers = {"X-OAuth-Scopes": "write:repository:bitbucket"}
    assert host.account() == Account("acme-bot", ("w1/a",), True, True, None)
    assert len(bitbucket_cloud.sent_to("/repositories/w4")) == 1
    assert bitbucket_cloud.sent_to("/repositories/w5") == []


def test_access_tokens_of_bitbucket_do_not_tell_whose_they_are(bitbucket_cloud, connect):
    bitbucket_cloud.headers = {"X-OAuth-Scopes": "repository, pullrequest:write"}
    assert connect(bitbucket_cloud).account() == Account(None, (), False, True, None)
    assert bitbucket_cloud.sent_to("/user") == [f"Bearer {bitbucket_cloud.token}"]


@pytest.mark.parametrize("kind", ["forbidden", "gone", "not_found"])
def test_a_token_of_bitbucket_that_may_not_ask_for_workspaces(bitbucket_cloud, connect, kind):
    bitbucket_cloud.fail("/user/workspaces", kind)
    assert connect(bitbucket_cloud, **person(bitbucket_cloud)).account() == Account("acme-bot", (), False, None, None)


def test_api_tokens_of_bitbucket_need_the_e_mail_address(bitbucket_cloud, connect):
    with pytest.raises(HostError, match="e-mail address"):
        connect(bitbucket_cloud, **person(bitbucket_cloud) | {"username": "anna"}).account()
    with pytest.raises(HostError, match="user name or token is not valid") as caught:
        connect(bitbucket_cloud, **person(bitbucket_cloud) | {"username": "x@acme.example"}).account()
    assert "e-mail" not in str(caught.value)
