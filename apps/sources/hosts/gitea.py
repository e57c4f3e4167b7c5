"""Gitea and Forgejo: access tokens, also with a user name."""

from typing import Any

from apps.sources.hosts import answers
from apps.sources.hosts.api import Api
from apps.sources.hosts.host import Account, Forbidden, GitHost, HostError, basic

NAME = "Gitea"
USERNAME = "x-access-token"  # git's: where a token is the password, any will do


class Gitea(GitHost):
    kinds = ("access_token", "basic")

    def account(self) -> Account:
        """A token that only reads repositories may not ask whose it is: login is None then.

        What a token may do and when it expires is told nowhere: `permissions` of repositories are those of the user.
        """
        if self.credentials is None:
            raise HostError("There are no credentials to ask Gitea with.")
        api = self._api()
        try:
            login = answers.login(api.get("the account", "user").value, "login")
            rows: Any = api.get("repositories", "user/repos", {"limit": answers.PAGE}).value
        except Forbidden:
            login, rows = None, _searched(api)
        names, has_more = api.names(rows, "full_name")
        return Account(login, names, has_more, None, None)

    def _name_now(self, repository: str) -> str | None:
        found = self._api().find("the repository", ["repos", *repository.split("/")])
        return answers.repository(found, "full_name")

    def authorization(self) -> str | None:
        given = self.credentials
        if given is None:
            return None
        return basic(given.username or "" if given.kind == "basic" else USERNAME, given.secret)

    def _api(self) -> Api:
        """With Basic here too: a password is no token, and a token is taken as a password."""
        authorization = self.authorization()
        return Api(NAME, f"{self.base_url}/api/v1", {"Authorization": authorization} if authorization else {})


def _searched(api: Api) -> Any:
    """The private repositories among all that the token can read: public ones anybody can."""
    told = api.get("repositories", "repos/search", {"limit": answers.PAGE, "is_private": "true", "sort": "alpha"}).value
    return told.get("data") if isinstance(told, dict) else None
