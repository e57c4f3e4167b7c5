"""Who may ask with one of the two fixed bearers: every condition on its own."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from apps.oauthmcp.bearer import _is_same
from apps.orgs.callers import SCOPES
from tests.api import Api
from tests.factories import Fill

SECRET = "an-end-to-end-secret-of-32-characters-or-more"


@pytest.fixture
def preview(settings: Any, acme: Fill, rival: Fill) -> Api:
    """Porthole in preview, and the bootstrap secret's bearer there."""
    settings.PORTHOLE_ENV, settings.IS_LOCAL = "preview", False
    settings.PUBLIC_URL = "https://porthole.example.com"
    settings.ALLOWED_HOSTS = ["porthole.example.com"]
    settings.ALLOWED_ORIGINS = ["https://porthole.example.com", "https://app.example.com"]
    settings.LOCAL_DEV_BEARER = ""
    settings.E2E_BOOTSTRAP_SECRET, settings.BOOTSTRAP_ORG = SECRET, "acme"
    return Api(bearer=SECRET, host="porthole.example.com")


def authorize(api: Api, authorization: str) -> HttpResponse:
    return api.post("list_apps", authorization=authorization)  # type: ignore[return-value]


def is_refused(response: Any, *, token_was_sent: bool) -> bool:
    challenge = response["WWW-Authenticate"]
    assert challenge.startswith("Bearer ")
    assert "/.well-known/oauth-protected-resource/api/v1" in challenge
    assert f'scope="{" ".join(SCOPES)}"' in challenge
    assert ('error="invalid_token"' in challenge) == token_was_sent
    return response.status_code == 401 and response.json()["code"] == "unauthorized"


def test_the_local_bearer_sees_its_organization_and_nobody_elses(api: Api, acme: Fill) -> None:
    account = api("get_account")
    assert account["organization"]["id"] == acme.organization.id
    assert account["viewer"] is None
    assert account["scopes"] == list(SCOPES)
    assert [app["id"] for app in api("list_apps")["items"]] == [acme.app.id]


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_schemes_case_does_not_matter(api: Api, scheme: str) -> None:
    assert authorize(api, f"{scheme} porthole-local-dev").status_code == 200


def test_without_a_header_no_token_was_sent(api: Api) -> None:
    api.bearer = None
    assert is_refused(api.post("list_apps"), token_was_sent=False)


@pytest.mark.parametrize(
    "authorization",
    [
        "", "Bearer", "Bearer ", "bearer   ", "porthole-local-dev", "Basic porthole-local-dev",
        "Token porthole-local-dev",
        "Bearerporthole-local-dev", "Bearer\tporthole-local-dev", "DPoP porthole-local-dev",
        "Basic cG9ydGhvbGUtbG9jYWwtZGV2Og==",
    ],
)  # fmt: skip
def test_other_schemes_and_an_empty_token_are_no_token(api: Api, authorization: str) -> None:
    assert is_refused(authorize(api, authorization), token_was_sent=False)


@pytest.mark.parametrize(
    "token",
    [
        "wrong", "porthole-local-de", "porthole-local-devv", "PORTHOLE-LOCAL-DEV", "porthole-local-dev, Bearer x",
        "porthole local dev", '"porthole-local-dev"', "pörthole-local-dev", "porthole-local-dev\xff", "\u20ac",
        "\U0001f511",
        "x" * 8000, "None", "null",
    ],
)  # fmt: skip
def test_another_token_does_not_open(api: Api, token: str) -> None:
    assert is_refused(authorize(api, f"Bearer {token}"), token_was_sent=True)


def test_a_token_elsewhere_is_no_token(api: Api) -> None:
    """RFC 6750 §2.2 and §2.3 are other ways to send one. They end up in logs, and are not offered."""
    api.bearer = None
    assert is_refused(api.post("list_apps?access_token=porthole-local-dev"), token_was_sent=False)
    assert is_refused(api.post("list_apps", {"access_token": "porthole-local-dev"}), token_was_sent=False)
    assert is_refused(api.post("list_apps", cookie="access_token=porthole-local-dev"), token_was_sent=False)


@pytest.mark.parametrize("authorization", ["Bearer", "Bearer ", "Bearer None", "Bearer x"])
def test_an_unset_secret_opens_nothing(api: Api, settings: Any, authorization: str) -> None:
    settings.LOCAL_DEV_BEARER = settings.E2E_BOOTSTRAP_SECRET = settings.BOOTSTRAP_ORG = ""
    assert authorize(api, authorization).status_code == 401
    settings.PORTHOLE_ENV, settings.IS_LOCAL = "preview", False
    assert authorize(api, authorization).status_code == 401


@pytest.mark.parametrize("environment", ["preview", "production"])
def test_the_local_bearer_works_in_local_only(api: Api, settings: Any, environment: str) -> None:
    settings.PORTHOLE_ENV, settings.IS_LOCAL = environment, False
    assert is_refused(api.post("list_apps"), token_was_sent=True)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_the_local_bearer_opens_for_loopback_peers(api: Api, address: str) -> None:
    api.client.defaults["REMOTE_ADDR"] = address
    assert api.post("list_apps").status_code == 200


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "192.168.1.1", "8.8.8.8", "fe80::1", "::ffff:10.0.0.1", "::", "0.0.0.0", "", "unix:"]
)
def test_the_local_bearer_does_not_open_for_other_peers(api: Api, address: str) -> None:
    api.client.defaults["REMOTE_ADDR"] = address
    assert is_refused(api.post("list_apps"), token_was_sent=True)


