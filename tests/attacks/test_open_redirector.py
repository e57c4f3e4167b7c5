"""Anybody registers a website; our host must not send people there unasked."""

import html
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.attacks.visiting import Browser, attacked
from tests.oauthmcp.authorizing import PATH, wanted

EVIL = "https://evil.example/phish"
LOOPBACK = "http://127.0.0.1:8123/callback"
BAD_REQUESTS: list[dict[str, str | None]] = [
    {"resource": "https://other.example"},
    {"prompt": "none"},
    {"scope": "openid"},
    {"response_type": "token"},
    {"code_challenge": None},
]


@pytest.mark.spec("RFC 9700 §4.11.2")
def test_no_request_leads_to_a_website_without_a_click(databases: Path, tmp_path: Path) -> None:
    with attacked(databases, tmp_path) as server:
        somebody, ada = Browser(server, "192.0.2.1"), Browser(server, "192.0.2.2")
        assert ada.sign_in().status_code == 302
        registered = somebody.post("/api/auth/mcp/register", json={"redirect_uris": [EVIL, LOOPBACK]}).json()
        for visitor in (somebody, ada):
            for changes in BAD_REQUESTS:
                changed = {"resource": f"{server}/mcp"} | changes
                query = wanted(registered["client_id"], redirect_uri=EVIL, **changed)
                answer = visitor.get(PATH, params=query, allow_redirects=False)
                assert (answer.status_code, answer.headers.get("Location")) == (400, None), changes
                assert "refresh" not in {name.lower() for name in answer.headers}
                assert "http-equiv" not in answer.text
                link = next(at for at in re.findall(r'href="([^"]+)"', answer.text) if at.startswith(EVIL))
                told = parse_qs(urlsplit(html.unescape(link)).query)
                assert (told["state"], told["iss"]) == ([query["state"]], [server])
                assert told["error"][0] in answer.text
                on_device = visitor.get(PATH, params=query | {"redirect_uri": LOOPBACK}, allow_redirects=False)
                assert on_device.status_code == 303
                assert on_device.headers["Location"].startswith(f"{LOOPBACK}?")
