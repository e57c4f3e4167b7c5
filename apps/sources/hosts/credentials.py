"""What an operator gives, so that private repositories can be read."""

import re
from dataclasses import dataclass, field

MAX_SECRET = 16_384  # characters: a private key of 8192 bits has 6,400
# What a header can hold, and a value of git's configuration: no white space, nothing that would begin another line.
VISIBLE = re.compile(r"[\x21-\x7e]+")
UNSEEN = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What an operator gave. `secret` is a token, or a GitHub App's private key (PEM)."""

    kind: str  # "access_token" | "basic" (username and token) | "deploy_token" | "github_app"
    secret: str = field(repr=False)
    username: str | None = None  # of basic and deploy_token
    app_id: str | None = None  # GitHub App: app id or client id
    installation_id: str | None = None

    def problem(self) -> str | None:
        """Why these cannot be sent, in a sentence that repeats nothing of them; None where they can."""
        if not self.secret or len(self.secret) > MAX_SECRET:
            return "The token is empty or too long."
        if self.kind == "github_app":
            return self._problem_of_app()
        if not VISIBLE.fullmatch(self.secret):
            return "The token must be one line of visible characters, without spaces."
        if self.kind in ("basic", "deploy_token"):
            return self._problem_of_username()
        return None

    def _problem_of_app(self) -> str | None:
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", self.app_id or ""):
            return "The app's id must be its number or its client id."
        if not re.fullmatch(r"[0-9]{1,20}", self.installation_id or ""):
            return "The installation's id must be a number: it is at the end of the installation's address on GitHub."
        return None

    def _problem_of_username(self) -> str | None:
        username = self.username or ""
        # RFC 7617 §2: the first colon ends the user name.
        if not username or len(username) > 255 or ":" in username or UNSEEN.search(username):
            return "The user name must be one line without a colon."
        return None
