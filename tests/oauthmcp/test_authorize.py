"""The authorization endpoint: what it checks before anybody is asked, and how an app hears of it."""

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from allauth.mfa.totp.internal import auth
from django.core.cache import cache
from django.test import Client

from apps.oauthmcp.models import DOCS_CLIENT, DOCS_REDIRECT_PATH, Application, Grant
from apps.oauthmcp.pending import KEY
from tests.accounts.visitors import code as totp_code
from tests.accounts.visitors import give_second_factor, said, sign_in, visitor
from tests.factories import Fill
from tests.oauthmcp.authorizing import PATH, STATE, ask, came_back, decide, handle_of, sent_to, wanted
from tests.oauthmcp.grants import CHALLENGE, REDIRECT_URI, VERIFIER, make_client, make_member

ISSUER = "http://localhost:8000"
TARGETS = [
    "http://127.0.0.1:8123/callback",
    "http://localhost:8123/callback",
    "http://[::1]:8123/callback",
    "https://app.example/callback",
    "https://app.example:8443/callback?tenant=7&x=%2F",
    "cursor://anysphere.cursor-retrieval/oauth/callback",
    "com.example.app:/callback",
]

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(acme: Fill) -> Client:
    """Of somebody who is signed in, and a member of acme only."""
    return visitor(make_member(acme.organization).user)


# A request that is in order


@pytest.mark.spec("RFC 6749 §4.1.2", "RFC 9207 §2")
@pytest.mark.parametrize("uri", TARGETS)
def test_allowing_sends_a_code_with_state_and_issuer(browser: Client, uri: str) -> None:
    client = make_client(redirect_uris=uri)
    page = ask(browser, client, redirect_uri=uri)
    assert page.status_code == 200
    answer = decide(browser, page)
    assert answer["Location"].startswith(uri)
    values = came_back(answer)
    own = dict(parse_qsl(urlsplit(uri).query))
    assert {name: values[name] for name in own} == own
    assert (values["state"], values["iss"]) == (STATE, ISSUER)
    assert set(values) == {"code", "state", "iss", *own}
    assert answer["Cache-Control"] == "no-store"
    assert answer["Referrer-Policy"] == "no-referrer"


@pytest.mark.spec("RFC 6749 §4.1.2.1", "RFC 9207 §2")
@pytest.mark.parametrize("uri", TARGETS)
def test_denying_says_so_with_state_and_issuer(browser: Client, uri: str) -> None:
    page = ask(browser, make_client(redirect_uris=uri), redirect_uri=uri)
    answer = decide(browser, page, "deny")
    assert answer["Location"].startswith(uri)
    values = came_back(answer)
    assert (values["error"], values["state"], values["iss"]) == ("access_denied", STATE, ISSUER)
    assert not Grant.objects.exists()


@pytest.mark.spec("RFC 6749 §4.1.3", "RFC 7636 §4.6")
def test_the_code_opens_with_its_verifier_what_was_allowed(browser: Client) -> None:
    client = make_client()
    values = came_back(decide(browser, ask(browser, client), scope=["apps:read", "docs:read"]))
    form = {
        "grant_type": "authorization_code", "client_id": client.client_id, "code": values["code"],
        "code_verifier": VERIFIER, "redirect_uri": REDIRECT_URI,
    }  # fmt: skip
    answer = visitor().post("/api/auth/mcp/token", urlencode(form), content_type="application/x-www-form-urlencoded")
    assert answer.status_code == 200, answer.content
    assert answer.json()["scope"] == "apps:read docs:read"


@pytest.mark.spec("RFC 6749 §10.5")
def test_no_code_is_stored_so_that_it_could_be_read(browser: Client) -> None:
    code = came_back(decide(browser, ask(browser, make_client())))["code"]
    assert code not in str(browser.session[KEY])
    assert Grant.objects.get().code != code


@pytest.mark.spec("RFC 8252 §7.3")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_any_port_of_a_loopback_address_will_do(browser: Client, host: str) -> None:
    client = make_client(redirect_uris=f"http://{host}/callback")
    uri = f"http://{host}:53124/callback"
    assert sent_to(decide(browser, ask(browser, client, redirect_uri=uri))) == uri


@pytest.mark.spec("RFC 6749 §3.1.2.3")
def test_the_only_redirect_uri_need_not_be_said(browser: Client) -> None:
    assert sent_to(decide(browser, ask(browser, make_client(), redirect_uri=None))) == REDIRECT_URI
    assert Grant.objects.get().redirect_uri == REDIRECT_URI


