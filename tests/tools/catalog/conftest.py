"""What the tests of tools need besides rows: a stopped clock, and a checkout to read files from."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pygit2
import pytest

from tests.factories import START, Fill
from tests.sources.git.origins import Origin


@pytest.fixture
def stop(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """Stops the clock; at first at the moment when the factories' facts were seen."""

    def at(moment: datetime) -> None:
        monkeypatch.setattr("django.utils.timezone.now", lambda: moment)

    at(START)
    return at


class Checkout(Origin):
    """A checkout of this server's own code, as `git clone` leaves one."""

    def __init__(self, folder: Any) -> None:
        self.folder = folder
        self.repository = pygit2.init_repository(folder, initial_head="main")


@pytest.fixture
def checkout(acme: Fill, settings: Any, tmp_path: Any) -> Checkout:
    """acme's application is built from the branch main of this checkout."""
    settings.BASE_DIR = tmp_path / "checkout"
    acme.app.source_type, acme.app.repository, acme.app.branch = "git", "local:checkout", "main"
    acme.app.save()
    return Checkout(settings.BASE_DIR)
