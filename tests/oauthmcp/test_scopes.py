"""A token opens the tools of its own scopes, and no other tool."""

from typing import Any

import pytest

from apps.orgs.callers import SCOPES
from apps.tools.registry import TOOLS
from tests.api import Api
from tests.factories import Fill
from tests.oauthmcp.grants import make_access_token, make_authorization, make_client, make_member


@pytest.fixture
def with_scopes(api: Api, acme: Fill) -> Any:
    """`with_scopes("apps:read docs:read")`: calls with a token that has these."""
    authorization = make_authorization(make_client(), make_member(acme.organization))
    return lambda scopes: Api(bearer=make_access_token(authorization, scope=scopes))


@pytest.mark.spec("RFC 6750 §3.1")
@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_closed_to_a_token_with_every_scope_but_its_own(with_scopes: Any, name: str) -> None:
    needed = TOOLS[name].scope
    answer = with_scopes(" ".join(scope for scope in SCOPES if scope != needed)).post(name)
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")
    challenge = answer["WWW-Authenticate"]
    assert 'error="insufficient_scope"' in challenge
    assert f'scope="{needed}"' in challenge
    assert "/.well-known/oauth-protected-resource/api/v1" in challenge


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_open_to_a_token_with_its_scope_alone(with_scopes: Any, name: str) -> None:
    assert with_scopes(TOOLS[name].scope).post(name).status_code in (200, 422)


@pytest.mark.parametrize(
    ("scope", "told"),
    [
        ("account:read", ["account:read"]),
        ("docs:read account:read apps:read", ["account:read", "apps:read", "docs:read"]),
        ("account:read admin:write openid", ["account:read"]),
    ],
)
def test_an_account_tells_what_its_token_may(with_scopes: Any, scope: str, told: list[str]) -> None:
    assert with_scopes(scope)("get_account")["scopes"] == told


@pytest.mark.parametrize("scope", ["", "apps", "APPS:READ", "apps:read,account:read"])
def test_what_is_no_scope_opens_nothing(with_scopes: Any, scope: str) -> None:
    assert with_scopes(scope).post("list_apps").status_code == 403
