"""What people see in a browser: the first page, the reference, and pages that say what went wrong."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.test import Client, RequestFactory

from apps.oauthmcp.models import DOCS_CLIENT, DOCS_REDIRECT_PATH, Application
from apps.orgs.callers import SCOPES
from apps.tools import views
from apps.tools.registry import TOOLS
from apps.web import errors
from apps.web.middleware import CONTENT_SECURITY_POLICY

JARGON = re.compile(r"\b(traceback|exception|django|csrf|http_host|wsgi|stack|null|none)\b", re.IGNORECASE)


class Markup(HTMLParser):
    """Collects what a page points at, what it carries inline, and its words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.words: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        names = dict(attributes)
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attributes if name in ("href", "src", "action")]
        self.inline += [name for name in names if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in names):
            self.inline.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture
def browser(db: None) -> Client:
    return Client(raise_request_exception=False, headers={"host": "localhost"})


def test_the_first_page_says_what_this_is_and_what_can_be_asked(browser: Client) -> None:
    answer = browser.get("/")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<title>Porthole: look into your deployments</title>" in page
    for tool in TOOLS.values():
        assert f"<code>{tool.name}</code>" in page
    assert {"/api/v1/docs", "/api/v1/openapi.json", "/account/login/", "/account/tokens/"} <= set(
        Markup(page).addresses
    )


def test_the_first_page_shows_a_call_with_the_usual_key_and_no_other(browser: Client, settings: Any) -> None:
    assert "Bearer porthole-local-dev" in browser.get("/").content.decode()
    assert "http://localhost/api/v1/tools/list_apps" in browser.get("/").content.decode()
    for key in ("", "chosen-by-somebody"):
        settings.LOCAL_DEV_BEARER = key
        assert "Bearer YOUR_TOKEN" in browser.get("/").content.decode()