def test_the_local_bearer_does_not_open_for_a_peer_behind_a_trusted_proxy(api: Api, settings: Any) -> None:
    """What a proxy says of the client makes no peer local."""
    from ipaddress import ip_network

    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    api.client.defaults["REMOTE_ADDR"] = "10.0.0.1"
    assert is_refused(api.post("list_apps", x_forwarded_for="127.0.0.1"), token_was_sent=True)


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]", "[::1]:8000", "LOCALHOST"])
def test_the_local_bearer_opens_at_loopback_hosts(api: Api, host: str) -> None:
    assert api.post("list_apps", host=host).status_code == 200


def test_the_local_bearer_does_not_open_at_another_host_that_is_served(api: Api, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    for host in ("porthole.example.com", "localhost.example.com", "10.0.0.1", "127.0.0.1.example.com"):
        assert is_refused(api.post("list_apps", host=host), token_was_sent=True)


@pytest.mark.parametrize(
    "header",
    [
        "Forwarded", "Via", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
        "X-Forwarded-Port",
        "X-Forwarded-Server", "X-Forwarded-Prefix", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP",
        "X-Original-Host", "Forwarded-For",
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", ["127.0.0.1", ""])
def test_the_local_bearer_does_not_open_past_a_proxy(api: Api, header: str, value: str) -> None:
    assert is_refused(api.post("list_apps", **{header: value}), token_was_sent=True)


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example", "http://localhost.evil.example", "http://evil.example/localhost", "null", "", "file://",
        "chrome-extension://localhost", "https://10.0.0.1", "http://[::2]",
    ],
)  # fmt: skip
def test_the_local_bearer_does_not_open_from_a_foreign_page(api: Api, origin: str) -> None:
    assert is_refused(api.post("list_apps", origin=origin), token_was_sent=True)


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "https://localhost", "http://127.0.0.1:5173", "http://[::1]:8080"]
)
def test_the_local_bearer_opens_from_a_local_page(api: Api, origin: str) -> None:
    assert api.post("list_apps", origin=origin).status_code == 200


def test_the_local_bearer_opens_from_an_allowed_page(api: Api, settings: Any) -> None:
    settings.ALLOWED_ORIGINS = ["https://app.example.com"]
    assert api.post("list_apps", origin="https://app.example.com").status_code == 200


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 401), ("same-site", 200), ("same-origin", 200), ("none", 200)]
)
def test_the_local_bearer_does_not_open_across_sites(api: Api, site: str, status: int) -> None:
    assert api.post("list_apps", sec_fetch_site=site).status_code == status


def test_the_local_bearer_of_an_organization_that_is_gone_opens_nothing(api: Api, settings: Any) -> None:
    settings.LOCAL_DEV_ORG = "gone"
    assert is_refused(api.post("list_apps"), token_was_sent=True)


# The bootstrap secret


def test_the_bootstrap_secret_sees_its_organization_in_preview(preview: Api, acme: Fill) -> None:
    assert preview("get_account")["organization"]["id"] == acme.organization.id
    assert preview("get_account")["scopes"] == list(SCOPES)


def test_the_bootstrap_secret_opens_from_anywhere_and_past_proxies(preview: Api) -> None:
    preview.client.defaults["REMOTE_ADDR"] = "203.0.113.9"
    assert preview.post("list_apps", x_forwarded_for="198.51.100.7", via="1.1 proxy").status_code == 200


@pytest.mark.parametrize("environment", ["local", "production"])
def test_the_bootstrap_secret_opens_in_preview_only(preview: Api, settings: Any, environment: str) -> None:
    settings.PORTHOLE_ENV, settings.IS_LOCAL = environment, environment == "local"
    assert is_refused(preview.post("list_apps"), token_was_sent=True)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost:3000", "http://porthole.example.com"]
)
def test_the_bootstrap_secret_does_not_open_from_a_foreign_page(preview: Api, origin: str) -> None:
    assert is_refused(preview.post("list_apps", origin=origin), token_was_sent=True)


@pytest.mark.parametrize("origin", ["https://porthole.example.com", "https://app.example.com"])
def test_the_bootstrap_secret_opens_from_an_allowed_page(preview: Api, origin: str) -> None:
    assert preview.post("list_apps", origin=origin).status_code == 200


@pytest.mark.parametrize("token", [SECRET[:-1], SECRET + "x", SECRET.upper(), "porthole-local-dev", "é" * 40])
def test_another_secret_does_not_open_in_preview(preview: Api, token: str) -> None:
    assert is_refused(authorize(preview, f"Bearer {token}"), token_was_sent=True)


def test_secrets_are_compared_in_constant_time(preview: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr("apps.oauthmcp.bearer.hmac.compare_digest", compare)
    authorize(preview, "Bearer guess")
    assert (b"guess", SECRET.encode()) in compared


def test_the_bearer_check_is_one_query(api: Api, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        assert api.post("no_such_tool").status_code == 404


def test_a_refusal_asks_the_database_nothing(client: Client, db: None, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        response = client.post("/api/v1/tools/list_apps", headers={"authorization": "Bearer wrong"})
        assert response.status_code == 401


def test_an_unset_secret_is_not_the_same_as_an_empty_token() -> None:
    """The header reader drops empty tokens already; this holds by itself."""
    assert not _is_same("", "")
    assert _is_same("a", "a")
