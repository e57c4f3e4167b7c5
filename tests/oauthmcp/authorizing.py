"""Authorization requests for tests: what an app opens in a browser, and what comes back to it."""

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.test import Client

from apps.oauthmcp.models import Application
from tests.accounts.visitors import Fields, visitor
from tests.oauthmcp.grants import CHALLENGE, REDIRECT_URI

PATH = "/api/auth/mcp/authorize"
STATE = 'a state/with "every" kind+of&sign=é%20'


def wanted(client: Application | str, **changes: str | None) -> dict[str, str]:
    """The parameters of a request that is in order, with changes; None leaves one out."""
    fields = {
        "response_type": "code",
        "client_id": client if isinstance(client, str) else client.client_id,
        "redirect_uri": REDIRECT_URI,
        "state": STATE,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "resource": "http://localhost:8000/mcp",
        **changes,
    }
    return {name: value for name, value in fields.items() if value is not None}


def ask(browser: Client | None, client: Application | str, **changes: str | None) -> Any:
    return (browser or visitor()).get(f"{PATH}?{urlencode(wanted(client, **changes))}")


def handle_of(page: Any) -> str:
    return Fields(page.content.decode()).names["handle"]


def decide(browser: Client, page: Any, decision: str = "allow", **changes: Any) -> Any:
    """Sends the page's form as it stands: everything ticked, the one organization; with changes, None leaves out."""
    form = {
        "handle": handle_of(page),
        "organization": Fields(page.content.decode()).names.get("organization"),
        "scope": [scope for scope, _title, _sentence, is_ticked in page.context["scopes"] if is_ticked],
        "decision": decision,
        **changes,
    }
    return browser.post(PATH, {name: value for name, value in form.items() if value is not None})


def sent_to(answer: Any) -> str:
    """Where an app is sent back to, without the query."""
    assert answer.status_code == 303, answer.content
    return str(answer["Location"]).partition("?")[0]


def came_back(answer: Any) -> dict[str, str]:
    """What an app reads from the address that somebody is sent back to. Nothing in it comes twice."""
    assert answer.status_code == 303, answer.content
    pairs = parse_qsl(urlsplit(answer["Location"]).query, keep_blank_values=True, strict_parsing=True)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)
