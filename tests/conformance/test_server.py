"""The door to MCP, by the judgement of the specification's own suite, in the newest revision of either era.

To run one scenario by hand, serve the fixtures (as the demo organization, which `make run` fills), then ask:

    PORTHOLE_ENV=local .venv/bin/python -m tests.conformance
    node tests/clients/node_modules/@modelcontextprotocol/conformance/dist/index.js server \\
        --url ADDRESS --spec-version 2026-07-28 --scenario server-stateless --verbose

`node` is the one in the environment: `.venv/bin/python -c "from tests.conformance.suite import NODE; print(NODE)"`.
"""

from pathlib import Path

import pytest
import requests

from tests.conformance.suite import required, running, verdict_of
from tests.patience import patience

COUNTS = {"2026-07-28": 37, "2025-11-25": 30}
# Scenarios that the suite runs without counting them, and that hold here.
UNSCORED = {"2026-07-28": {"http-header-validation", "json-schema-2020-12"}, "2025-11-25": {"json-schema-2020-12"}}


@pytest.mark.parametrize("revision", ["2026-07-28", pytest.param("2025-11-25", marks=pytest.mark.soak)])
def test_the_door_does_what_the_revision_requires(mcp: str, tmp_path: Path, revision: str) -> None:
    expected = Path(__file__).with_name(f"expected-{revision}.yaml")
    with running(
        "server", "--url", mcp, "--requirements", revision,
        "--expected-failures", expected, "--output-dir", tmp_path,
    ) as suite:  # fmt: skip
        verdict = verdict_of(suite, tmp_path)
    assert verdict.is_content, verdict.on(required(revision))
    assert len(required(revision)) == COUNTS[revision]
    assert required(revision) <= verdict.checks.keys()
    assert all(verdict.checks[scenario] for scenario in required(revision))
    assert {check["status"] for scenario in UNSCORED[revision] for check in verdict.checks[scenario]} == {"SUCCESS"}


def test_the_suite_is_let_in_only_by_the_token_that_the_proxy_adds(server: str, mcp: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert requests.post(mcp, json=message, timeout=patience()).status_code == 200
    assert requests.post(f"{server}/mcp", json=message, timeout=patience()).status_code == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_foreign_page_is_refused_behind_the_proxy_too(mcp: str, origin: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = requests.post(mcp, json=message, headers={"Origin": origin}, timeout=patience())
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [("application/json, text/event-stream", "text/event-stream"), ("application/json", "application/json")],
)
def test_progress_is_told_to_clients_that_read_event_streams(mcp: str, accept: str, content_type: str) -> None:
    params = {"name": "test_tool_with_progress", "_meta": {"progressToken": "a"}}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    answer = requests.post(mcp, json=message, headers={"Accept": accept}, timeout=patience())
    assert answer.headers["Content-Type"] == content_type
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.text.count("notifications/progress") == (3 if content_type == "text/event-stream" else 0)
    assert answer.text.count('"id":7') == 1
