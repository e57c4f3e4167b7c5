"""What tests of repositories at a git host of their own have: the host, on loopback, whose certificate is believed."""

import time
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from apps.net import authorities
from apps.sources.git import mirrors
from apps.sources.hosts import github_app
from apps.sources.hosts.minted import MintedTokens
from tests.fakes import certificates
from tests.fakes.git_remote import GitRemote
from tests.fakes.github import GitHubFake
from tests.patience import patience


@pytest.fixture
def opened(tmp_path: Path, settings: Any) -> Iterator[None]:
    """The operator has opened loopback, and believes an authority of their own."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    settings.SOURCE_NETWORKS = [ip_network("127.0.0.0/8"), ip_network("::1/128")]
    settings.EXTRA_CA_CERTS = certificates.authority().decode()
    clear_caches()
    mirrors._failures.forget()
    yield
    clear_caches()


def clear_caches() -> None:
    authorities.certificates.cache_clear()
    authorities.curl_options.cache_clear()


@pytest.fixture
def remote(opened: None, tmp_path: Path) -> Iterator[GitRemote]:
    with GitRemote(tmp_path / "host", certificates.context("localhost")) as remote:
        yield remote
    settle()


@pytest.fixture
def github_remote(
    opened: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[GitRemote, GitHubFake]]:
    """A GitHub Enterprise Server: git and the API at one address."""
    monkeypatch.setattr(github_app, "tokens", MintedTokens())
    with GitHubFake() as fake, GitRemote(tmp_path / "host", certificates.context("localhost"), api=fake.url) as remote:
        yield remote, fake
    settle()


def settle() -> None:
    """Wait until nothing runs behind the answers."""
    deadline = time.monotonic() + patience()
    while mirrors._single_flight._running and time.monotonic() < deadline:
        time.sleep(0.02)