@pytest.mark.spec("RFC 6749 §4.1.1")
def test_a_request_without_state_is_answered_without(browser: Client) -> None:
    assert set(came_back(decide(browser, ask(browser, make_client(), state=None)))) == {"code", "iss"}


@pytest.mark.spec("RFC 6749 §3.1.2", "RFC 9207 §2.4")
def test_a_query_of_the_apps_own_cannot_be_taken_for_the_answer(browser: Client) -> None:
    uri = "https://app.example/cb?code=mine&keep=%2Fa+b&iss=https%3A%2F%2Fevil.example&st%61te=mine&error=mine"
    client = make_client(redirect_uris=uri)
    answer = decide(browser, ask(browser, client, redirect_uri=uri))
    assert answer["Location"].startswith("https://app.example/cb?keep=%2Fa+b&code=")
    values = came_back(answer)
    assert values["code"] != "mine"
    assert (values["state"], values["iss"], "error" in values) == (STATE, ISSUER, False)


@pytest.mark.spec("RFC 6749 §3.3")
@pytest.mark.parametrize(
    ("scope", "granted"),
    [
        (None, "account:read apps:read config:read files:read docs:read"),
        ("openid offline_access apps:read", "apps:read"),
        ("docs:read apps:read docs:read", "apps:read docs:read"),
    ],
)
def test_what_is_known_of_the_scope_is_asked_for(browser: Client, scope: str | None, granted: str) -> None:
    page = ask(browser, make_client(), scope=scope)
    assert [row[0] for row in page.context["scopes"]] == granted.split()
    decide(browser, page)
    assert Grant.objects.get().scope == granted


@pytest.mark.spec("RFC 8707 §2")
@pytest.mark.parametrize("spelling", [None, "", "/", "/mcp", "/mcp/", "/api/v1", "/api/v1/"])
def test_every_spelling_of_the_resource_binds_to_the_same_one(browser: Client, spelling: str | None) -> None:
    resource = None if spelling is None else ISSUER + spelling
    came_back(decide(browser, ask(browser, make_client(), resource=resource)))
    assert Grant.objects.get().resource == [ISSUER]


def test_our_own_client_is_asked_about_too_and_is_no_stranger(browser: Client) -> None:
    page = ask(browser, DOCS_CLIENT, redirect_uri=ISSUER + DOCS_REDIRECT_PATH)
    assert "part of Porthole itself" in said(page)
    assert "Nobody has checked it" not in said(page)
    assert sent_to(decide(browser, page)) == ISSUER + DOCS_REDIRECT_PATH


# Errors that go back to the app


@pytest.mark.parametrize("is_signed_in", [True, False])
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        pytest.param({"response_type": None}, "invalid_request", marks=pytest.mark.spec("RFC 6749 §3.1.1")),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_type": "xcode", "code_challenge": None}, "unsupported_response_type"),
        pytest.param({"code_challenge": None}, "invalid_request", marks=pytest.mark.spec("RFC 7636 §4.4.1")),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": "too-short"}, "invalid_request"),
        ({"code_challenge": CHALLENGE + "="}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        pytest.param({"scope": "openid"}, "invalid_scope", marks=pytest.mark.spec("RFC 6749 §3.3")),
        pytest.param({"resource": "https://other.example"}, "invalid_target", marks=pytest.mark.spec("RFC 8707 §2")),
        ({"resource": "/mcp"}, "invalid_target"),
        ({"request": "a.b.c"}, "request_not_supported"),
        ({"request_uri": "https://app.example/r"}, "request_uri_not_supported"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"response_mode": "form_post"}, "invalid_request"),
    ],
)
@pytest.mark.spec("RFC 6749 §4.1.2.1", "RFC 9207 §2")
def test_what_is_wrong_goes_to_the_app_before_anybody_signs_in(
    acme: Fill, changes: dict[str, str | None], error: str, is_signed_in: bool
) -> None:
    browser = visitor(make_member(acme.organization).user if is_signed_in else None)
    answer = ask(browser, make_client(), **changes)
    assert sent_to(answer) == REDIRECT_URI
    values = came_back(answer)
    assert (values["error"], values["state"], values["iss"]) == (error, STATE, ISSUER)
    assert values["error_description"].isascii()
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.spec("RFC 8707 §2")
def test_one_wrong_resource_among_right_ones_is_refused() -> None:
    pairs = [*wanted(make_client()).items(), ("resource", "https://other.example")]
    assert came_back(visitor().get(f"{PATH}?{urlencode(pairs)}"))["error"] == "invalid_target"


