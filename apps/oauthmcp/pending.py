"""Authorization requests that wait for the user's consent: kept in the session, named by a handle."""

import secrets
from typing import Any

from django.contrib.sessions.backends.base import SessionBase
from django.utils import timezone

from apps.net.encryption import DecryptionError, decrypt, encrypt
from apps.oauthmcp.models import CODE_LIFETIME
from apps.oauthmcp.parameters import Parameters

KEY = "oauth_requests"
PURPOSE = "answer to an authorization request"
MAX_NUMBER = 5  # in one session: as many tabs can wait for a decision
LIFETIME = 15 * 60  # seconds


class PendingRequests:
    """The requests of one session, oldest first. A session goes with its user, so nobody else has these handles."""

    def __init__(self, session: SessionBase) -> None:
        self.session = session
        now = timezone.now().timestamp()
        stored: dict[str, dict[str, Any]] = session.get(KEY, {})
        self.entries = {handle: entry for handle, entry in stored.items() if entry["until"] > now}

    def add(self, parameters: Parameters) -> str:
        """A handle for them: the same one for a page that is loaded again, so that it pushes no other tab out."""
        params = [list(pair) for pair in parameters]
        waiting = (
            handle for handle, entry in self.entries.items() if entry["parameters"] == params and "answer" not in entry
        )
        handle = next(waiting, None) or secrets.token_urlsafe(24)
        self.entries.pop(handle, None)
        self.entries[handle] = {"parameters": params, "until": timezone.now().timestamp() + LIFETIME}
        self._save()
        return handle

    def parameters(self, handle: str) -> Parameters | None:
        entry = self.entries.get(handle)
        return [(name, value) for name, value in entry["parameters"]] if entry else None

    def record_decision(self, handle: str, decision: str, location: str) -> None:
        """Remembers where the decision led. Encrypted: a code is never stored so that it could be read."""
        answer = [decision, timezone.now().timestamp(), encrypt(location, PURPOSE)]
        self.entries[handle]["answer"] = answer
        self._save()

    def is_decided(self, handle: str) -> bool:
        return "answer" in self.entries[handle]

    def location_of(self, handle: str, decision: str) -> str | None:
        """Where this decision led, for a form that is sent twice while the code in it is valid; else None."""
        given, at, encrypted = self.entries[handle]["answer"]
        if given != decision or timezone.now().timestamp() - at > CODE_LIFETIME.total_seconds():
            return None
        try:
            return decrypt(encrypted, PURPOSE)
        except DecryptionError:  # SECRET_KEY is another one since
            return None

    def _save(self) -> None:
        self.session[KEY] = dict(list(self.entries.items())[-MAX_NUMBER:])
