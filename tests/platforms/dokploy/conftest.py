"""A fake Dokploy, and a connector of it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from apps.platforms.dokploy import DokployConnector
from tests.fakes.dokploy import DokployFake

VERSIONS = ("0.24.12", "0.25.11", "0.28.2", "0.28.3", "0.29.5", "0.30.2")


@pytest.fixture
def dokploy() -> Iterator[Callable[..., DokployFake]]:
    """Starts one; the first argument is its version."""
    with ExitStack() as stack:

        def start(version: str = "0.30.2", **options: Any) -> DokployFake:
            return stack.enter_context(DokployFake(version, **options))

        yield start


def connector_of(fake: DokployFake, key: str | None = None, **options: Any) -> DokployConnector:
    return DokployConnector(fake.url, key or fake.key, **{"calls_per_minute": 100_000} | options)
