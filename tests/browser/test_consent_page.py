"""Letting an app in, in a real browser: the answer gets past the policies to where it should."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from apps.orgs.models import Organization
from tests.accounts.visitors import PASSWORD, person
from tests.browser.conftest import Visit
from tests.oauthmcp.authorizing import PATH, wanted
from tests.oauthmcp.grants import make_client, make_member


@pytest.fixture
def app_address() -> Iterator[str]:
    """An app on this computer, which waits for its answer on a port of its own."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            further = parse_qs(urlsplit(self.path).query).get("further")
            self.send_response(302 if further else 200)
            if further:
                self.send_header("Location", further[0])
            self.end_headers()
            self.wfile.write(b"<title>The app</title>")

        def log_message(self, format: str, *args: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/callback"
        server.shutdown()


def sign_in(visit: Visit, email: str = "ada@example.com") -> None:
    visit.send(login=email, password=PASSWORD)


@pytest.mark.spec("RFC 6749 §4.1")
@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_the_answer_reaches_an_app_on_this_computer(visit: Visit, app_address: str, decision: str) -> None:
    make_member(Organization.objects.get(slug="acme"))
    client = make_client(redirect_uris="http://127.0.0.1/callback")
    visit.open(f"{PATH}?{urlencode(wanted(client, redirect_uri=app_address))}")
    sign_in(visit)
    assert visit.was_quiet()
    visit.follow(f"[value={decision}]")
    assert visit.page.title() == "The app"
    assert visit.page.url.startswith(f"{app_address}?{'code' if decision == 'allow' else 'error'}=")
    assert visit.page.evaluate("document.referrer") == ""


@pytest.mark.parametrize("further", ["https://app.example.com/thanks", "claude://connected"])
def test_the_app_may_send_people_on(visit: Visit, app_address: str, further: str) -> None:
    # Chromium holds every redirect that follows a form against the policy of the form's page.
    make_member(Organization.objects.get(slug="acme"))
    uri = f"{app_address}?{urlencode({'further': further})}"
    visit.open(f"{PATH}?{urlencode(wanted(make_client(redirect_uris=uri), redirect_uri=uri))}")
    sign_in(visit)
    with visit.page.expect_event("requestfailed") as failed:  # nobody answers there
        visit.page.click("[value=allow]")
    assert failed.value.failure in ("net::ERR_CONNECTION_REFUSED", "net::ERR_ABORTED", "net::ERR_UNKNOWN_URL_SCHEME")
    assert not [text for text in visit.complaints if "Content Security Policy" in text]


@pytest.mark.spec("RFC 8252 §7.1")
def test_the_answer_may_lead_to_an_apps_own_scheme(visit: Visit) -> None:
    make_member(Organization.objects.get(slug="acme"))
    uri = "cursor://anysphere.cursor-retrieval/callback"
    visit.open(f"{PATH}?{urlencode(wanted(make_client(redirect_uris=uri), redirect_uri=uri))}")
    sign_in(visit)
    with visit.page.expect_event("requestfailed") as failed:  # nobody here opens such addresses
        visit.page.click("[value=allow]")
    assert failed.value.url.startswith((uri, visit.origin + PATH))
    assert not [text for text in visit.complaints if "Content Security Policy" in text]


def test_the_page_keeps_what_was_chosen(visit: Visit) -> None:
    page = visit.page
    for number in range(3):
        make_member(Organization.objects.create(slug=f"org-{number}", name=f"Organization {number}"))
    person("eve@example.com")
    visit.open(f"{PATH}?{urlencode(wanted(make_client()))}")
    sign_in(visit)
    page.check("text=Organization 1")
    for box in page.locator("[name=scope]").all():
        box.uncheck()
    visit.follow("[value=allow]")
    assert page.is_checked("text=Organization 1")
    visit.follow("[value=switch]")
    sign_in(visit, "eve@example.com")
    assert page.locator("[value=allow]").count() == 0
    # Chromium writes that the page about something missing is a 400.
    assert [text for text in visit.complaints if "400 (Bad Request)" not in text] == []
    assert visit.asked_elsewhere == []
