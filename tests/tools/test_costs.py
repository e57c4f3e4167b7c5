"""What a call costs, in counts that do not drift with the machine: statements, function calls, memory, bytes.

A bound that fails after a change of yours tells what the change costs each caller; raise it only for what is worth it,
and lower it when something got cheaper. Times are `make bench`'s.
"""

import cProfile
import gc
import json
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test.utils import CaptureQueriesContext

from apps.orgs.versions import raise_data_version
from apps.web.handler import Handler
from tests.factories import Fill, make_more
from tests.tools.test_every_tool import ROW_TOOLS, input_for

ROWS = 50
# Statements of a call whose answer is made anew: the bearer check's first, and last the rows', which tells the versions
# too. 3 where nothing is said: something is looked up before.
STATEMENTS = {
    "get_account": 6, "get_app_health": 5, "list_env_vars": 6, "list_org_secrets": 2, "list_projects": 2,
    "list_templates": 2,
}  # fmt: skip
BYTES = 33_000  # of list_apps with 50 rows


@dataclass(frozen=True)
class Bounds:
    """Of a call of list_apps with 50 rows: function calls, built-in ones too, and KiB, at the worst and for good (an
    answer that is kept is 30 of them)."""

    statements: int
    calls: int
    peak: int
    kept: int


BOUNDS = {
    "miss": Bounds(statements=2, calls=1_150, peak=220, kept=50),
    "hit": Bounds(statements=1, calls=620, peak=60, kept=8),
}

Call = Callable[[str, dict[str, Any]], bytes]


@pytest.fixture
def call(acme: Fill, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The body of an answer as the server has it made: the test's client costs more than what it asks."""
    monkeypatch.setattr(settings, "LOCAL_DEV_ORG", "acme")
    # As Django's test client does: each request would end the case's transaction.
    monkeypatch.setattr(BaseDatabaseWrapper, "close_if_unusable_or_obsolete", lambda self: None)
    handler = Handler()

    def answer(tool: str, data: dict[str, Any]) -> bytes:
        sent = json.dumps(data).encode()
        environ = {
            "REQUEST_METHOD": "POST", "PATH_INFO": f"/api/v1/tools/{tool}", "SERVER_NAME": "localhost",
            "SERVER_PORT": "8000", "HTTP_HOST": "localhost", "REMOTE_ADDR": "127.0.0.1", "wsgi.url_scheme": "http",
            "CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(sent)), "wsgi.input": BytesIO(sent),
            "HTTP_AUTHORIZATION": f"Bearer {settings.LOCAL_DEV_BEARER}",
        }  # fmt: skip
        started: list[str] = []
        body = b"".join(handler(environ, lambda status, headers: started.append(status)))
        assert started == ["200 OK"], body
        return body

    return answer


@pytest.fixture
def list_apps(call: Call, acme: Fill) -> Callable[[str], Callable[[], bytes]]:
    """Of a kind of call (see BOUNDS) one that lists 50 applications, when what is made once for a process is made."""
    make_more(acme, ROWS - 1)

    def of_kind(kind: str) -> Callable[[], bytes]:
        for _ in range(2):
            assert len(json.loads(call("list_apps", {}))["items"]) == ROWS
            if kind == "miss":
                raise_data_version(acme.organization.pk)
        gc.collect()
        return lambda: call("list_apps", {})

    return of_kind


@pytest.mark.parametrize("name", ROW_TOOLS)
def test_a_call_sends_few_statements(call: Call, acme: Fill, name: str):
    inputs = input_for(name, acme)
    with CaptureQueriesContext(connection) as statements:
        call(name, inputs)
    assert len(statements) <= STATEMENTS.get(name, 3), [it["sql"] for it in statements]


@pytest.mark.parametrize("kind", BOUNDS)
def test_a_list_of_fifty_sends_few_statements(list_apps: Any, kind: str):
    ask = list_apps(kind)
    with CaptureQueriesContext(connection) as statements:
        ask()
    assert len(statements) <= BOUNDS[kind].statements, [it["sql"] for it in statements]


@pytest.mark.parametrize("kind", BOUNDS)
def test_a_list_of_fifty_makes_few_function_calls(list_apps: Any, kind: str):
    ask, profile = list_apps(kind), cProfile.Profile()
    profile.runcall(ask)
    assert sum(entry.callcount for entry in profile.getstats()) <= BOUNDS[kind].calls


@pytest.mark.parametrize("kind", BOUNDS)
def test_a_list_of_fifty_takes_little_memory(list_apps: Any, kind: str):
    ask = list_apps(kind)
    tracemalloc.start()
    try:
        ask()
        _, peak = tracemalloc.get_traced_memory()
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak / 1024 <= BOUNDS[kind].peak
    assert kept / 1024 <= BOUNDS[kind].kept


def test_a_list_of_fifty_is_as_short_as_its_rows(list_apps: Any):
    body = list_apps("miss")()
    assert len(body) <= BYTES
    assert body == json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()
