"""The whole way of an app, in a real browser: from registering to the 401 after its user threw it out."""

import json
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import Request, urlopen

import pytest
from django.conf import settings
from playwright.sync_api import Browser

from apps.orgs.models import Organization
from tests.accounts.visitors import PASSWORD, code, give_second_factor, person
from tests.browser.conftest import STEP, Visit
from tests.oauthmcp.database_scan import find_in_database
from tests.oauthmcp.grants import CHALLENGE, VERIFIER, make_member
from tests.patience import patience

TARGETS = [
    "http://127.0.0.1:49321/callback",
    pytest.param("http://localhost:49321/callback", marks=pytest.mark.soak),
    pytest.param("http://[::1]:49321/callback", marks=pytest.mark.soak),
    pytest.param("https://app.example.com/oauth/callback", marks=pytest.mark.soak),
    "cursor://anysphere.cursor-retrieval/oauth/callback",
]


def send(address: str, body: dict[str, Any], **headers: str) -> tuple[int, Any]:
    """Posts JSON as a program would. Returns the status and the JSON of the answer."""
    request = Request(address, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    try:
        with urlopen(request, timeout=patience()) as answer:
            return answer.status, json.load(answer)
    except HTTPError as refused:
        with refused:
            return refused.code, json.load(refused)


def allow(visit: Visit, redirect_uri: str) -> str:
    """Presses Allow. Returns the address that the browser goes to, past every policy; nobody answers there."""
    seen: list[str] = []
    visit.page.on("request", lambda request: seen.append(request.url))
    visit.page.on("response", lambda response: seen.append(response.headers.get("location", "")))
    with visit.page.expect_event("requestfailed") as failed:
        visit.page.click("[value=allow]")
    if redirect_uri.startswith("http"):
        assert failed.value.url.startswith(redirect_uri)
        assert failed.value.failure == "net::ERR_CONNECTION_REFUSED"
    return next(address for address in seen if address.startswith(redirect_uri))


@pytest.mark.spec("OAuth 2.1 §4.1")
@pytest.mark.parametrize("redirect_uri", TARGETS)
def test_an_app_is_let_in_asks_refreshes_and_is_thrown_out(visit: Visit, chromium: Browser, redirect_uri: str) -> None:
    page, origin = visit.page, visit.origin
    user = person()
    give_second_factor(user)
    for name in ("Harbour", "Lighthouse"):
        make_member(Organization.objects.create(slug=name.lower(), name=name), user.email)

    # It registers, and sends its user here.
    status, client = send(
        f"{origin}/api/auth/mcp/register", {"redirect_uris": [redirect_uri], "client_name": "Release assistant"}
    )
    assert status == 201
    visit.open(
        "/api/auth/mcp/authorize?"
        + urlencode({
            "response_type": "code", "client_id": client["client_id"], "redirect_uri": redirect_uri, "state": "s&t te",
            "code_challenge": CHALLENGE, "code_challenge_method": "S256", "resource": f"{settings.PUBLIC_URL}/mcp",
        })
    )  # fmt: skip

    # The user signs in with both factors, chooses, and allows.
    visit.send(login=user.email, password=PASSWORD)
    visit.send(code=code(STEP))
    assert "Release assistant" in page.locator("h1").inner_text()
    page.check("text=Lighthouse")
    page.uncheck("[value='config:read']")
    address = allow(visit, redirect_uri)
    answer = parse_qs(urlsplit(address).query)
    assert set(answer) == {"code", "state", "iss"}
    assert answer["state"] == ["s&t te"]
    assert answer["iss"] == [settings.PUBLIC_URL]
    assert not [text for text in visit.complaints if "Content Security Policy" in text]

    # It redeems the code, and asks.
    secret = {"client_id": client["client_id"], "client_secret": client["client_secret"]}
    status, token = send(
        f"{origin}/api/auth/mcp/token",
        {"grant_type": "authorization_code", "code": answer["code"][0], "code_verifier": VERIFIER, **secret},
    )
    assert status == 200
    assert token["scope"].split() == ["account:read", "apps:read", "files:read", "docs:read"]

    def ask(tool: str, access_token: str) -> tuple[int, Any]:
        return send(f"{origin}/api/v1/tools/{tool}", {}, Authorization=f"Bearer {access_token}")

    status, account = ask("get_account", token["access_token"])
    assert status == 200
    assert account["organization"]["slug"] == "lighthouse"
    assert account["viewer"]["email"] == user.email
    assert account["scopes"] == token["scope"].split()
    assert ask("list_org_secrets", token["access_token"])[0] == 403

    # It refreshes.
    status, fresh = send(
        f"{origin}/api/auth/mcp/token",
        {"grant_type": "refresh_token", "refresh_token": token["refresh_token"], **secret},
    )
    assert status == 200
    assert ask("list_apps", fresh["access_token"])[0] == 200
    secrets = [answer["code"][0], client["client_secret"], VERIFIER]
    for each in (token, fresh):
        secrets += [each["access_token"], each["refresh_token"]]
    assert find_in_database(secrets) == []

    # Its user throws it out.
    page = chromium.new_page(storage_state=page.context.storage_state())  # the other one is on its way to the app
    page.goto(f"{origin}/account/clients/")
    assert "Lighthouse" in page.locator("main").inner_text()
    page.click("main button:has-text('Disconnect')")
    page.wait_for_selector("text=is disconnected")
    page.close()
    for each in (token, fresh):
        assert ask("get_account", each["access_token"])[0] == 401
        status, refused = send(
            f"{origin}/api/auth/mcp/token",
            {"grant_type": "refresh_token", "refresh_token": each["refresh_token"], **secret},
        )
        assert (status, refused["error"]) == (400, "invalid_grant")
