"""The published examples are run on the demo organization: what they promise is what comes back."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.tools.pages import masked
from apps.tools.registry import TOOLS
from tests.api import Api, published

# The day from which the demo's times are told: nothing is moved, so published dates come out as they are.
DEMO_DAY = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def demo(db: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Api]:
    monkeypatch.setattr(timezone, "now", lambda: DEMO_DAY)
    call_command("load_demo", verbosity=0)
    return Api(bearer=settings.LOCAL_DEV_BEARER)


def test_every_example_does_what_is_published(demo: Api) -> None:
    for name, tool in TOOLS.items():
        example = published()["paths"][f"/api/v1/tools/{name}"]["post"]
        (sent,) = example["requestBody"]["content"]["application/json"]["examples"].values()
        (promised,) = example["responses"]["200"]["content"]["application/json"]["examples"].values()
        varying = tool.example.varying | ({"nextCursor"} if promised["value"].get("nextCursor") else set())
        answer = demo(name, **sent["value"])
        assert masked(answer, varying) == masked(promised["value"], varying), name
        assert bool(answer.get("nextCursor")) == bool(promised["value"].get("nextCursor")), name
