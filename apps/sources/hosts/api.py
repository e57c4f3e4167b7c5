"""Asks a git host's API, and says in words for operators why there is no answer. Nothing received is in them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import urljoin, urlsplit

from django.conf import settings

from apps.net.http import Client, HttpError, Response
from apps.sources.hosts import answers
from apps.sources.hosts.host import BadRequest, Forbidden, HostError, NotThere, Unauthorized, Unprocessable

SECONDS = 10  # of one call
MAX_BYTES = 2 * 2**20
CALLS_PER_MINUTE = 120  # of one object, which asks a handful at a time
MAX_HOPS = 3
REDIRECTS = (301, 302, 307, 308)
# Where a redirect may lead to: what needs no quoting, so that it is asked for as it was told.
PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")

Path = str | Sequence[str]
Query = Mapping[str, str | int]
NO_QUERY: Query = {}


@dataclass(frozen=True, slots=True)
class Answer:
    value: Any = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)


class Api:
    """The API of the host that is called `name`, at `url`. Every method raises HostError.

    `given` says in words what the credentials are; `what`, what was asked for. GitHost has looked at the
    address, and Credentials at what headers are made of: no error comes from here, where those can be seen.
    """

    def __init__(self, name: str, url: str, headers: Mapping[str, str], *, given: str = "token") -> None:
        self.name, self._given = name, given
        self._place = urlsplit(url)
        self._client = Client(
            url,
            headers=headers,
            calls_per_minute=CALLS_PER_MINUTE,
            allowed_networks=settings.SOURCE_NETWORKS,
            allows_private=False,
            proxy=settings.SOURCE_PROXY,
            timeout=SECONDS,
            max_bytes=MAX_BYTES,
        )

    def __repr__(self) -> str:
        return f"<Api of {self.name}>"

    def get(self, what: str, path: Path, query: Query = NO_QUERY) -> Answer:
        return self._answer(what, self._get(path, query))

    def post(self, what: str, path: str, body: object) -> Answer:
        try:
            response = self._client.post_json(path, body)
        except HttpError as error:
            problem = unreachable(self.name, error)
        else:
            return self._answer(what, response)
        raise problem

    def find(self, what: str, path: Path) -> Any:
        """What is there, or where that redirects to on the same host; None where there is nothing."""
        response = self._get(path, {})
        for _ in range(MAX_HOPS):
            if response.status not in REDIRECTS:
                break
            response = self._get(self._redirected(response), {})
        try:
            return self._answer(what, response).value
        except NotThere:
            return None

    def names(self, rows: Any, key: str) -> tuple[tuple[str, ...], bool]:
        """Of a list of repositories, one longer than is shown: the first few, and whether there are more."""
        found = answers.repositories(rows, key)
        if found is None:
            raise self.not_understood("the repositories")
        return found[: answers.SHOWN], len(rows) > answers.SHOWN

    def not_understood(self, what: str) -> HostError:
        return HostError(f"{self.name} told {what} in a form that is not known here.")

    def _get(self, path: Path, query: Query) -> Response:
        try:
            return self._client.get(path, query)
        except HttpError as error:
            problem = unreachable(self.name, error)
        raise problem

    def _redirected(self, response: Response) -> str:
        """The path below the API's address. Raises HostError where it leads anywhere else: the token stays here."""
        try:
            target = urlsplit(urljoin(self._place.geturl(), response.headers.get("location", "")))
            is_here = (target.scheme, target.netloc) == (self._place.scheme, self._place.netloc)
        except ValueError:
            is_here = False
        base = self._place.path.rstrip("/")
        if not is_here or not target.path.startswith(f"{base}/") or not PATH.fullmatch(target.path):
            self._refuse_redirect()
        return target.path.removeprefix(base)

    def _answer(self, what: str, response: Response) -> Answer:
        if response.status not in (200, 201):
            self._refuse(what, response)
        try:
            return Answer(response.json(), response.headers)
        except HttpError:
            pass
        raise HostError(
            f"{self.name}'s answer for {what} is not JSON. Is the address that of {self.name} itself, not of a page "
            "before it?"
        )

    def _refuse(self, what: str, response: Response) -> NoReturn:
        status, name = response.status, self.name
        is_limit = "retry-after" in response.headers or response.headers.get("x-ratelimit-remaining") == "0"
        if status == 429 or (status == 403 and is_limit):
            raise HostError(f"{name} was asked too often (status {status}). Try again in a while.")
        match status:
            case 401:
                raise Unauthorized(f"{name} answered 401: the {self._given} is not valid or has expired.")
            case 403:
                sentence = f"{name} answered 403: the {self._given} lacks the permission to read {what}."
                raise Forbidden(sentence, response.headers.get("x-oauth-scopes"))
            case 404 | 410:
                sentence = f"{name} answered {status} where {what} should be."
                raise NotThere(f"{sentence} Is the address that of {name} itself?")
            case 400:
                raise BadRequest(f"{name} would not tell {what} (status 400).")
            case 422:
                raise Unprocessable(f"{name} would not tell {what} (status 422).")
            case _ if 300 <= status < 400:
                self._refuse_redirect()
            case _:
                raise HostError(f"{name} could not tell {what} (status {status}).")

    def _refuse_redirect(self) -> NoReturn:
        raise HostError(
            f"The address of {self.name} sends callers elsewhere, which is not followed. Give the one where it answers."
        )


def unreachable(name: str, error: HttpError) -> HostError:
    return HostError(f"{name} cannot be asked. {error}")
