"""Asks Coolify, and says in words for operators why there is no answer. Nothing that was received is in them."""

from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

from apps.net.http import Client, HttpError, Response
from apps.platforms.connector import UpstreamError
from apps.platforms.coolify.fields import Row, rows_of

# Those that only a token has that may read secrets. Whether there is a value in them does not matter.
VALUES = ("value", "real_value")
TOO_STRONG = (
    "The token may read secret values (it has the ability read:sensitive or root). Porthole wants none: make a token "
    "with the ability read alone, under Keys & Tokens, API tokens, connect with that one and revoke this one."
)
MAKE_ANOTHER = "Make another with the ability read, under Keys & Tokens, API tokens."
# What Coolify says, and what that means. Its own words go no further than here.
REASONS = {
    "API is disabled.": "Coolify's API is switched off. An administrator switches it on under Settings, Advanced.",
    "You are not allowed to access the API.": (
        "Coolify takes no calls from this machine's address. An administrator adds it to the allowed addresses under "
        "Settings, Advanced."
    ),
    "Invalid token.": f"Coolify refused the token: its user is no longer in the token's team. {MAKE_ANOTHER}",
}
DEFAULT_WAIT = 60.0


class Refused(UpstreamError):
    """This one thing is not for this token (403), not there (404) or too large: unknown. Others can still be read."""


class Getting(Protocol):
    """What of the HTTP client is used."""

    @property
    def calls(self) -> int: ...

    def get(self, path: str, query: Mapping[str, str | int] = {}) -> Response: ...

    def post_json(self, path: str, body: object) -> Response: ...


class Api:
    """Coolify's API with one token. `what` says in words what was asked for. Every method raises UpstreamError.

    `left_out`: how many entries were none that can be kept.
    """

    def __init__(self, client: Client | Getting) -> None:
        self._client = client
        self.left_out = 0

    @property
    def calls(self) -> int:
        return self._client.calls

    def text(self, what: str, path: str) -> str:
        return self._get(what, path, {}).body[:1000].decode(errors="replace").strip().strip('"')

    def row(self, what: str, path: str) -> Row:
        value = _json(what, self._get(what, path, {}))
        if not isinstance(value, dict):
            raise not_understood(what)
        return value

    def rows(self, what: str, path: str) -> list[Row]:
        return self.entries(what, _json(what, self._get(what, path, {})))

    def page(self, what: str, path: str, *, skip: int, take: int) -> list[Row]:
        """Of a history: {count, deployments}."""
        value = _json(what, self._get(what, path, {"skip": skip, "take": take}))
        return self.entries(what, value.get("deployments") if isinstance(value, dict) else value)

    def entries(self, what: str, value: Any) -> list[Row]:
        entries = rows_of(value)
        if entries is None:
            raise not_understood(what)
        rows: list[Row] = [entry for entry in entries if isinstance(entry, dict)]
        self.left_out += len(entries) - len(rows)
        return rows

    def call_mcp_tool(self, what: str, name: str, arguments: Mapping[str, str | int]) -> Response:
        """The one thing that is no GET. The tool is one that only reads."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        try:
            response = self._client.post_json("mcp", call)
        except HttpError as error:
            problem = unreachable(error)
        else:
            return _accepted(what, response)
        raise problem

    def _get(self, what: str, path: str, query: Mapping[str, str | int]) -> Response:
        try:
            response = self._client.get(f"api/v1/{path}", query)
        except HttpError as error:
            problem = unreachable(error)
        else:
            return _accepted(what, response)
        raise problem


def not_understood(what: str) -> UpstreamError:
    return UpstreamError(f"Coolify told the {what} in a form that is not known here. Nothing was changed.")


def refuse_values(rows: list[Row], fields: tuple[str, ...] = VALUES) -> None:
    """Raises UpstreamError where the token turns out to be one that reads secrets."""
    if any(field in row for row in rows for field in fields):
        raise UpstreamError(TOO_STRONG, is_permanent=True)


def unreachable(error: HttpError) -> UpstreamError:
    if error.reason == "too_large":
        return Refused("An answer of Coolify is too large to be read.")
    return UpstreamError(f"Coolify cannot be read. {error}", is_permanent=error.reason == "not_allowed")


def _json(what: str, response: Response) -> Any:
    try:
        return response.json()
    except HttpError:
        pass
    raise UpstreamError(
        f"Coolify's answer for the {what} is not JSON. Is the address that of Coolify itself, not of a page before it?"
    )


def _accepted(what: str, response: Response) -> Response:
    return response if response.status == 200 else _refuse(what, response)


def _refuse(what: str, response: Response) -> NoReturn:
    status, error = response.status, _error(response)
    known = REASONS.get(error["message"]) if isinstance(error.get("message"), str) else None
    if known and status in (400, 401, 403):
        raise UpstreamError(known, is_permanent=True)
    match status:
        case 400:
            raise UpstreamError(f"Coolify would not tell the {what} (status 400).")
        case 401:
            sentence = "Coolify refused the token: it is wrong, was revoked, or has expired (after 30 days by default)."
            raise UpstreamError(f"{sentence} {MAKE_ANOTHER}", is_permanent=True)
        case 403:
            raise Refused(f"The token may not read the {what}. {MAKE_ANOTHER}", is_permanent=True)
        case 404 if "docs" in error:
            raise Refused(f"This Coolify has no list of the {what}: it may be too old.")
        case 404:
            raise Refused(f"Coolify did not find the {what}.")
        case 422:
            raise UpstreamError(f"Coolify did not accept how it was asked for the {what} (status 422).")
        case 429:
            sentence = "Coolify was asked too often: its limit counts all calls of the token's user."
            raise UpstreamError(sentence, retry_after=_wait(response))
        case _ if 300 <= status < 400:
            sentence = "That address sends callers elsewhere, which is not followed. Give the one where Coolify answers"
            raise UpstreamError(f"{sentence}, with https:// where it has that.")
        case _:
            raise UpstreamError(f"Coolify could not tell the {what} (status {status}).")


def _error(response: Response) -> Row:
    try:
        error = response.json()
    except HttpError:
        return {}
    return error if isinstance(error, dict) else {}


def _wait(response: Response) -> float:
    told = response.headers.get("retry-after", "")
    return float(told) if told.isascii() and told.isdigit() and len(told) < 6 else DEFAULT_WAIT
