"""Somebody who uses everything: what they send at each surface, and what is answered there when the database fails."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.config.server import LOCAL, TOOL, Answer, Server, run

PUBLIC_URL = "http://localhost:8000"  # what tokens are for, whatever the port
CSRF = "c" * 32
FORM = "application/x-www-form-urlencoded"
CLIENT = {"redirect_uris": ["http://127.0.0.1:8123/callback"]}
PREPARE = """
import json
import django
django.setup()
from django.conf import settings
from django.contrib.staticfiles import finders
from apps.orgs.models import Organization, User
from tests.oauthmcp.grants import *
from tests.operators import client_of
member = make_member(Organization.objects.get(slug="acme"))
User.objects.filter(pk=member.user_id).update(is_staff=True, is_superuser=True)
member.user.refresh_from_db()
client = make_client()
tokens = [make_access_token(make_authorization(make_client(), member)) for _ in range(8)]
paths = {path: path for finder in finders.get_finders() for path, _ in finder.list([])}
(settings.STATIC_ROOT / "staticfiles.json").write_text(json.dumps({"version": "1.1", "paths": paths}))
session = client_of(member.user).cookies[settings.SESSION_COOKIE_NAME]
print(json.dumps({
    "tokens": tokens, "code": make_code(client, member), "client_id": client.client_id,
    "cookie": f"{settings.SESSION_COOKIE_NAME}={session.value}; csrftoken=" + "c" * 32,
}))
"""


@dataclass
class Person:
    """A member of acme and an operator, signed in; with eight tokens that were never used, and a code."""

    tokens: list[str]
    code: str
    client_id: str
    cookie: str

    def requests(self) -> dict[str, dict[str, Any]]:
        """By surface, for Server.call: what reads, and what writes."""
        return self.reads() | self.writes()

    def reads(self) -> dict[str, dict[str, Any]]:
        challenge = {"code_challenge": "x" * 43, "code_challenge_method": "S256"}
        authorize = {"response_type": "code", "client_id": self.client_id, "state": "s"} | challenge
        page = {"method": "GET", "body": b"", "token": None, "cookie": self.cookie}
        ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
        return {
            "tool": {"target": TOOL},
            "mcp": {"target": "/mcp", "body": ping, "accept": "application/json, text/event-stream"},
            "account": page | {"target": "/account/"},
            "invitation": page | {"target": "/account/invitations/" + "x" * 43 + "/"},
            "admin": page | {"target": "/admin/"},
            "consent": page | {"target": f"/api/auth/mcp/authorize?{urlencode(authorize)}"},
        }

    def writes(self) -> dict[str, dict[str, Any]]:
        post = {"method": "POST", "token": None, "content_type": FORM}
        redeem = {"grant_type": "authorization_code", "client_id": self.client_id, "code": self.code}
        redeem |= {"code_verifier": "a-code-verifier-of-at-least-43-characters-as-RFC-7636-wants"}
        redeem |= {"redirect_uri": CLIENT["redirect_uris"][0]}
        sign_in = {"login": "ada@example.com", "password": "wrong", "csrfmiddlewaretoken": CSRF}
        return {
            "token": post | {"target": "/api/auth/mcp/token", "body": urlencode(redeem).encode()},
            "registration": post
            | {"target": "/api/auth/mcp/register", "body": json.dumps(CLIENT).encode()}
            | {"content_type": "application/json"},
            "sign in": post
            | {"target": "/account/login/", "body": urlencode(sign_in).encode(), "cookie": f"csrftoken={CSRF}"},
        }


def prepare(data: Path) -> Person:
    """In the database of this DATA_DIR, which has acme."""
    status, said = run(
        "-W", "ignore", "-c", PREPARE,
        env=LOCAL | {"PUBLIC_URL": PUBLIC_URL, "DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "config.settings"},
    )  # fmt: skip
    assert status == 0, said
    return Person(**json.loads(said.splitlines()[-1]))


def ask(server: Server, request: dict[str, Any]) -> Answer:
    return server.call(**request)


def is_unavailable(surface: str, answer: Answer) -> bool:
    """503, in the surface's own words, and with a time to come back."""
    if answer.status != 503 or int(answer.headers["retry-after"]) <= 0:
        return False
    match surface:
        case "tool":
            return bool(json.loads(answer.body)["code"] == "unavailable")
        case "mcp":
            return bool(json.loads(answer.body)["error"]["data"]["code"] == "unavailable")
        case "token" | "registration":
            return bool(json.loads(answer.body)["error"] == "temporarily_unavailable")
    return (
        answer.headers["content-type"].startswith("text/html")
        and answer.headers["x-request-id"].encode() in answer.body
    )
