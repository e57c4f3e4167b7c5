"""Calls of Dokploy's API, and what its refusals mean, in sentences for operators."""

from collections.abc import Mapping
from typing import Any

from apps.net.http import Client, HttpError, Response
from apps.platforms.connector import UpstreamError
from apps.platforms.dokploy.fields import Row

BAD_KEY = (
    "Dokploy refused the key: it is wrong, expired or disabled, or it has used up the calls that it may make in a day "
    "(a key made through Dokploy's API may make five, unless its rate limit is switched off)."
)
RATE_LIMITED = (
    "Dokploy accepted the key at first and then refused it: that is how it says that a key has used up its calls. "
    "Keys made through its API may make five a day: make one with the rate limit switched off."
)
RATE_LIMIT_PAUSE = 3600.0
REASONS = {
    "timeout": "Dokploy did not answer in time.",
    "refused": "Nothing accepts connections at Dokploy's address.",
    "unresolved": "The host name of Dokploy's address has no address.",
    "not_allowed": "Dokploy's address is one that may not be reached from here.",
    "tls": "Dokploy's certificate is not valid, or what answers there does not speak TLS.",
    "too_large": "Dokploy's answer is too large to be read.",
    "not_json": "Dokploy's answer broke off, or is not JSON: is this Dokploy's address?",
    "failed": "The connection to Dokploy broke.",
}


class Refused(Exception):
    """Dokploy does not tell this: it is unknown, and not empty. A status of 404: it may not even have it."""

    def __init__(self, status: int) -> None:
        super().__init__(f"Refused with {status}.")
        self.status = status


class Api:
    """GETs alone. Every method raises UpstreamError, and Refused for what this key may not see."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._was_accepted = False

    @property
    def calls(self) -> int:
        return self._client.calls

    def begin(self) -> None:
        """A reading: what a refusal of the key means depends on whether it was accepted before, in the same one."""
        self._was_accepted = False

    def value(self, procedure: str, query: Mapping[str, str | int] = {}) -> Any:
        response = self._response(procedure, query)
        if response.status != 200:
            raise self._refusal(response)
        value = _json(response)
        self._was_accepted = True
        return value

    def rows(self, procedure: str, query: Mapping[str, str | int] = {}) -> list[Row]:
        value = self.value(procedure, query)
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            raise not_understood(procedure)
        return value

    def row(self, procedure: str, query: Mapping[str, str | int] = {}) -> Row:
        value = self.value(procedure, query)
        if not isinstance(value, dict):
            raise not_understood(procedure)
        return value

    def _response(self, procedure: str, query: Mapping[str, str | int]) -> Response:
        try:
            return self._client.get(f"/api/{procedure}", query)
        except HttpError as error:
            sentence = REASONS[error.reason]
        raise UpstreamError(sentence)

    def _refusal(self, response: Response) -> Exception:
        status = response.status
        match status:
            case 401 if not _has_code(response):
                if self._was_accepted:
                    return UpstreamError(RATE_LIMITED, retry_after=RATE_LIMIT_PAUSE)
                return UpstreamError(BAD_KEY, is_permanent=True)
            case 400 | 401 | 403 | 404:
                return Refused(status)
            case 429:
                return UpstreamError("Dokploy asks for fewer calls.", retry_after=_retry_after(response))
        if 300 <= status < 400:
            return UpstreamError("Dokploy's address leads to another one: use that one, perhaps with https.")
        return UpstreamError(f"Dokploy answered with an error of its own ({status}).")


def not_understood(procedure: str) -> UpstreamError:
    return UpstreamError(f"Dokploy's answer to {procedure} has a form that is not known here.")


def _json(response: Response) -> Any:
    try:
        return response.json()
    except HttpError as error:
        sentence = REASONS[error.reason]
    raise UpstreamError(sentence)


def _has_code(response: Response) -> bool:
    """Whether a procedure refused this; who refuses the key does it without a code."""
    try:
        body = response.json()
    except HttpError:
        return False
    return isinstance(body, dict) and body.get("code") == "UNAUTHORIZED"


def _retry_after(response: Response) -> float:
    seconds = response.headers.get("retry-after", "")
    return float(seconds) if seconds.isascii() and seconds.isdigit() and len(seconds) < 6 else 60.0
