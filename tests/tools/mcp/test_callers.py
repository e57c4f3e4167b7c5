"""Who may ask at POST /mcp, what of, and how often."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.oauthmcp.models import AccessToken
from apps.tools import throttle
from apps.tools.registry import TOOLS
from apps.tools.throttle import Buckets
from tests.api import Api
from tests.factories import Fill
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member
from tests.tools.mcp.speaking import REQUEST, VERSIONS, Mcp, failure, refusal
from tests.tools.test_every_tool import input_for

METADATA = "/.well-known/oauth-protected-resource/mcp"


@pytest.fixture
def member(acme: Fill, rival: Fill) -> Any:
    return make_authorization(make_client(), make_member(acme.organization))


def test_a_missing_token_is_asked_for(mcp: Mcp, settings: Any) -> None:
    mcp.bearer = None
    response = mcp.send("tools/list")
    assert refusal(response) == (401, -32000, None)
    assert response["WWW-Authenticate"] == (
        f'Bearer resource_metadata="{settings.PUBLIC_URL}{METADATA}", '
        'scope="account:read apps:read config:read files:read docs:read"'
    )
    assert response.json()["error"]["data"]["code"] == "unauthorized"


@pytest.mark.parametrize("bearer", ["wrong", "porthole_at_" + "x" * 43, "x" * 5000, "é", "a b", "porthole-local-dev "])
def test_a_token_that_does_not_open_is_refused(mcp: Mcp, bearer: str) -> None:
    mcp.bearer = bearer
    response = mcp.send("tools/list")
    if bearer.strip() == "porthole-local-dev":
        assert response.status_code == 200
        return
    assert refusal(response) == (401, -32000, None)
    assert response["WWW-Authenticate"].startswith('Bearer error="invalid_token", resource_metadata=')
    assert f'{METADATA}"' in response["WWW-Authenticate"]


def test_an_expired_or_foreign_token_is_refused_and_a_good_one_is_not(member: Any, settings: Any) -> None:
    good = make_access_token(member)
    for version in VERSIONS:
        assert Mcp(good, version)("tools/list")["tools"]
    other_resource = make_access_token(member, resource=["https://elsewhere.example"])
    for token in (make_access_token(member, expires=timezone.now() - timedelta(seconds=1)), other_resource):
        for version in VERSIONS:
            assert refusal(Mcp(token, version).send("tools/list")) == (401, -32000, None)
    member.membership.delete()
    assert not AccessToken.objects.exists()
    assert refusal(Mcp(good).send("tools/list")) == (401, -32000, None)


def test_a_token_is_not_taken_from_the_address_or_the_body(mcp: Mcp) -> None:
    token, mcp.bearer = mcp.bearer, None
    for path in (f"/mcp?access_token={token}", f"/mcp?token={token}&authorization=Bearer%20{token}"):
        message = mcp.message("tools/list", {"access_token": token, "authorization": f"Bearer {token}"})
        response = mcp.post(message, path=path, **mcp.headers(message))
        assert refusal(response) == (401, -32000, None)
        assert "invalid_token" not in response["WWW-Authenticate"]


def test_a_narrowed_token_is_told_the_scope_that_the_tool_needs(member: Any) -> None:
    narrowed = make_access_token(member, scope="docs:read")
    for version in VERSIONS:
        mcp = Mcp(narrowed, version)
        assert {tool["name"] for tool in mcp("tools/list")["tools"]} == {"list_templates", "search_docs"}
        assert "isError" not in mcp.tool("list_templates")
        response = mcp.send("tools/call", {"name": "list_apps", "arguments": {"limit": "7"}})
        assert refusal(response) == (403, -32000, None)
        assert response["WWW-Authenticate"].startswith('Bearer error="insufficient_scope", resource_metadata=')
        assert f'{METADATA}", scope="apps:read"' in response["WWW-Authenticate"]


@pytest.mark.parametrize("name", TOOLS)
def test_another_organizations_things_are_not_told(mcp: Mcp, acme: Fill, rival: Fill, name: str) -> None:
    theirs = mcp.tool(name, **input_for(name, rival))
    said = json.dumps(theirs)
    if "applicationId" in TOOLS[name].input.fields:
        nobodys = mcp.tool(name, **input_for(name, rival) | {"applicationId": "app_" + "0" * 26})
        assert failure(theirs) == failure(nobodys)
    assert rival.organization.id not in said
    assert "rival" not in said.lower()


def test_one_token_has_one_allowance_at_both_doors(member: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(throttle, "_buckets", Buckets(burst=4, per_second=0.01))
    first, refreshed, other = (
        make_access_token(member),
        make_access_token(member),
        make_access_token(make_authorization(make_client("Other"), member.membership)),
    )
    http = Api(first)
    assert http.post("list_templates").status_code == 200
    assert Mcp(refreshed).send("tools/list").status_code == 200
    assert Mcp(first, "2025-11-25").send("ping").status_code == 200
    assert http.post("list_templates").status_code == 200
    for version in VERSIONS:
        response = Mcp(refreshed, version).send("tools/list")
        assert refusal(response) == (429, -32000, None)
        assert int(response["Retry-After"]) > 0
    assert http.post("list_templates").status_code == 429
    assert Mcp(other).send("tools/list").status_code == 200


def test_refused_callers_use_up_nobodys_allowance(modern: Mcp, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(throttle, "_buckets", Buckets(burst=1, per_second=0.01))
    for _ in range(3):
        assert modern.post(REQUEST, method="GET").status_code == 405
        assert modern.send("tools/list", origin="https://evil.example").status_code == 403
        assert Mcp("wrong").send("tools/list").status_code == 401
    assert modern.post(b"not json").status_code == 400
    assert modern.post(b"not json").status_code == 429
