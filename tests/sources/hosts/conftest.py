"""A fake of each git host, and hosts that ask it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apps.sources.hosts import bitbucket, github_app
from apps.sources.hosts.credentials import Credentials
from apps.sources.hosts.host import GitHost
from apps.sources.hosts.minted import MintedTokens
from apps.sources.hosts.types import host_of
from tests.fakes.git_hosts import BitbucketFake, GiteaFake, GitHostFake, GitLabFake
from tests.fakes.github import GitHubFake

Connect = Callable[..., GitHost]


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHubFake]:
    monkeypatch.setattr(github_app, "tokens", MintedTokens())
    with GitHubFake() as fake:
        yield fake


@pytest.fixture
def gitlab() -> Iterator[GitLabFake]:
    with GitLabFake() as fake:
        yield fake


@pytest.fixture
def gitea() -> Iterator[GiteaFake]:
    with GiteaFake() as fake:
        yield fake


@pytest.fixture
def bitbucket_cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[BitbucketFake]:
    with BitbucketFake() as fake:
        monkeypatch.setattr(bitbucket, "API", f"{fake.url}{fake.root}")
        yield fake


@pytest.fixture(params=["github", "gitlab", "gitea", "bitbucket_cloud"])
def fake(request: pytest.FixtureRequest) -> GitHostFake:
    """Each of them, one after the other."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def connect() -> Connect:
    """With an access token, or with these fields of Credentials. `credentials=None`: without any."""

    def connect(fake: GitHostFake, **fields: Any) -> GitHost:
        type = fake.__class__.__name__.removesuffix("Fake").lower()
        given = None
        if "credentials" not in fields:
            given = Credentials(**{"kind": "access_token", "secret": fake.token} | fields)
        return host_of(type, None if type == "bitbucket" else fake.url, given)

    return connect


@pytest.fixture
def app(github: GitHubFake) -> dict[str, str]:
    """The fields of a GitHub App's credentials."""
    return {
        "kind": "github_app",
        "secret": github.private_key,
        "app_id": github.app_id,
        "installation_id": github.installation_id,
    }
