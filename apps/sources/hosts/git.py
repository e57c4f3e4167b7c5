"""Any other server of git repositories: it has no API that is known here."""

from apps.sources.hosts.host import UNTOLD, Account, GitHost, basic, bearer


class Git(GitHost):
    kinds = ("access_token", "basic")

    def account(self) -> Account:
        """Tells nothing, since there is nothing to ask: whether the credentials are good shows when git fetches."""
        return UNTOLD

    def authorization(self) -> str | None:
        given = self.credentials
        if given is None:
            return None
        return basic(given.username or "", given.secret) if given.kind == "basic" else bearer(given.secret)
