"""What the attacks on repositories have: a host on loopback that knows no credentials, and every log line looked at."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from apps.orgs.models import App
from apps.sources import access
from apps.sources.access import Access
from apps.sources.git import mirrors
from apps.web.logs import JsonFormatter
from tests.factories import Fill, make_app

CANARY = "canary0fTheOtherSide"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e]")
Shop = Callable[..., App]


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has credentials: fetches, which have threads of their own, need not ask the database."""
    monkeypatch.setattr(access, "access_to", lambda *_: Access(None))
    mirrors._failures.forget()
    mirrors._missing_refs.forget()


@pytest.fixture
def logged() -> Iterator[StringIO]:
    """What is logged meanwhile: lines of JSON without a control character, and no bug among them."""
    told = StringIO()
    handler = logging.StreamHandler(told)
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    yield told
    logging.getLogger().removeHandler(handler)
    assert not CONTROL.search(told.getvalue())
    lines = [json.loads(line) for line in told.getvalue().splitlines()]
    assert [line for line in lines if "exception" in line] == []


@pytest.fixture
def shop(acme: Fill) -> Shop:
    """An application that is built from this address."""

    def make(url: str, **columns: Any) -> App:
        return make_app(acme.project, "shop", **{"source_type": "git", "repository": url, "branch": "main"} | columns)

    return make


def bytes_in(folder: Path) -> int:
    """As `du` counts."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))