def test_the_first_page_tells_agents_the_address_as_clients_find_it_in_the_metadata(
    browser: Client, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://porthole.example.com"
    assert "<code>https://porthole.example.com/mcp</code>" in browser.get("/").content.decode()
    resource = browser.get("/.well-known/oauth-protected-resource/mcp").json()["resource"]
    assert resource == "https://porthole.example.com/mcp"


def test_the_reference_opens_and_takes_everything_from_here(browser: Client) -> None:
    answer = browser.get("/api/v1/docs")
    assert answer.status_code == 200
    assert "<title>API reference · Porthole</title>" in answer.content.decode()
    assert "script-src 'self';" in answer["Content-Security-Policy"]
    assert "default-src 'none';" in answer["Content-Security-Policy"]


def test_the_reference_asks_as_the_client_that_is_there_from_the_start(browser: Client, settings: Any) -> None:
    settings.PUBLIC_URL = "https://porthole.example.com"
    page = browser.get("/api/v1/docs").content.decode()
    script = Path(finders.find("porthole/api_docs.js")).read_text()
    assert 'data-issuer="https://porthole.example.com"' in page
    assert f'data-scopes="{" ".join(SCOPES)}"' in page
    assert f'clientId: "{DOCS_CLIENT}"' in script
    assert f"${{here}}{DOCS_REDIRECT_PATH}`" in script
    assert Application.objects.get(client_id=DOCS_CLIENT).client_type == "public"


@pytest.mark.spec("RFC 9700 §4.2.4")
def test_the_page_that_gets_the_code_tells_it_to_nobody_and_keeps_nothing(browser: Client) -> None:
    answer = browser.get(f"{DOCS_REDIRECT_PATH}?code=the-code&state=the-state&error_description=words")
    assert answer.status_code == 200
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["Cache-Control"] == "no-store"
    assert answer["Content-Security-Policy"] == views.DOCS_POLICY
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert not [word for word in ("the-code", "the-state", "words") if word in answer.content.decode()]


def test_the_reference_and_its_sign_in_need_no_session(
    client: Client, django_assert_num_queries: Any, db: None
) -> None:
    client.cookies["sessionid"] = "x" * 32
    for address in ("/api/v1/docs", DOCS_REDIRECT_PATH):
        with django_assert_num_queries(0):
            answer = client.get(address)
        assert answer.cookies == {}


@pytest.mark.parametrize("address", ["/", "/api/v1/docs", "/api/v1/docs/signed-in", "/nothing-here", "/account/login/"])
def test_a_page_points_at_nothing_outside_and_carries_no_script_or_style(browser: Client, address: str) -> None:
    page = Markup(browser.get(address).content.decode())
    assert page.addresses
    # An editor's own scheme opens that, and asks no site for anything.
    own = r"(/(?!/)|#|cursor://anysphere\.cursor-deeplink/mcp/install\?|vscode:mcp/install\?)"
    assert [outside for outside in page.addresses if not re.match(own, outside)] == []
    assert page.inline == []


@pytest.mark.parametrize("address", ["/", "/nothing-here", "/account/login/"])
def test_a_page_has_the_strict_policy(browser: Client, address: str) -> None:
    assert browser.get(address)["Content-Security-Policy"] == CONTENT_SECURITY_POLICY


@pytest.mark.parametrize("address", ["/", "/api/v1/docs", "/api/v1/docs/signed-in", "/nothing-here"])
def test_every_file_that_a_page_asks_for_is_there(browser: Client, address: str) -> None:
    page = Markup(browser.get(address).content.decode())
    files = [found for found in page.addresses if found.startswith("/static/")]
    assert files
    for file in files:
        assert finders.find(file.removeprefix("/static/")), file


def test_the_stylesheet_asks_nobody_for_anything() -> None:
    stylesheet = Path(finders.find("porthole/porthole.css")).read_text()
    assert "@import" not in stylesheet
    assert "url(" not in stylesheet


def test_an_address_that_is_not_there_says_so_with_the_requests_id(browser: Client) -> None:
    answer = browser.get("/nothing-here", headers={"x-request-id": "abc-123"})
    assert answer.status_code == 404
    assert "There is nothing at this address" in answer.content.decode()
    assert "<code>abc-123</code>" in answer.content.decode()
    assert answer["X-Request-Id"] == "abc-123"


def test_an_unknown_host_gets_a_page_too(browser: Client) -> None:
    answer = browser.get("/", headers={"host": "elsewhere.example"})
    assert answer.status_code == 400
    assert answer["X-Request-Id"] in answer.content.decode()
    assert "elsewhere.example" not in answer.content.decode()


@pytest.mark.parametrize(
    ("view", "status", "title"),
    [
        (errors.permission_denied, 403, "Not allowed"),
        (errors.csrf_failure, 403, "Not allowed"),
        (errors.server_error, 500, "Something went wrong"),
    ],
)
def test_an_error_is_told_in_plain_words(rf: RequestFactory, view: Any, status: int, title: str) -> None:
    request = rf.get("/account/")
    request.id = "abc-123"  # type: ignore[attr-defined]
    answer = view(request)
    page = answer.content.decode()
    assert answer.status_code == status
    assert f"<title>{title} · Porthole</title>" in page
    assert "<code>abc-123</code>" in page
    assert not JARGON.search(" ".join(Markup(page).words))


def test_nothing_of_the_request_becomes_markup(browser: Client) -> None:
    inside = "<script>alert(1)</script>"
    for address in (f"/{inside}", f"/?q={inside}", f"/nothing?next={inside}"):
        answer = browser.get(address, headers={"x-request-id": inside, "referer": inside, "user-agent": inside})
        assert inside not in answer.content.decode()
        assert inside not in answer["X-Request-Id"]


def test_what_a_tool_says_of_itself_is_shown_as_text(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(TOOLS["list_apps"]), "__doc__", "List <b>apps</b>.")
    page = browser.get("/").content.decode()
    assert "List &lt;b&gt;apps&lt;/b&gt;." in page
