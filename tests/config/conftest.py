"""What the tests with real processes share."""

from pathlib import Path

import pytest

from tests.config.server import make_data


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DATA_DIR with a migrated SQLite database that holds the organizations acme and demo."""
    return make_data(tmp_path_factory.mktemp("data") / "dir")
