"""Programs that post to the token and revocation endpoints. Every answer is checked for what all of them promise."""

import base64
import json
from typing import Any
from urllib.parse import quote_plus, urlencode

from django.test import Client

from apps.oauthmcp.models import Application
from tests.oauthmcp.grants import VERIFIER

FORM = "application/x-www-form-urlencoded"


def basic(client_id: str, secret: str) -> dict[str, str]:
    """The header of RFC 6749 §2.3.1."""
    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def send(path: str, body: Any, content_type: str = FORM, headers: dict[str, str] | None = None, **more: Any) -> Any:
    """A body as it is, or a dict to be encoded as the type says."""
    if isinstance(body, dict):
        body = json.dumps(body) if content_type == "application/json" else urlencode(body)
    answer = Client(headers={"host": "localhost"}, raise_request_exception=True).post(
        f"/api/auth/mcp/{path}", body, content_type=content_type, headers=headers or {}, **more
    )
    return checked(answer)


def checked(answer: Any) -> Any:
    assert answer["Cache-Control"] == "no-store"  # RFC 6749 §5.1
    assert answer["Pragma"] == "no-cache"
    assert answer["Content-Type"] == "application/json"
    if answer.status_code >= 400:
        assert set(answer.json()) == {"error", "error_description"}
        assert answer.json()["error_description"].isascii()
    return answer


def ask(path: str = "token", headers: dict[str, str] | None = None, **fields: str | None) -> Any:
    """Fields that are None are left out."""
    return send(path, {name: value for name, value in fields.items() if value is not None}, headers=headers)


def redeem(client: Application, code: str, headers: dict[str, str] | None = None, **fields: str | None) -> Any:
    given = {"grant_type": "authorization_code", "client_id": client.client_id, "code_verifier": VERIFIER}
    return ask(headers=headers, **{**given, "code": code, **fields})


def refresh(client: Application, token: str, headers: dict[str, str] | None = None, **fields: str | None) -> Any:
    given = {"grant_type": "refresh_token", "client_id": client.client_id, "refresh_token": token}
    return ask(headers=headers, **{**given, **fields})


def revoke(client: Application, token: str, headers: dict[str, str] | None = None, **fields: str | None) -> Any:
    return ask("revoke", headers, **{"client_id": client.client_id, "token": token, **fields})


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]