@pytest.mark.spec("OpenID Connect Core §3.1.2.6")
def test_a_page_is_never_shown_to_who_asks_for_none(browser: Client) -> None:
    client = make_client()
    for visiting, error in ((visitor(), "login_required"), (browser, "consent_required")):
        answer = ask(visiting, client, prompt="none")
        assert (came_back(answer)["error"], came_back(answer)["iss"]) == (error, ISSUER)
    assert came_back(ask(browser, client, prompt="none", scope="openid"))["error"] == "invalid_scope"


@pytest.mark.parametrize("changes", [{"prompt": "login"}, {"prompt": "create"}, {"approval_prompt": "auto"}])
def test_the_page_is_always_shown(browser: Client, changes: dict[str, str]) -> None:
    client = make_client(skip_authorization=True)
    decide(browser, ask(browser, client))
    page = ask(browser, client, **changes)
    assert page.status_code == 200
    assert handle_of(page)


def test_parameters_cannot_become_what_the_server_knows_of_a_request(browser: Client) -> None:
    names = ["client", "user", "membership", "grant", "scopes", "extra_credentials", "using_default_redirect_uri"]
    query = wanted(make_client(), redirect_uri=None) | dict.fromkeys(names, "mine")
    page = browser.get(PATH, query)
    assert page.status_code == 200
    assert came_back(decide(browser, page))["code"]


# Errors that no app hears of


@pytest.mark.spec("RFC 6749 §4.1.2.1")
@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "unknown"}, {"client_id": None}, {"client_id": "x" * 4000},
        {"client_id": "https://app.example/client.json"},
    ],
)  # fmt: skip
def test_an_unknown_app_gets_a_page_that_says_what_to_do(changes: dict[str, str | None]) -> None:
    answer = ask(None, make_client(), **changes)
    assert answer.status_code == 400
    assert "remove Porthole from its connections, and add it again" in said(answer)
    assert "Location" not in answer.headers


@pytest.mark.spec("RFC 6749 §3.1.2.4")
@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/callback", "http://127.0.0.1:8123/callback/", "http://127.0.0.1:8123/callback?x=1",
        "http://127.0.0.1:8123/callback#x", "http://127.0.0.1:8123@evil.example/callback", "https://127.0.0.1/callback",
        "http://localhost:8123/callback", "javascript:alert(1)", "//evil.example", "callback", "http://[", "x" * 4000,
        "http://127.0.0.1:99999999/callback", "http://127.0.0.1:8123\\@evil.example/callback",
        "http://127.0.0.1:8123/callback\r\nX-Evil: 1",
    ],
)  # fmt: skip
def test_nobody_is_sent_to_an_address_that_is_not_the_apps_own(browser: Client, uri: str) -> None:
    answer = ask(browser, make_client(), redirect_uri=uri)
    assert answer.status_code == 400
    assert "an address that is not its own" in said(answer)
    assert "Location" not in answer.headers
    assert REDIRECT_URI not in answer.content.decode()
    assert "evil.example" not in answer.content.decode()


@pytest.mark.spec("RFC 6749 §3.1.2.3")
def test_of_several_redirect_uris_one_must_be_said() -> None:
    client = make_client(redirect_uris=f"{REDIRECT_URI} https://app.example/cb")
    assert ask(None, client, redirect_uri=None).status_code == 400


@pytest.mark.parametrize("changes", [{}, {"scope": "openid"}])
def test_an_address_that_is_not_allowed_any_more_is_not_used(changes: dict[str, str]) -> None:
    client = make_client(redirect_uris="http://evil.example/cb")
    answer = ask(None, client, redirect_uri=None, **changes)
    assert (answer.status_code, "Location" in answer.headers) == (400, False)


@pytest.mark.parametrize(
    "query",
    [
        "client_id=a&client_id=b", "state=%00", "%00=1", "client_id=%FF", "state=" + "x" * 5000, "a=&" * 60,
        "x=" + "y" * 9000,
    ],
)  # fmt: skip
@pytest.mark.spec("RFC 6749 §3.1")
def test_a_query_that_cannot_be_read_gets_a_page(query: str) -> None:
    answer = visitor().get(f"{PATH}?{query}")
    assert answer.status_code == 400
    assert "cannot be read" in said(answer)
    assert answer["Referrer-Policy"] == "no-referrer"


def test_what_somebody_else_wrote_into_an_address_is_text_on_the_page() -> None:
    answer = visitor().get(f"{PATH}?<script>=1&<script>=2")
    assert "&lt;script&gt; comes twice." in answer.content.decode()


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_other_methods_get_a_page(method: str) -> None:
    answer = getattr(visitor(), method)(PATH)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, POST")
    assert "for browsers" in said(answer)


