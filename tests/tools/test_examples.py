"""The published examples are run on the demo organization: what they promise is what comes back."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.tools.registry import TOOLS
from tests.api import Api, published

# The day from which the demo's times are told: nothing is moved, so published dates come out as they are.
DEMO_DAY = datetime(2026, 6, 1, 12, tzinfo=UTC)
# What depends on the checkout (its commit, and whether it is on a branch), on the day of installation or on the
# wording of the docs.
VARYING = {
    "get_account": {"organization.createdAt"},
    "get_file": {"ref", "sha", "commitSha", "size", "content"},
    "list_files": {"ref", "items.sha", "commitSha"},
    "search_docs": {"items.score", "items.snippet", "items.section", "items.anchor", "syncedAt"},
}


@pytest.fixture
def demo(db: None, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Api]:
    monkeypatch.setattr(timezone, "now", lambda: DEMO_DAY)
    call_command("load_demo", verbosity=0)
    return Api(bearer=settings.LOCAL_DEV_BEARER)


def without(value: Any, varying: set[str], path: str = "") -> Any:
    if isinstance(value, dict):
        inside = {name: f"{path}.{name}".lstrip(".") for name in value}
        masked = {name for name in value if inside[name] in varying or (name == "nextCursor" and value[name])}
        return {name: "…" if name in masked else without(value[name], varying, inside[name]) for name in value}
    if isinstance(value, list):
        return [without(item, varying, path) for item in value]
    return value


@pytest.mark.parametrize("name", TOOLS)
def test_an_example_does_what_is_published(demo: Api, name: str):
    example = published()["paths"][f"/api/v1/tools/{name}"]["post"]
    (sent,) = example["requestBody"]["content"]["application/json"]["examples"].values()
    (promised,) = example["responses"]["200"]["content"]["application/json"]["examples"].values()
    varying = VARYING.get(name, set())
    assert without(demo(name, **sent["value"]), varying) == without(promised["value"], varying)
