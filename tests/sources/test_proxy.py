"""A proxy that leads to git hosts: git and the host's API go through it, and it looks names up."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.sources.git import remotes
from apps.sources.git.fetch import FetchFailed
from tests.api import Api
from tests.factories import Fill, make_app
from tests.fakes import certificates
from tests.fakes.git_remote import GitRemote
from tests.fakes.github import GitHubFake
from tests.fakes.proxy import ProxyFake
from tests.sources.conftest import settle

HOST = "git.internal.example"  # which has no address here


@pytest.mark.django_db(transaction=True)
def test_git_and_the_api_go_through_it(
    database_for_many: None, opened: None, api: Api, acme: Fill, tmp_path: Path, settings: Any
) -> None:
    (tmp_path / "token").write_text("")
    with (
        GitHubFake() as github,
        GitRemote(tmp_path / "host", certificates.context(HOST), api=github.url) as remote,
        ProxyFake(int(remote.url.rpartition(":")[2])) as proxy,
    ):
        settings.SOURCE_NETWORKS, settings.SOURCE_PROXY = [], f"http://us:hunter2@{proxy.address}"
        remote.origin("acme/shop").commit({"README.md": "behind a proxy"})
        (tmp_path / "token").write_text(github.token)
        url = f"https://{HOST}"
        call_command(
            "connect_source", org="acme", type="github", url=url, token_file=str(tmp_path / "token"), verbosity=0
        )
        app = make_app(acme.project, "shop", source_type="git", repository=f"{url}/acme/shop.git", branch="main")
        assert api("get_file", applicationId=app.id, path="README.md")["content"] == "behind a proxy"
        settle()
        assert set(proxy.asked) == {f"CONNECT {HOST}:443 HTTP/1.1"}
        assert len(proxy.authorizations) >= 3  # the API's, git's ls-remote or fetch


@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "[::1]"])
def test_addresses_are_checked_with_one_too(settings: Any, host: str) -> None:
    settings.SOURCE_PROXY, settings.SOURCE_NETWORKS = "http://proxy.example.com:3128", []
    with pytest.raises(FetchFailed, match="not public"):
        remotes.remote_of(f"https://{host}/acme/shop.git")
