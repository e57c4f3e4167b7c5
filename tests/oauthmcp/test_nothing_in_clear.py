"""No code, token, secret or verifier stands in clear in the database or in a log line."""

import logging
from typing import Any

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache

from apps.net.encryption import hash_of
from apps.oauthmcp.models import Application, Authorization
from apps.web import logs
from tests.factories import Fill
from tests.oauthmcp.database_scan import find_in_database
from tests.oauthmcp.grants import REDIRECT_URI, VERIFIER, make_client, make_code, make_member
from tests.oauthmcp.programs import basic, redeem, refresh, revoke

SECRET = "a-client-secret-that-is-long-enough-to-be-found"


@pytest.fixture
def flow(acme: Fill) -> dict[str, Any]:
    """Everything secret that passes in a client's life, the refused and the repeated included."""
    client, member = make_client("Confidential", secret=SECRET), make_member(acme.organization)
    header = basic(client.client_id, SECRET)
    code, unused = make_code(client, member), make_code(client, member)
    redeem(client, code, header, code_verifier="another-verifier-" + "x" * 43)
    first = redeem(client, code, header, redirect_uri=REDIRECT_URI).json()
    redeem(client, code, header)
    second = refresh(client, first["refresh_token"], header).json()
    again = refresh(client, first["refresh_token"], client_secret=SECRET).json()
    refresh(client, first["refresh_token"], basic(client.client_id, "a-wrong-secret-" + SECRET))
    revoke(client, second["access_token"], header)
    refresh(client, second["refresh_token"], header)
    tokens = [answer[name] for answer in (first, second, again) for name in ("access_token", "refresh_token")]
    assert len(set(tokens)) == 5
    return {"secrets": [code, unused, SECRET, VERIFIER, "another-verifier-", header["authorization"][6:], *tokens]}


@pytest.mark.spec("RFC 9700 §4.14")
def test_the_database_holds_no_secret_in_clear(flow: dict[str, Any]) -> None:
    assert find_in_database(flow["secrets"]) == []
    assert Authorization.objects.exists()
    assert find_in_database([hash_of(SECRET)]) == [f"oauthmcp_application.client_secret: {hash_of(SECRET)[:8]}…"]


def test_the_search_finds_what_is_there(db: None) -> None:
    needle = "needle-in-the-database"
    Application.objects.create(client_id="x", metadata={"nested": [needle]})
    session = SessionStore()
    session["kept"] = needle * 100  # long enough to be compressed
    session.save()
    cache.set("somewhere", {"deep": [needle]})
    assert [place.split(":")[0] for place in find_in_database([needle])] == [
        "django_session.session_data",
        "oauthmcp_application.metadata",
        "porthole_cache.value",
    ]


def test_no_log_line_names_a_secret_even_when_an_operator_asks_for_more(
    db: None, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    caplog.set_level(logging.DEBUG)  # the root logger; the libraries' own stay as apps/web/logs.py says
    flow = request.getfixturevalue("flow")
    lines = [logs.JsonFormatter().format(record) for record in caplog.records]
    assert any("/api/auth/mcp/token" in line for line in lines)
    assert not [line for line in lines for secret in flow["secrets"] if secret in line]
