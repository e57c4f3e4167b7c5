"""A few addresses register as fast as they are let: somebody else registers and connects all the same."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.attacks.visiting import Browser, attacked
from tests.oauthmcp.authorizing import PATH, wanted
from tests.oauthmcp.grants import REDIRECT_URI, VERIFIER

ATTACKERS = ("192.0.2.1", "198.51.100.2", "2001:db8:bad::3")
# As many as any number of addresses could leave behind, all of them young.
FILLED = """
from django.db import connection
from apps.oauthmcp.models import Application
row = Application.objects.create(client_id="seed", registration_source="dcr", redirect_uris="https://evil.example/cb")
columns = [field.column for field in Application._meta.concrete_fields if field.column not in ("id", "client_id")]
names = ", ".join(columns)
with connection.cursor() as cursor:
    cursor.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
        f"INSERT INTO {Application._meta.db_table} (client_id, {names}) "
        f"SELECT 'flood-' || i, {names} FROM n, {Application._meta.db_table} WHERE client_id = 'seed'"
    )
"""


def register(browser: Browser) -> tuple[int, str]:
    metadata = {"redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": "none"}
    answer = browser.post("/api/auth/mcp/register", json=metadata)
    return answer.status_code, answer.json().get("client_id", "")


@pytest.mark.soak  # 100,000 clients; tests/oauthmcp/test_unused_clients.py has each rule
def test_three_addresses_cannot_stop_registration(databases: Path, tmp_path: Path) -> None:
    with attacked(databases, tmp_path, FILLED) as server:
        ada = Browser(server, "203.0.113.9")
        status, client_id = register(ada)
        assert status == 201
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda address: flood(Browser(server, address)), ATTACKERS))
        assert ada.sign_in().status_code == 302
        page = ada.get(PATH, params=wanted(client_id, resource=f"{server}/mcp"))
        form = ada.form(page, ("decision", "allow"))
        allowed = ada.post(PATH, data=[*form.fields, ("decision", "allow")], allow_redirects=False)
        code = parse_qs(urlsplit(allowed.headers["Location"]).query)["code"][0]
        wanted_token = {"grant_type": "authorization_code", "client_id": client_id, "code": code}
        token = ada.post("/api/auth/mcp/token", data=wanted_token | {"code_verifier": VERIFIER})
        assert token.json()["access_token"]
        assert register(Browser(server, "203.0.113.10"))[0] == 201


def flood(attacker: Browser) -> None:
    """Until the limit of the address stops it."""
    statuses = []
    while 429 not in statuses and len(statuses) < 200:
        statuses.append(register(attacker)[0])
    assert statuses.count(201) >= 30, statuses
