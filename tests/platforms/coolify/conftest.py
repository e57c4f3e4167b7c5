"""A fake Coolify of each release whose answers differ, and a connector for it."""

from collections.abc import Callable, Iterator

import pytest

from apps.platforms.coolify.connector import CoolifyConnector
from tests.fakes.coolify import CoolifyFake

VERSIONS = ("4.0.0-beta.445", "4.1.2", "4.2.0", "4.3.11")


@pytest.fixture(params=VERSIONS)
def every_fake(request: pytest.FixtureRequest) -> Iterator[CoolifyFake]:
    with CoolifyFake(request.param, applications=8, services=2) as fake:
        yield fake


@pytest.fixture
def fake() -> Iterator[CoolifyFake]:
    with CoolifyFake(applications=8, services=2) as fake:
        yield fake


@pytest.fixture
def connect() -> Callable[..., CoolifyConnector]:
    def connect(fake: CoolifyFake, **options: object) -> CoolifyConnector:
        return CoolifyConnector(fake.url, fake.key, calls_per_minute=100_000, **options)

    return connect
