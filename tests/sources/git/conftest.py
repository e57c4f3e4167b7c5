"""A repository at a host that is a folder, and the network between it and the mirrors."""

import pytest

from tests.sources.git.origins import Network

URL = "https://git.example.com/acme/shop.git"


@pytest.fixture
def network(monkeypatch, settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    network = Network(monkeypatch, tmp_path)
    yield network
    network.settle()


@pytest.fixture
def origin(network):
    return network.origin(URL)
