"""GitLab, gitlab.com and one's own: access tokens of people, groups and projects, and deploy tokens."""

import re
from datetime import datetime
from typing import Any

from apps.sources.hosts import answers
from apps.sources.hosts.api import Api, Query
from apps.sources.hosts.host import (
    UNTOLD,
    Account,
    BadRequest,
    Forbidden,
    GitHost,
    HostError,
    NotThere,
    basic,
    bearer,
)

NAME = "GitLab"
USERNAME = "oauth2"  # git's, for access tokens: GitLab wants one, and looks at none
READING = re.compile(r"read_.*|openid|profile|email|self_rotate")
WRITING = re.compile(r"api|sudo|admin_mode|write_.*|create_runner|manage_runner|k8s_proxy")

FETCHING = {"read_repository", "write_repository", "api"}
KNOWN = FETCHING | {"read_api", "read_user", "read_registry", "write_registry", "openid", "profile", "email"}
OWN_PROJECTS: Query = {
    "membership": "true",
    "simple": "true",
    "order_by": "path",
    "sort": "asc",
    "per_page": answers.PAGE,
}


class GitLab(GitHost):
    kinds = ("access_token", "deploy_token", "basic")

    def account(self) -> Account:
        """Asks with access tokens, also where they came with a user name.

        A token that only reads repositories is good, but may not ask whose it is, nor for a list: login is None then.
        """
        if self.credentials is None:
            raise HostError("There are no credentials to ask GitLab with.")
        if self.credentials.kind == "deploy_token":
            return UNTOLD  # it is for git (and registries) alone: every call of the API would refuse it
        api = self._api()
        scopes, expires_at = _token_itself(api)
        if scopes is not None and KNOWN.issuperset(scopes) and not FETCHING & set(scopes):
            raise HostError("The token lacks the scope read_repository, without which git cannot fetch.")
        login, names, has_more = None, tuple[str, ...](), False
        try:
            login = answers.login(api.get("the account", "user").value, "username")
            names, has_more = api.names(api.get("repositories", "projects", OWN_PROJECTS).value, "path_with_namespace")
        except Forbidden:
            if scopes is None:
                raise
        return Account(login, names, has_more, answers.writes(scopes, READING, WRITING), expires_at)

    def _name_now(self, repository: str) -> str | None:
        """GitLab 16.4 redirects from a former path; those before answer 404, as if there were nothing."""
        try:
            found = self._api().find("the repository", ["projects", repository])
        except Forbidden:  # the token is for git alone
            return None
        return answers.repository(found, "path_with_namespace")

    def authorization(self) -> str | None:
        given = self.credentials
        if given is None:
            return None
        return basic(USERNAME if given.kind == "access_token" else given.username or "", given.secret)

    def _api(self) -> Api:
        """A deploy token stays at home: what is public anybody may ask, and the rest it may not."""
        given, url = self.credentials, f"{self.base_url}/api/v4"
        if given is None or given.kind == "deploy_token":
            return Api(NAME, url, {})
        return Api(NAME, url, {"Authorization": bearer(given.secret)})


def _token_itself(api: Api) -> tuple[list[str] | None, datetime | None]:
    """Its scopes, and when it expires. Every access token may ask that of itself; others are refused."""
    try:
        told: Any = api.get("the token", "personal_access_tokens/self").value
    except (NotThere, Forbidden, BadRequest):
        return None, None
    row = told if isinstance(told, dict) else {}
    return answers.words(row.get("scopes")), answers.time(answers.text(row, "expires_at"))
