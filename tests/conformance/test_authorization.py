"""The authorization server, by the judgement of MCP's own suite, which plays a client and waits for its user.

Only a public client: the suite, given a secret, does not send it to a server that also knows clients without one.
"""

import random
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from tests.conformance.conftest import EMAIL
from tests.conformance.suite import running, verdict_of
from tests.oauthmcp.clients.robot import sign_in_and_allow
from tests.oauthmcp.grants import make_client
from tests.patience import patience

SCENARIOS = {"authorization-server-metadata-endpoint", "authorization-code-grant"}
# Only a recommendation, of 2025-11-25 on: clients that are known by the address of a document about them.
WARNINGS = {"authorization-server-metadata-cimd"}


def free_port() -> int:
    """Below those that systems hand out by themselves, so that no test beside this one is given it meanwhile."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def let_in(suite: subprocess.Popen[str], server: str) -> None:
    """Does what the suite asks its user to do: goes to the address that it prints, and comes back with a code."""
    assert suite.stdout
    said = []
    for line in suite.stdout:
        said.append(line)
        if line.startswith(f"{server}/api/auth/mcp/authorize?"):
            came_back = sign_in_and_allow(line.strip(), EMAIL)
            assert requests.get(came_back, timeout=patience()).status_code == 200
            return
    pytest.fail("The suite never sent its user anywhere:\n" + "".join(said))


@pytest.mark.spec("MCP 2026-07-28 Authorization", "RFC 8414 §3", "RFC 6749 §4.1", "RFC 7636 §4", "RFC 9207 §2")
def test_the_suite_gets_a_token(server: str, tmp_path: Path) -> None:
    port = free_port()
    client = make_client(redirect_uris=f"http://127.0.0.1:{port}/callback")
    with running(
        "authorization", "--url", server, "--client-id", client.client_id, "--resource", f"{server}/mcp",
        "--port", port, "--output-dir", tmp_path,
    ) as suite:  # fmt: skip
        let_in(suite, server)
        verdict = verdict_of(suite, tmp_path)
    assert verdict.is_content, verdict.on(SCENARIOS)
    statuses = {check["id"]: check["status"] for checks in verdict.checks.values() for check in checks}
    assert verdict.checks.keys() == SCENARIOS
    assert {name for name, status in statuses.items() if status != "SUCCESS"} == WARNINGS
