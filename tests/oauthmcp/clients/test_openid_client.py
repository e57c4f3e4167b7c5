"""npm's openid-client: both kinds of discovery, every way to authenticate, from registration to revocation."""

import json
import subprocess
from typing import Any

import pytest

from tests.oauthmcp.clients.node import NODE, PROGRAMS, need_package
from tests.oauthmcp.clients.server import REDIRECT_URI, Server
from tests.patience import patience


def play(server: Server, algorithm: str, method: str) -> dict[str, Any]:
    """Runs the program: it says where the user has to go, and is told where they came back to."""
    need_package("openid-client")
    given = {
        "issuer": server.url, "algorithm": algorithm, "method": method, "redirectUri": REDIRECT_URI,
        "resource": server.mcp, "tool": server.tool("get_account"),
    }  # fmt: skip
    with subprocess.Popen(
        [NODE, PROGRAMS / "openid_client.mjs", json.dumps(given)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout
        try:
            authorize_url = process.stdout.readline().strip()
            came_back = server.allow(authorize_url) if authorize_url else ""
            output, errors = process.communicate(came_back + "\n", timeout=patience())
        finally:
            process.kill()
    assert process.returncode == 0, errors
    result: dict[str, Any] = json.loads(output)
    return result


@pytest.mark.spec("RFC 8414 §3", "RFC 7591 §3", "RFC 9207 §2.4", "RFC 6749 §2.3.1", "RFC 7009 §2")
@pytest.mark.parametrize("method", ["none", "client_secret_basic", "client_secret_post"])
@pytest.mark.parametrize("algorithm", [pytest.param("oauth2", marks=pytest.mark.soak), "oidc"])
def test_it_gets_in_refreshes_and_gives_back(server: Server, algorithm: str, method: str) -> None:
    assert play(server, algorithm, method) == {
        "method": method,
        "scope": "account:read apps:read",
        "organization": "acme",
        "isRefreshed": True,
        "afterRefresh": 200,
        "afterRevocation": 401,
    }
