"""Bitbucket Cloud: access tokens of workspaces, projects and repositories, and API tokens of people.

Bitbucket Data Center has another API, other addresses and other tokens. It is refused here; type git reads from it.
"""

import re
from typing import Any

from apps.sources.hosts import answers
from apps.sources.hosts.api import Api, Query
from apps.sources.hosts.credentials import Credentials
from apps.sources.hosts.host import Account, Forbidden, GitHost, HostError, NotThere, Unauthorized, basic, bearer

NAME = "Bitbucket"
SITE, API = "https://bitbucket.org", "https://api.bitbucket.org/2.0"
OF_ACCESS_TOKENS, OF_API_TOKENS = "x-token-auth", "x-bitbucket-api-token-auth"  # git's user names
WANTS_EMAIL = (
    "Bitbucket answered 401: the user name or token is not valid or has expired. With an API token, the user name is "
    "the e-mail address of its Atlassian account."
)
MAX_WORKSPACES = 5  # that are asked for repositories
# API tokens have read:repository:bitbucket, access tokens have repository.
READING = re.compile(r"read:.*|account|email|project|repository|pullrequest|issue|snippet|team|pipeline|runner|test")
WRITING = re.compile(r"(?:write|admin|delete):.*|.*:(?:write|admin|delete)|wiki|webhook|pipeline:variable")


class Bitbucket(GitHost):
    kinds = ("access_token", "basic")

    def __init__(self, base_url: str, credentials: Credentials | None) -> None:
        super().__init__(base_url, credentials)
        if self.base_url != SITE:
            raise HostError(
                "Bitbucket Data Center cannot be read as Bitbucket, only bitbucket.org can. Choose the type git for it."
            )

    def account(self) -> Account:
        """Access tokens may neither ask whose they are nor for a list: all that shows is that they are good.

        So it is with API tokens that only read repositories.
        """
        if self.credentials is None:
            raise HostError("There are no credentials to ask Bitbucket with.")
        api = self._api()
        try:
            user = api.get("the account", "user")
        except Forbidden as refusal:
            return Account(None, (), False, _writes(refusal.scopes), None)
        except Unauthorized:
            if self._is_email or self.credentials.kind != "basic":
                raise
            raise Unauthorized(WANTS_EMAIL) from None
        names, has_more = _repositories(api)
        login = answers.login(user.value, "username", "nickname", "display_name")
        return Account(login, names, has_more, _writes(user.headers.get("x-oauth-scopes")), None)

    def _name_now(self, repository: str) -> str | None:
        found = self._api().find("the repository", ["repositories", *repository.split("/")])
        return answers.repository(found, "full_name")

    def authorization(self) -> str | None:
        given = self.credentials
        if given is None:
            return None
        if given.kind == "access_token":
            return basic(OF_ACCESS_TOKENS, given.secret)
        # The API knows API tokens by the account's e-mail address, git by its user name, or by this one for all.
        return basic(OF_API_TOKENS if self._is_email else given.username or "", given.secret)

    @property
    def _is_email(self) -> bool:
        return self.credentials is not None and "@" in (self.credentials.username or "")

    def _api(self) -> Api:
        given = self.credentials
        if given is None:
            return Api(NAME, API, {})
        is_token = given.kind == "access_token"
        return Api(
            NAME,
            API,
            {"Authorization": bearer(given.secret) if is_token else basic(given.username or "", given.secret)},
            given="token" if is_token else "user name or token",
        )


def _repositories(api: Api) -> tuple[tuple[str, ...], bool]:
    """Workspace by workspace: there is no list of all any more. Of tokens that may not ask for workspaces, none."""
    rows: list[Any] = []
    try:
        workspaces = _values(api, api.get("workspaces", "user/workspaces", {"pagelen": MAX_WORKSPACES + 1}).value)
    except (Forbidden, NotThere):
        return (), False
    slugs = [slug for row in workspaces if (slug := _slug(row)) is not None]
    for slug in slugs[:MAX_WORKSPACES]:
        query: Query = {"role": "member", "pagelen": answers.PAGE, "fields": "values.full_name"}
        rows += _values(api, api.get("repositories", ["repositories", slug], query).value)
        if len(rows) > answers.SHOWN:
            break
    names, has_more = api.names(rows, "full_name")
    return names, has_more or len(slugs) > MAX_WORKSPACES


def _values(api: Api, told: Any) -> list[Any]:
    values = told.get("values") if isinstance(told, dict) else None
    if not isinstance(values, list):
        raise api.not_understood("a list")
    return values


def _slug(row: Any) -> str | None:
    found = answers.text(row.get("workspace") if isinstance(row, dict) else None, "slug")
    return found if found and "/" not in found and answers.is_repository(f"{found}/x") else None


def _writes(scopes: str | None) -> bool | None:
    return answers.writes(answers.words(scopes), READING, WRITING)