def test_head_is_answered_like_get(browser: Client) -> None:
    client = make_client()
    assert browser.head(PATH, wanted(client)).status_code == 200
    assert browser.head(PATH, {"client_id": "unknown"}).status_code == 400


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("handle=a", "application/x-www-form-urlencoded"), ("{", "application/json"), ("x", "multipart/form-data"),
        ("--x", "multipart/form-data; boundary=x"), ("&a=%00%FF" * 2000, "application/x-www-form-urlencoded"),
        ("\xff\x00", "application/x-www-form-urlencoded; charset=utf-16"), ("", "text/plain"),
    ],
)  # fmt: skip
def test_a_form_that_is_none_is_the_senders_mistake(browser: Client, body: str, content_type: str) -> None:
    assert browser.post(PATH, body, content_type=content_type).status_code == 400


@pytest.mark.parametrize("query", ["state=\xff", "state=\xc3\xa9", "&&&=&;", "client_id", "=", "%", "%zz=1"])
def test_an_odd_query_is_the_senders_mistake(browser: Client, query: str) -> None:
    usual = urlencode(wanted(make_client(), state=None))
    assert browser.get(PATH, QUERY_STRING=query).status_code == 400
    assert browser.get(PATH, QUERY_STRING=f"{usual}&{query}").status_code in (200, 400)


# Signing in on the way


def test_signing_in_leads_back_to_the_question(acme: Fill) -> None:
    make_member(acme.organization)
    browser, client = visitor(), make_client()
    answer = ask(browser, client)
    assert answer.status_code == 302
    assert not answer.cookies  # no row is kept for a stranger
    assert _through_sign_in(browser, answer).context["name"] == client.name


def test_a_second_factor_and_a_long_request_lead_back_too(acme: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "yield_hotp_counters_from_time", lambda: iter([57_000_000]))
    give_second_factor(make_member(acme.organization).user)
    for state in ("short", "&" * 2000, "s" * 4000):
        browser, client = visitor(), make_client()
        page = _through_sign_in(browser, ask(browser, client, state=state), totp_code(57_000_000))
        assert came_back(decide(browser, page, "deny"))["state"] == state
        browser.session.flush()
        cache.clear()  # a code works once


def _through_sign_in(browser: Client, answer: Any, second: str | None = None) -> Any:
    assert urlsplit(answer["Location"]).path == "/account/login/"
    assert len(answer["Location"]) < 8000
    assert browser.get(answer["Location"]).status_code == 200
    next = dict(parse_qsl(urlsplit(answer["Location"]).query))["next"]
    answer = sign_in(browser, next=next)
    if second:
        assert answer["Location"].startswith("/account/second-factor/sign-in/")
        answer = browser.post(answer["Location"], {"code": second})
    assert answer["Location"].startswith(PATH)
    return browser.get(answer["Location"])


def test_long_requests_of_strangers_are_not_kept_without_end(settings: Any) -> None:
    settings.RATE_LIMITS = True
    client = make_client()
    statuses = [ask(None, client, state="s" * 4000).status_code for _ in range(32)]
    assert (statuses[0], statuses[-1]) == (302, 429)
    assert ask(None, client).status_code == 302


def test_somebody_who_is_switched_off_is_not_signed_in(acme: Fill) -> None:
    user = make_member(acme.organization).user
    browser, client = visitor(user), make_client()
    page = ask(browser, client)
    user.is_active = False
    user.save()
    assert decide(browser, page).status_code == 400
    assert ask(browser, client).status_code == 302
    assert not Grant.objects.exists()


def test_using_another_account_signs_out_and_leads_back(browser: Client, rival: Fill) -> None:
    other = make_member(rival.organization, "bob@example.com")
    for state in ("short", "s" * 4000):
        page = ask(browser, make_client(), state=state)
        answer = decide(browser, page, "switch")
        assert "_auth_user_id" not in browser.session
        next = dict(parse_qsl(urlsplit(answer["Location"]).query))["next"]
        answer = sign_in(browser, other.user.email, next=next)
        page = browser.get(answer["Location"])
        assert [one.pk for one in page.context["memberships"]] == [other.pk]
        assert came_back(decide(browser, page))["state"] == state


def test_first_use_is_noted_so_that_the_client_is_not_forgotten(browser: Client) -> None:
    client = make_client()
    decide(browser, ask(browser, client))
    assert Application.objects.get(pk=client.pk).authorized_at is not None
