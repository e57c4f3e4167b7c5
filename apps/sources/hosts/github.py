"""GitHub, github.com and GitHub Enterprise Server: personal access tokens, and GitHub Apps."""

import re
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from apps.sources.hosts import answers, github_app
from apps.sources.hosts.api import Api, Query
from apps.sources.hosts.credentials import Credentials
from apps.sources.hosts.github_app import NAME
from apps.sources.hosts.host import Account, GitHost, HostError, Unauthorized, basic, bearer

T = TypeVar("T")

SITE, API = "https://github.com", "https://api.github.com"
USERNAME = "x-access-token"  # git's, for every kind of token
# Scopes of classic tokens. There is none that only reads private repositories.
READING = re.compile(r"read:.*|user:email")
WRITING = re.compile(r"(?!read:|user:email$).*")
CLASSIC = "ghp_"  # tokens that have scopes, or none of them; others have permissions, which are told nowhere


class GitHub(GitHost):
    kinds = ("access_token", "github_app")

    def account(self) -> Account:
        if self.credentials is None:
            raise HostError("There are no credentials to ask GitHub with.")
        of_kind = self._account_of_app if self.credentials.kind == "github_app" else self._account_of_user
        return of_kind(self.credentials)

    def _name_now(self, repository: str) -> str | None:
        found = self._ask(lambda api: api.find("the repository", ["repos", *repository.split("/")]))
        return answers.repository(found, "full_name")

    def authorization(self) -> str | None:
        return None if self.credentials is None else basic(USERNAME, self._token(self.credentials))

    def forget(self) -> None:
        if self.credentials is not None and self.credentials.kind == "github_app":
            github_app.forget(self.base_url, self.credentials)

    @property
    def _api_url(self) -> str:
        if self.base_url == SITE:
            return API
        host = urlsplit(self.base_url).netloc
        # GitHub Enterprise Cloud with data residency has the API beside it, GitHub Enterprise Server below it.
        return f"https://api.{host}" if host.endswith(".ghe.com") else f"{self.base_url}/api/v3"

    def _account_of_user(self, credentials: Credentials) -> Account:
        api = self._api()
        user = api.get("the account", "user")
        login = answers.login(user.value, "login")
        if login is None:
            raise api.not_understood("the account")
        query: Query = {"per_page": answers.PAGE, "sort": "full_name"}
        names, has_more = api.names(api.get("repositories", "user/repos", query).value, "full_name")
        scopes = user.headers.get("x-oauth-scopes") or ("" if credentials.secret.startswith(CLASSIC) else None)
        return Account(
            login,
            names,
            has_more,
            answers.writes(answers.words(scopes), READING, WRITING),
            answers.time(user.headers.get("github-authentication-token-expiration")),
        )

    def _account_of_app(self, credentials: Credentials) -> Account:
        """The app's key does not expire. It could mint tokens that do all that the installation permits."""
        login, can_write = github_app.installation(self._api_url, credentials)
        names, has_more = self._ask(_repositories_of_installation)
        return Account(login, names, has_more, can_write, None)

    def _ask(self, ask: Callable[[Api], T]) -> T:
        """Once more with a new token, where the one that was minted before is refused."""
        try:
            return ask(self._api())
        except Unauthorized:
            if self.credentials is None or self.credentials.kind != "github_app":
                raise
        self.forget()
        return ask(self._api())

    def _api(self) -> Api:
        given = self.credentials
        return Api(NAME, self._api_url, {} if given is None else {"Authorization": bearer(self._token(given))})

    def _token(self, credentials: Credentials) -> str:
        if credentials.kind == "github_app":
            return github_app.installation_token(self.base_url, self._api_url, credentials)
        return credentials.secret


def _repositories_of_installation(api: Api) -> tuple[tuple[str, ...], bool]:
    told: Any = api.get("repositories", "installation/repositories", {"per_page": answers.PAGE}).value
    return api.names(told.get("repositories") if isinstance(told, dict) else None, "full_name")
